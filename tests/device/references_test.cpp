// References that are cheaper than the definition of their problem give what the definition gives, from
// wherever they begin: on long tails, on one huge value among small ones, and on values that are missing or
// infinite.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "stages/convolution/problem.hpp"
#include "stages/moving_average/problem.hpp"
#include "stages/rolling/problem.hpp"
#include "stages/udf/problem.hpp"
#include "tests/catch.hpp"

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct named_values {
  const char* name;
  std::vector<double> values;
};

// Whole numbers below 2^32, as a streamed sum takes them.
std::vector<named_values> whole_numbers() {
  const std::size_t n = 97;
  std::vector<named_values> all{{"a tail of zeros", std::vector<double>(n, 0.0)},
                                {"one huge value", std::vector<double>(n, 1.0)},
                                {"huge values that cancel", std::vector<double>(n, 3.0)},
                                {"equal values", std::vector<double>(n, -7.0)},
                                {"one after another", {}}};
  all[0].values[0] = 1;
  all[1].values[40] = 4294967295.0;
  all[2].values[50] = 4294967295.0;
  all[2].values[51] = -4294967295.0;
  for (std::size_t k = 0; k < n; ++k) all[4].values.push_back(static_cast<double>(k * k % 31) - 15);
  return all;
}

// What is never added up may be anything.
std::vector<named_values> any_numbers() {
  auto all = whole_numbers();
  const std::size_t n = all[0].values.size();
  for (const double odd : {nan, inf, -inf, 1e300, 5e-324}) {
    all.push_back({"odd values among others", std::vector<double>(n, 1.5)});
    for (const std::size_t at : {0, 33, 34, 70, 96}) all.back().values[at] = odd;
  }
  all.push_back({"nothing but NaN", std::vector<double>(n, nan)});
  return all;
}

bool is_same(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
// Each divides or takes a root of an exact sum in another order of operations.
bool is_near(long double a, long double b) {
  return is_same(a, b) || std::abs(a - b) <= 8 * std::numeric_limits<long double>::epsilon() * std::abs(b);
}

// stream(first, count, visit) for all outputs in pieces of several lengths.
template <class Stream, class Check>
void in_pieces(std::int64_t n, const Stream& stream, const Check& check) {
  for (const std::int64_t piece : {n, n / 3 + 1, std::int64_t{7}, std::int64_t{1}}) {
    std::int64_t seen = 0;
    for (std::int64_t first = 0; first < n; first += piece) {
      stream(first, std::min(piece, n - first), [&](std::int64_t i, const auto& found) {
        CHECK(i == seen);
        ++seen;
        if (!check(i, found)) FAIL("output " << i << " of pieces of " << piece);
      });
    }
    CHECK(seen == n);
  }
}

}  // namespace

TEST_CASE("streamed window functions are the definition") {
  using problem = lab::rolling::problem;
  using lab::rolling::operation;
  for (const operation which : {operation::mean, operation::sum, operation::min, operation::max,
                                operation::var, operation::std, operation::first_minus_last}) {
    const bool adds = which == operation::mean || which == operation::sum || which == operation::var ||
                      which == operation::std;
    for (const named_values& input : adds ? whole_numbers() : any_numbers()) {
      const auto n = static_cast<std::int64_t>(input.values.size());
      for (const std::int64_t window : {1L, 2L, 5L, 33L, 96L, 97L, 98L}) {
        for (const std::int64_t periods : {std::int64_t{0}, std::int64_t{1}, window / 2 + 1}) {
          for (const std::int64_t missing : {0, 1}) {
            const problem::parameters p{.n = n,
                                        .window = window,
                                        .min_periods = periods,
                                        .operation = static_cast<std::int64_t>(which),
                                        .missing = missing};
            INFO(input.name << ", operation " << p.operation << ", window " << window << ", at least "
                            << periods << ", missing " << missing);
            const auto value = [&](std::int64_t k) { return input.values[static_cast<std::size_t>(k)]; };
            in_pieces(
                n,
                [&](std::int64_t first, std::int64_t count, const auto& visit) {
                  problem::stream(value, p, first, count, visit);
                },
                [&](std::int64_t i, const lab::expectation& found) {
                  const lab::expectation right = problem::reference(value, p, i);
                  const bool is_root = which == operation::var || which == operation::std;
                  // The definition of a variance adds squares that are doubles; its scale is a double.
                  if (is_root && right.scale > 0) {
                    return std::abs(found.value - right.value) <= 1e-15L * right.scale &&
                           std::abs(found.scale - right.scale) <= 1e-15L * right.scale;
                  }
                  return is_near(found.value, right.value) && is_near(found.scale, right.scale);
                });
          }
        }
      }
    }
  }
}

TEST_CASE("streamed sums of moving averages are the definition") {
  using problem = lab::moving_average::problem;
  for (const named_values& input : whole_numbers()) {
    const auto n = static_cast<std::int64_t>(input.values.size());
    for (const std::int64_t window : {1L, 2L, 33L, 96L, 97L, 98L}) {
      INFO(input.name << ", window " << window);
      const problem::parameters p{.n = n, .window = window};
      const auto value = [&](std::int64_t k) { return input.values[static_cast<std::size_t>(k)]; };
      in_pieces(
          n,
          [&](std::int64_t first, std::int64_t count, const auto& visit) {
            problem::exact_outputs(value, p, first, count, visit);
          },
          [&](std::int64_t i, double found) {
            const long double right = problem::reference(value, p, i).value;
            return is_near(found, i < window - 1 ? right : right * static_cast<long double>(window));
          });
    }
  }
}

TEST_CASE(
    "a convolution row by row is the definition, at every edge and for images smaller than the filter") {
  using problem = lab::convolution::problem;
  const lab::generated_values<float> image{lab::pattern::small_integers, 1};
  const lab::generated_values<float> filter{lab::pattern::small_integers, 2};
  for (const std::int64_t edge : {0, 1, 2}) {
    for (const std::int64_t kind : {0, 1}) {
      for (const auto& [rows, columns, radius] :
           {std::array{5L, 7L, 2L}, {1L, 33L, 4L}, {33L, 1L, 4L}, {2L, 3L, 16L}, {9L, 16L, 1L}}) {
        const problem::parameters p{
            .rows = rows, .columns = columns, .radius = radius, .edge = edge, .filter = kind};
        INFO(rows << " x " << columns << ", radius " << radius << ", edge " << edge << ", filter " << kind);
        in_pieces(
            rows * columns,
            [&](std::int64_t first, std::int64_t count, const auto& visit) {
              problem::exact_outputs(image, filter, p, first, count, visit);
            },
            [&](std::int64_t i, double found) {
              return found == problem::reference(image, filter, p, i).value;
            });
      }
    }
  }
}

TEST_CASE("streamed results of user-defined functions are the definition") {
  using problem = lab::udf::problem;
  for (const named_values& input : whole_numbers()) {
    const auto n = static_cast<std::int64_t>(input.values.size());
    for (const std::int64_t which : {0, 1, 2, 3, 4, 5}) {
      for (const std::int64_t window : {1L, 5L, 97L, 98L}) {
        for (const std::int64_t result : {0, 1, 2}) {
          const problem::parameters p{.n = n,
                                      .type = 0,
                                      .result = result,
                                      .window = window,
                                      .min_periods = window / 2 + 1,
                                      .function = which};
          INFO(input.name << ", function " << which << ", window " << window << ", result " << result);
          const auto check = [&](const auto& value) {
            in_pieces(
                n,
                [&](std::int64_t first, std::int64_t count, const auto& visit) {
                  problem::exact_outputs(value, p, first, count, visit);
                },
                [&](std::int64_t i, long double found) {
                  return is_same(found, problem::reference(value, p, i).value);
                });
          };
          check([&](std::int64_t k) {
            return static_cast<std::int64_t>(input.values[static_cast<std::size_t>(k)]);
          });
        }
      }
    }
  }
}
