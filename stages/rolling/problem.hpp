// Window functions of n float64 values, in pandas' words: output i reduces inputs i - window + 1 .. i.
//
// Windows at the beginning of the array hold i + 1 values. One with fewer than `min-periods` is incomplete,
// and its output +Inf (pandas: NaN). NaN poisons the windows that hold it, or is skipped: it then counts as
// absent. Inf is IEEE 754's (pandas takes it for NaN). var and std are those of a sample: NaN for a single
// value.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/windows/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/compensated_sum.hpp"
#include "stages/rolling/user_operation.hpp"
#include "stages/rolling/window_expression.hpp"

namespace lab::rolling {

using windows::incomplete;

enum class operation : std::int64_t { mean, sum, min, max, var, std, first_minus_last, user };
inline constexpr std::size_t operations = 8;
enum class missing : std::int64_t { propagate, skip };

// n values in device memory.
struct input {
  const double* values;
  std::int64_t n;
  std::int64_t window;       // at most n + 1, which no window completes
  std::int64_t min_periods;  // at least 1
  rolling::operation operation;
  rolling::missing missing;
  // Of `apply`, instead of the operation `user`.
  std::shared_ptr<const window_expression> expression;
};

// n results in device memory.
struct output {
  double* results;
};

struct problem : array_problem<double, double> {
  using input = rolling::input;
  using output = rolling::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t window = 1;
    std::int64_t min_periods = 0;  // 0: the window
    std::int64_t operation = 0;
    std::int64_t missing = 0;
    std::shared_ptr<const window_expression> expression = {};
  };

  static constexpr const char* title = "Rolling window functions, float64";
  static constexpr const char* unit = "window";

  static std::vector<parameter<parameters>> describe();

  // Every value is read once and every result written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}}, .output = {"results", {p.n}}, .terms = std::min(p.window, p.n)};
  }
  static input bind_input(const parameters& p, const double* values) {
    return {values,
            p.n,
            std::min(p.window, p.n + 1),
            std::min(min_periods(p), p.n + 1),
            static_cast<rolling::operation>(p.operation),
            static_cast<rolling::missing>(p.missing),
            p.expression};
  }

  static std::int64_t min_periods(const parameters& p) {
    return p.min_periods == 0 ? p.window : p.min_periods;
  }

  // The definition; a variance in long double and in two passes. `value(j)` is input j.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    const std::int64_t first = std::max<std::int64_t>(0, i - p.window + 1);
    const auto counts = [&](double x) {
      return static_cast<rolling::missing>(p.missing) == missing::propagate || !std::isnan(x);
    };
    const auto each = [&](const auto& visit) {
      for (std::int64_t j = first; j <= i; ++j) {
        if (const double x = value(j); counts(x)) visit(x);
      }
    };
    std::int64_t count = 0;
    bool poisoned = false;
    each([&](double x) {
      ++count;
      poisoned = poisoned || std::isnan(x);
    });
    if (count < min_periods(p)) return {.value = incomplete, .scale = 0};
    // Some processors take 50 times as long for a long double that is NaN.
    if (poisoned && keeps_nan(p)) return {.value = NAN};
    switch (static_cast<rolling::operation>(p.operation)) {
      case operation::mean:
      case operation::sum:
        return of_sum(
            sums_of([&](std::int64_t j) { return counts(value(j)) ? value(j) : 0; }, first, i - first + 1),
            static_cast<rolling::operation>(p.operation) == operation::mean ? count : 1);
      case operation::min:
        return of_extremum(each, windows::extremum::min());
      case operation::max:
        return of_extremum(each, windows::extremum::max());
      case operation::var:
      case operation::std:
        return of_variance(each, count, p);
      case operation::first_minus_last:
        return of_ends(each);
      case operation::user:
        return of_user(each, count);
    }
    return {};
  }

  // Whether one NaN makes NaN of every window that holds it.
  static bool keeps_nan(const parameters& p) {
    const auto which = static_cast<rolling::operation>(p.operation);
    return which != operation::first_minus_last && which != operation::user;
  }

  // Of a window of few values the deviations may be those from one of them. If that one is far from all
  // others, each addition of w equal squares may be rounded in the same direction.
  static double roundings_of_variance(double window) {
    constexpr double few = 32;
    return window > few ? window + 4 : std::max(window + 4, window * window / 4);
  }

  // Relative to the scale that the reference names; 0 asks for equality.
  static double relative_error(const parameters& p) {
    constexpr double u = 0x1p-53;
    switch (static_cast<rolling::operation>(p.operation)) {
      case operation::mean:
      case operation::sum:
        return std::min(4 * u * static_cast<double>(p.window + 1), 1e-12);
      case operation::var:
      case operation::std:
        return std::min(8 * u * roundings_of_variance(static_cast<double>(p.window)), 1e-12);
      case operation::user:
        return user_operation::rounds ? user_operation::relative_error : 0;
      default:
        return 0;
    }
  }

  // Whether stages may keep running sums.
  static bool may_drift(const parameters& p) {
    const auto which = static_cast<rolling::operation>(p.operation);
    return which == operation::mean || which == operation::sum || which == operation::var ||
           which == operation::std;
  }

  // Whether whole numbers as inputs have exact results: sums, extremes and differences, and a mean, its sum
  // divided by the window. var and std are compared one by one.
  static bool is_exact(const parameters& p) {
    switch (static_cast<rolling::operation>(p.operation)) {
      case operation::var:
      case operation::std:
        return false;
      case operation::user:
        return !user_operation::rounds;
      case operation::mean:
        return min_periods(p) >= p.window;  // the means of fewer values are no multiples of 1 / window
      default:
        return true;
    }
  }
  // Whether stream() takes constant time for an output.
  static bool streams(const parameters& p) {
    const auto which = static_cast<rolling::operation>(p.operation);
    if (which == operation::user) return false;
    return which != operation::first_minus_last ||
           static_cast<rolling::missing>(p.missing) == missing::propagate;
  }
  static constexpr auto reference_hooks = reference_hook::stream | reference_hook::exact_outputs;
  // Calls visit(i, expectation of output i) for first <= i < first + count. Where sums are asked for, inputs
  // are whole numbers.
  template <class Value, class Visit>
  static void stream(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                     const Visit& visit);
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    parameters scaled = p;  // a mean times the window is a sum
    if (static_cast<rolling::operation>(p.operation) == operation::mean)
      scaled.operation = static_cast<std::int64_t>(operation::sum);
    stream(value, scaled, first, count, [&](std::int64_t i, const expectation& expected) {
      visit(i, static_cast<double>(expected.value));
    });
  }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
  // What a stage that cannot run a case's operation is tried on instead, best first.
  static std::vector<parameters> alternatives(const parameters& p, pattern input);

 private:
  template <class Value, class Visit>
  static void stream_extremes(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                              const Visit& visit);
  template <class Value, class Visit>
  static void stream_sums(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                          const Visit& visit);

  static expectation of_sum(const two_sums& all, std::int64_t divisor) {
    const auto by = static_cast<long double>(divisor);
    return {.value = all.values / by, .scale = all.magnitudes / by};
  }

  template <class Each>
  static expectation of_extremum(const Each& each, const windows::extremum& op) {
    double largest = op.identity();
    each([&](double x) { largest = op.combine(largest, op.lift(x)); });
    return {.value = op.finish(largest, 1)};
  }

  template <class Each>
  static expectation of_variance(const Each& each, std::int64_t count, const parameters& p) {
    if (count < 2) return {.value = NAN};
    long double sum = 0;
    long double squares = 0;
    each([&](double x) {
      sum += x;
      squares += static_cast<long double>(x) * x;
    });
    const long double mean = sum / static_cast<long double>(count);
    long double apart = 0;
    // A square below the range of a double is 0.
    each([&](double x) { apart += static_cast<double>((x - mean) * (x - mean)); });
    return variance(apart / static_cast<long double>(count - 1), squares / static_cast<long double>(count),
                    p);
  }

  // The condition of a variance: what rounding the values' mean does to it. A double will do for the scale.
  // The root is within e = relative_error * rms, and so the variance within 2 e root + e^2: in a window of
  // equal values two passes leave the square of the mean's rounding.
  template <class Real>
  static expectation variance(Real var, Real mean_square, const parameters& p) {
    const double rms = std::sqrt(static_cast<double>(mean_square));
    if (static_cast<rolling::operation>(p.operation) == operation::std)
      return {.value = std::sqrt(var), .scale = rms};
    return {.value = var, .scale = (2 * std::sqrt(static_cast<double>(var)) + relative_error(p) * rms) * rms};
  }

  static double to_double(__int128 whole) {
    const auto low = static_cast<std::int64_t>(whole);
    if (low == whole) return static_cast<double>(low);
    return static_cast<double>(static_cast<std::int64_t>(whole >> 64)) * 0x1p64 +
           static_cast<double>(static_cast<std::uint64_t>(whole));
  }

  template <class Each>
  static expectation of_ends(const Each& each) {
    windows::first_minus_last::state all = windows::first_minus_last::identity();
    each(
        [&](double x) { all = windows::first_minus_last::combine(all, windows::first_minus_last::lift(x)); });
    return {.value = windows::first_minus_last::finish(all, 1)};
  }

  template <class Value>
  static expectation reference_of_ends(const Value& value, const parameters& p, std::int64_t i) {
    if (!streams(p)) return reference(value, p, i);
    const std::int64_t oldest = std::max<std::int64_t>(0, i - p.window + 1);
    if (i - oldest + 1 < min_periods(p)) return {.value = incomplete};
    return {.value = value(oldest) - value(i)};
  }

  template <class Each>
  static expectation of_user(const Each& each, std::int64_t count) {
    const user_operation op{};
    user_operation::state all = op.identity();
    each([&](double x) { all = op.combine(all, op.lift(x)); });
    const double result = op.finish(all, count);
    return {.value = result, .scale = user_operation::rounds ? std::abs(result) : 0};
  }
};

// Exact for whole numbers below 2^32 and windows below 2^31, but for three roundings of a variance.
template <class Value, class Visit>
void problem::stream(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                     const Visit& visit) {
  switch (static_cast<rolling::operation>(p.operation)) {
    case operation::first_minus_last:
    case operation::user:
      for (std::int64_t i = first; i < first + count; ++i) visit(i, reference_of_ends(value, p, i));
      return;
    case operation::min:
    case operation::max:
      return stream_extremes(value, p, first, count, visit);
    default:
      return stream_sums(value, p, first, count, visit);
  }
}

// Suffixes and prefixes of segments as long as the window.
template <class Value, class Visit>
void problem::stream_extremes(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                              const Visit& visit) {
  const bool skips = static_cast<rolling::missing>(p.missing) == missing::skip;
  const auto op = static_cast<rolling::operation>(p.operation) == operation::min ? windows::extremum::min()
                                                                                 : windows::extremum::max();
  const std::int64_t begin = std::max<std::int64_t>(0, first - p.window + 1);
  const std::int64_t held = first + count - begin;
  const std::int64_t segment = std::min(p.window, held);
  std::vector<double> prefix(static_cast<std::size_t>(std::max<std::int64_t>(0, held)));
  std::vector<double> suffix(prefix.size());
  std::vector<std::int64_t> present(prefix.size() + 1);  // values that count, before each
  for (std::int64_t k = 0; k < held; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double x = value(begin + k);
    const bool counts = !(skips && std::isnan(x));
    present[at + 1] = present[at] + (counts ? 1 : 0);
    suffix[at] = counts ? op.lift(x) : op.identity();
    prefix[at] = k % segment == 0 ? suffix[at] : op.combine(prefix[at - 1], suffix[at]);
  }
  for (std::int64_t k = held - 2; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if ((k + 1) % segment != 0) suffix[at] = op.combine(suffix[at], suffix[at + 1]);
  }
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto newest = static_cast<std::size_t>(i - begin);
    const auto oldest = static_cast<std::size_t>(std::max<std::int64_t>(0, i - p.window + 1) - begin);
    if (present[newest + 1] - present[oldest] < min_periods(p)) {
      visit(i, expectation{.value = incomplete});
      continue;
    }
    // Within a segment the prefix alone is the window, or longer than it at its beginning.
    const bool in_one =
        static_cast<std::int64_t>(oldest) % segment == 0 &&
        static_cast<std::int64_t>(oldest) / segment == static_cast<std::int64_t>(newest) / segment;
    visit(i, expectation{.value = op.finish(
                             in_one ? prefix[newest] : op.combine(suffix[oldest], prefix[newest]), 1)});
  }
}

template <class Value, class Visit>
void problem::stream_sums(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                          const Visit& visit) {
  const auto which = static_cast<rolling::operation>(p.operation);
  const bool skips = static_cast<rolling::missing>(p.missing) == missing::skip;
  std::int64_t present = 0;  // values in the window that count
  std::int64_t divisors_for = -1;
  double one_part = 0;    // 1 / values
  double one_degree = 0;  // 1 / (values (values - 1))
  std::int64_t sum = 0;
  std::int64_t magnitude = 0;
  __int128 squares = 0;
  const auto count_in = [&](std::int64_t j, int direction) {
    const double x = value(j);
    if (skips && std::isnan(x)) return;
    present += direction;
    const auto whole = static_cast<std::int64_t>(x);
    sum += direction * whole;
    magnitude += direction * std::abs(whole);
    squares += direction * (static_cast<__int128>(whole) * whole);
  };
  for (std::int64_t j = std::max<std::int64_t>(0, first - p.window + 1); j < first; ++j) count_in(j, 1);
  for (std::int64_t i = first; i < first + count; ++i) {
    count_in(i, 1);
    if (present != divisors_for) {
      divisors_for = present;
      const auto in_window = static_cast<double>(present);
      one_part = 1 / in_window;
      one_degree = 1 / (in_window * (in_window - 1));
    }
    if (present < min_periods(p)) {
      visit(i, expectation{.value = incomplete});
    } else if (which == operation::mean || which == operation::sum) {
      const long double by = which == operation::mean ? static_cast<long double>(present) : 1;
      visit(i, expectation{.value = static_cast<long double>(sum) / by,
                           .scale = static_cast<long double>(magnitude) / by});
    } else if (present < 2) {
      visit(i, expectation{.value = NAN});
    } else {
      const __int128 apart = present * squares - static_cast<__int128>(sum) * sum;
      visit(i, variance(to_double(apart) * one_degree, to_double(squares) * one_part, p));
    }
    if (i >= p.window - 1) count_in(i - p.window + 1, -1);
  }
}

// What is right for an expression: a thread for each output, and no tile.
plan<problem> plain_expression(const problem::parameters& p, cudaStream_t stream);

}  // namespace lab::rolling
