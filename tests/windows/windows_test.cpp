#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/random.hpp"
#include "tests/catch.hpp"
#include "tests/windows/kernels.hpp"

namespace {

// The window's values combined one after another.
template <class Operation>
std::vector<double> one_after_another(const Operation& operation, const std::vector<double>& values,
                                      std::int64_t window, std::int64_t min_periods) {
  std::vector<double> results;
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    auto all = operation.identity();
    for (std::int64_t j = std::max<std::int64_t>(0, i - window + 1); j <= i; ++j)
      all = operation.combine(all, operation.lift(values[static_cast<std::size_t>(j)]));
    results.push_back(lab::windows::window_result(operation, all, i, window, min_periods));
  }
  return results;
}

template <class Operation>
void require_windows(const Operation& operation, const std::vector<double>& values, std::int64_t window,
                     std::int64_t min_periods) {
  const auto expected = one_after_another(operation, values, window, min_periods);
  const auto require_all = [&](const std::vector<double>& found) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])) ||
                        std::abs(found[i] - expected[i]) <= 1e-12 * (1 + std::abs(expected[i]));
      INFO("window " << window << ", output " << i << ": " << found[i] << " instead of " << expected[i]);
      REQUIRE(same);
    }
  };
  require_all(lab::test::windows_by_two_scans(operation, values, window, min_periods));
  // Of moments without counts the turns make none.
  if constexpr (!std::is_same_v<Operation, lab::windows::moments>) {
    if (window > 13) require_all(lab::test::windows_in_two_turns(operation, values, window, min_periods));
  }
}

std::vector<double> values_of(std::size_t n, bool with_nan) {
  std::vector<double> values(n);
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint64_t bits = lab::random_bits(42, j);
    values[j] = with_nan && bits % 7 == 0 ? NAN : static_cast<double>(bits % 1000) - 500;
  }
  return values;
}

}  // namespace

TEST_CASE("values that are scanned as they enter and as they leave make every window") {
  constexpr std::int64_t tile = 2176;  // 128 threads of 17 values
  for (const std::int64_t window :
       {std::int64_t{1},   std::int64_t{7},   std::int64_t{8},   std::int64_t{16},
        std::int64_t{17},  std::int64_t{18},  std::int64_t{19},  std::int64_t{35},
        std::int64_t{36},  std::int64_t{41},  std::int64_t{255}, std::int64_t{510},
        std::int64_t{511}, std::int64_t{900}, tile - 1,          tile,
        tile + 1,          tile + 300,        2 * tile,          2 * tile + 1,
        2 * tile + 500,    3 * tile + 1,      4 * tile - 3,      4 * tile + 1}) {
    const auto values = values_of(static_cast<std::size_t>(2 * window + 2 * tile + 301), false);
    require_windows(lab::windows::first_minus_last{}, values, window, window);
    require_windows(lab::windows::total::mean(window), values, window, 1);
    require_windows(lab::windows::moments::std(window), values, window, window);
    if (window % 2 == 0) require_windows(lab::windows::moments::var(window), values, window, 1);
    require_windows(lab::windows::skipping<lab::windows::total>{lab::windows::total::sum(window), 2},
                    values_of(values.size(), true), window, 2);
  }
}

TEST_CASE("variances forget what has left their windows") {
  constexpr double huge = 1e16;
  for (const std::int64_t window : {2, 17, 18, 19, 40, 545, 2000, 4100}) {
    std::vector<double> values(static_cast<std::size_t>(3 * window + 4000), 0.1);
    const std::size_t spike = values.size() / 2;
    for (const double what : {huge, 1e170, double{INFINITY}, double{NAN}}) {
      values[spike] = what;
      const auto found =
          lab::test::windows_by_two_scans(lab::windows::moments::var(window), values, window, window);
      for (std::size_t i = static_cast<std::size_t>(window) - 1; i < values.size(); ++i) {
        const bool holds = i >= spike && i < spike + static_cast<std::size_t>(window);
        INFO("window " << window << ", output " << i << ", " << what << " at " << spike << ": " << found[i]);
        if (!holds) REQUIRE(found[i] == 0);
        if (holds && what == huge)
          REQUIRE(std::abs(found[i] * static_cast<double>(window) / huge / huge - 1) <= 1e-12);
        if (holds && what == 1e170) REQUIRE(found[i] == INFINITY);
        if (holds && !std::isfinite(what)) REQUIRE(std::isnan(found[i]));
      }
    }
  }
}

// Runs of NaN as long as windows, and single values between them: then nothing lies between what leaves and
// what enters, and the few values that count may be far apart.
TEST_CASE("variances skip whole stretches, and forget across them") {
  for (const std::int64_t window : {1, 2, 13, 14, 17, 18, 19, 40, 300, 545, 2000, 4100}) {
    auto values = values_of(static_cast<std::size_t>(3 * window + 4000), true);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const std::uint64_t stretch = lab::random_bits(7, j / 41) % 3;
      if (stretch == 0 || (stretch == 1 && lab::random_bits(8, j) % 16 != 0)) values[j] = NAN;
    }
    for (std::size_t j = 500; j + 100 < values.size(); j += 1333) {
      for (std::size_t k = j - 60; k < j + 60; ++k) values[k] = NAN;
      values[j] = j % 2 == 0 ? 1e16 : 1e160;
      values[j + 3] = 0.1;
      values[j + 9] = 0.1;
    }
    for (const std::int64_t min_periods : {std::int64_t{1}, std::int64_t{2}, window}) {
      for (const bool root : {false, true}) {
        const lab::windows::moments one =
            root ? lab::windows::moments::std(window) : lab::windows::moments::var(window);
        const lab::windows::skipping<lab::windows::moments> operation{one, min_periods};
        const auto expected = one_after_another(operation, values, window, min_periods);
        const auto require_all = [&](const std::vector<double>& found) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            // What is spread by rounding where all values are equal or huge: of the values' size, not of
            // theirs.
            const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])) ||
                              std::abs(found[i] - expected[i]) <= 1e-11 * std::abs(expected[i]);
            INFO("window " << window << ", at least " << min_periods << ", output " << i << ": " << found[i]
                           << " instead of " << expected[i]);
            REQUIRE(same);
            REQUIRE((std::isnan(found[i]) || found[i] >= 0));
          }
        };
        require_all(lab::test::windows_by_two_scans(operation, values, window, min_periods));
        if (window > 13) require_all(lab::test::windows_in_two_turns(operation, values, window, min_periods));
      }
    }
  }
}

// What a ring holds before the array and behind it is left from others.
TEST_CASE("what lies beside the array does not change a bit of a window") {
  for (const std::int64_t window : {2, 13, 21, 22, 300, 2700, 8191}) {
    const auto values = values_of(static_cast<std::size_t>(window + 4617), false);
    const auto gaps = values_of(values.size(), true);
    const auto of = [&](double outside) {
      const lab::windows::moments var = lab::windows::moments::var(window);
      const lab::windows::moments std = lab::windows::moments::std(window);
      auto all = lab::test::variances_of_layouts(std, values, window, window, outside);
      for (const auto& more : {lab::test::variances_of_layouts(var, values, window, window, outside),
                               window > 4000 ? all
                                             : lab::test::windows_by_two_scans(
                                                   lab::windows::skipping<lab::windows::moments>{std, 1},
                                                   gaps, window, 1, outside)})
        all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const auto expected = of(NAN);
    for (const double outside : {0.0, 1e300, -1e-310, double{INFINITY}, 3.0}) {
      const auto found = of(outside);
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("window " << window << ", " << outside << " beside the array, output " << i << ": " << found[i]
                       << " instead of " << expected[i]);
        REQUIRE((found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))));
      }
    }
  }
}

// One value far from all others: its distance from any of them has a square that is finite, and 14 times that
// is not.
TEST_CASE("a thread whose values begin with the farthest one overflows no sooner than another") {
  for (const std::int64_t window : {300, 700}) {
    for (const double far : {4.5e153, 2e307}) {
      for (const std::size_t index : {1500, 1507, 1514}) {
        std::vector<double> values(4000, 0);
        values[index] = far;
        const lab::windows::skipping<lab::windows::moments> operation{lab::windows::moments::var(window), 1};
        const auto expected = one_after_another(operation, values, window, 1);
        const auto found = lab::test::windows_by_two_scans(operation, values, window, 1);
        for (std::size_t i = 0; i < values.size(); ++i) {
          INFO("window " << window << ", " << far << " at " << index << ", output " << i << ": " << found[i]);
          const bool both_nan = std::isnan(found[i]) && std::isnan(expected[i]);
          REQUIRE((both_nan || found[i] == expected[i] ||
                   std::abs(found[i] - expected[i]) <= 1e-12 * std::abs(expected[i])));
        }
      }
    }
  }
}

// All bits set stand for a message that has not been written yet.
TEST_CASE("a message may hold any words, also those of a message that is not there") {
  constexpr std::size_t tiles = 150;
  constexpr std::size_t with_rest = 37;
  constexpr std::uint64_t words[] = {~std::uint64_t{0}, 0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0} - 1};
  const auto word = [&](std::uint64_t k) { return words[lab::random_bits(42, k) % std::size(words)]; };
  lab::test::published_states<lab::test::any_words> published;
  for (std::uint64_t t = 0; t < tiles; ++t) {
    published.total.push_back({{word(6 * t), word(6 * t + 1), word(6 * t + 2)}});
    published.rest.push_back({{word(6 * t + 3), word(6 * t + 4), word(6 * t + 5)}});
  }
  published.total[5] = {{words[0], words[0], words[0]}};
  published.rest[with_rest] = {{words[1], words[0], words[2]}};
  const auto found = lab::test::read_messages(published, with_rest);
  for (std::size_t t = 0; t + 1 < tiles; ++t) {
    const auto& expected = t == with_rest ? published.rest[t] : published.total[t];
    for (std::size_t k = 0; k < 3; ++k) {
      INFO("word " << k << " of tile " << t);
      REQUIRE(found[t].word[k] == expected.word[k]);
    }
  }
}

TEST_CASE("a message of one number may be NaN of any bits") {
  constexpr std::size_t tiles = 70;
  constexpr std::size_t with_rest = 7;
  lab::test::published_states<double> published;
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::uint64_t any_nan = ~std::uint64_t{0} << (t % 52);
    published.total.push_back(t % 3 == 0 ? __builtin_bit_cast(double, any_nan) : t % 3 == 1 ? -0.0 : 0.1);
    published.rest.push_back(2.5);
  }
  const auto found = lab::test::read_messages(published, with_rest);
  for (std::size_t t = 0; t + 1 < tiles; ++t) {
    INFO("tile " << t << ": " << found[t]);
    const double expected = t == with_rest ? published.rest[t] : published.total[t];
    const bool same_bits =
        __builtin_bit_cast(std::uint64_t, found[t]) == __builtin_bit_cast(std::uint64_t, expected);
    REQUIRE((same_bits || (std::isnan(found[t]) && std::isnan(expected))));
  }
}

TEST_CASE("variances whose squares are too small for a double are 0, and have roots") {
  for (const std::int64_t window : {2, 11, 17, 300}) {
    std::vector<double> values(4000, 1.57e-162);
    for (std::size_t j = 0; j < values.size(); j += 11) values[j] = 0;
    for (const bool root : {false, true}) {
      const auto one = root ? lab::windows::moments::std(window) : lab::windows::moments::var(window);
      const lab::windows::skipping<lab::windows::moments> skipping{one, window};
      const auto w = static_cast<std::size_t>(window);
      for (const auto& found : {lab::test::variances_of_layouts(one, values, window, window),
                                lab::test::windows_by_two_scans(skipping, values, window, window)}) {
        for (std::size_t i = w - 1; i < values.size(); ++i) {
          INFO("window " << window << ", output " << i << ": " << found[i]);
          REQUIRE((found[i] >= 0 && found[i] < 1e-160 && !std::signbit(found[i])));
        }
      }
    }
  }
}

TEST_CASE("variances beside others too small for a double are no roots") {
  for (const std::int64_t window : {2, 3, 17, 40, 500}) {
    auto values = values_of(static_cast<std::size_t>(3 * window + 4000), false);
    for (std::size_t j = 100; j + 1000 < values.size(); j += 700) {
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(j), window, 0.0);
      values[j + 1] = 1e-170;
    }
    const lab::windows::moments operation = lab::windows::moments::var(window);
    const auto expected = one_after_another(operation, values, window, window);
    const auto found = lab::test::windows_by_two_scans(operation, values, window, window);
    for (std::size_t i = static_cast<std::size_t>(window); i < values.size(); ++i) {
      INFO("window " << window << ", output " << i << ": " << found[i] << " instead of " << expected[i]);
      REQUIRE(std::abs(found[i] - expected[i]) <= 1e-12 * (1e-300 + expected[i]));
      REQUIRE(!std::signbit(found[i]));
    }
  }
}

TEST_CASE("variances are right with few values of a thread and with many") {
  for (const std::int64_t window :
       {2, 15, 21, 22, 23, 43, 200, 1345, 1920, 2688, 2689, 2700, 3841, 5761, 9000, 16384}) {
    const auto values = values_of(static_cast<std::size_t>(window + 2 * 2688 + 777), false);
    const auto operation = lab::windows::moments::std(window);
    const auto found = lab::test::variances_of_layouts(operation, values, window, window);
    // Of whole numbers sums and squares are exact.
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += values[i];
      squares += values[i] * values[i];
      const auto w = static_cast<std::size_t>(window);
      if (i >= w) {
        sum -= values[i - w];
        squares -= values[i - w] * values[i - w];
      }
      if (i + 1 < w) continue;
      const auto count = static_cast<double>(window);
      const double expected = std::sqrt((count * squares - sum * sum) / (count * (count - 1)));
      INFO("window " << window << ", output " << i << ": " << found[i] << " instead of " << expected);
      REQUIRE(std::abs(found[i] - expected) <= 1e-12 * (1 + expected));
    }
  }
}
