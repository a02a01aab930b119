// The exponentially weighted moving average of n float64 values, in pandas' words: Series.ewm(...).mean()
// with ignore_na=False.
//
// With d = 1 - alpha, output i is the mean of inputs 0 .. i with weights d^(i-k) (`adjust` true), or
// y[i] = d y[i-1] + alpha x[i] from y[0] = x[0] on (`adjust` false). A value that is missing (NaN, and as in
// pandas Inf) enters nothing, but its position counts: older weights decay by d, and the output is the one
// before. Outputs before the `min-periods`th value are +Inf (pandas: NaN).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/windows/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::ewm {

using windows::incomplete;

// Whether a value counts.
__host__ __device__ inline bool is_present(double value) {
  return value - value == 0;
}

// n values in device memory.
struct input {
  const double* values;
  std::int64_t n;
  double span;
  double alpha;
  double decay;              // 1 - alpha, rounded
  std::int64_t min_periods;  // at least 1
  bool adjust;
};

// n averages in device memory.
struct output {
  double* averages;
};

struct problem {
  using elements = element_types<double, double>;
  using input = ewm::input;
  using output = ewm::output;

  struct parameters {
    std::int64_t n = 0;
    double span = 1;       // 0: not given
    double alpha = 0;      // 0: not given
    double half_life = 0;  // 0: not given
    std::int64_t adjust = 1;
    std::int64_t min_periods = 0;  // 0: the span, rounded up
  };

  static constexpr const char* title = "Exponentially weighted moving average, float64";
  static constexpr const char* unit = "average";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe();
  static std::string why_invalid(const parameters& p);

  // Every value is read once and every average written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}},
            .output = {"averages", {p.n}},
            .terms = std::min(reference_values(p), p.n),
            .fewest_bytes = p.n * static_cast<std::int64_t>(sizeof(double) + sizeof(double))};
  }
  static input bind_input(const parameters& p, const double* values) {
    return {values, p.n, span(p), alpha(p), decay(p), min_periods(p), p.adjust != 0};
  }
  static output bind_output(const parameters& /*p*/, double* averages) { return {averages}; }

  // As pandas rounds it, by way of the centre of mass.
  static double alpha(const parameters& p) {
    const double centre = p.alpha != 0       ? (1 - p.alpha) / p.alpha
                          : p.half_life != 0 ? 1 / (1 - std::exp(-std::log(2.0) / p.half_life)) - 1
                                             : (p.span - 1) / 2;
    return 1 / (1 + centre);
  }
  static double decay(const parameters& p) { return 1 - alpha(p); }
  static double span(const parameters& p) {
    return p.alpha == 0 && p.half_life == 0 ? p.span : 2 / alpha(p) - 1;
  }
  // A span that was made of another parameter is rounded: what is a whole number but for that stays one.
  static std::int64_t min_periods(const parameters& p) {
    if (p.min_periods != 0) return p.min_periods;
    return whole(std::ceil(span(p) * (1 - 1e-12)));
  }

  // The fewest values after which a weight has decayed to 2^-bits; all, where no value has less weight than
  // the next.
  static std::int64_t values_to_decay(double decay, int bits) {
    if (decay >= 1) return whole(std::numeric_limits<double>::infinity());
    return whole(std::ceil(-bits * std::log(2.0) / std::log(decay)));
  }

  // The definition, in long double; adjust=false is the loop of pandas/_libs/window/aggregations.pyx. It
  // begins with `reference_values` present values before the output, or with the first of all.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    expectation last;
    stream(value, p, i, 1, [&](std::int64_t, const expectation& expected) { last = expected; });
    return last;
  }

  // A value of age k has been multiplied k times, and so has its weight: its rounding error is at most
  // 4 (k + 4) u of what it contributes. The scale of an output is the weighted mean of (1 + alpha k) |x|,
  // twice that of |x| where values are of one size, so that this bound holds for every mixture of them: a
  // value of 1e16 decays, and its rounding with it.
  static double relative_error(const parameters& p) {
    constexpr double u = 0x1p-53;
    return std::min(4 * u * (1 / alpha(p) + 4), 1e-12);
  }

  // Of the largest input: what stages that cut a value's weight off promise beside what they declare.
  static constexpr double drift_error = 1e-12;

  // No output is exact, but each can be had from the one before: whole numbers are compared everywhere.
  static constexpr bool is_exact(const parameters& /*p*/) { return false; }
  static constexpr bool streams(const parameters& /*p*/) { return true; }
  // What was added long ago decays with its rounding. Where values are missing, one output alone may take
  // all inputs before it.
  static constexpr bool streams_every_input = true;
  // Calls visit(i, expectation of output i) for first <= i < first + count.
  template <class Value, class Visit>
  static void stream(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                     const Visit& visit);
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    stream(value, p, first, count, [&](std::int64_t i, const expectation& expected) {
      visit(i, static_cast<double>(expected.value));
    });
  }
  static std::vector<exact_case> exact_cases(const parameters& /*p*/, std::int64_t /*tile*/,
                                             std::uint64_t /*seed*/) {
    return {{pattern::integers}};
  }

  static std::vector<verification_case<parameters>> cases(std::int64_t tile, bool thorough,
                                                          std::uint64_t seed);

 private:
  // At least 1, and at most 2^40, which stands for all.
  static std::int64_t whole(double count) {
    return static_cast<std::int64_t>(std::clamp(count, 1.0, 0x1p40));
  }
  // The trials' values are up to 2^601 apart (pattern::wide): the largest one before them is below 2^-75 of
  // the least.
  static std::int64_t reference_values(const parameters& p) { return values_to_decay(decay(p), 601 + 75); }
  // The first value that output i, and all after it, are made from.
  template <class Value>
  static std::int64_t first_value(const Value& value, const parameters& p, std::int64_t i);
};

// The average after each value of a run.
class reference_average {
 public:
  explicit reference_average(const problem::parameters& p)
      : alpha_(problem::alpha(p)),
        decay_(problem::decay(p)),
        adjust_(p.adjust != 0),
        min_periods_(problem::min_periods(p)),
        // Among the denormals each of 1 / alpha roundings costs up to one, whatever the value.
        least_scale_(4 / alpha_ * 0x1p-1074L / problem::relative_error(p)) {}

  void add(double x) {
    ++positions_;
    old_weight_ *= decay_;
    if (!is_present(x)) return;
    if (count_++ == 0) old_weight_ = 0;
    const long double total = adjust_ ? 1 : old_weight_ + (count_ == 1 ? 1 : alpha_);
    // Nearly always 1, and a division takes longer than all the rest.
    const bool divide = total != 1;
    const long double keep = divide ? old_weight_ / total : old_weight_;
    const long double newest = adjust_ || count_ == 1 ? 1 : alpha_;
    const long double enter = divide ? newest / total : newest;
    weight_ = adjust_ ? keep * weight_ + 1 : 1;
    sum_ = keep * sum_ + enter * static_cast<long double>(x);
    aged_ = keep * (aged_ + positions_ * alpha_ * magnitude_);
    magnitude_ = keep * magnitude_ + enter * std::abs(static_cast<long double>(x));
    old_weight_ = 1;
    positions_ = 0;
  }

  [[nodiscard]] expectation average() const {
    if (count_ < min_periods_) return {.value = incomplete, .scale = 0};
    const long double whole = 1 / weight_;
    return {.value = sum_ * whole, .scale = (magnitude_ + aged_) * whole + least_scale_};
  }

 private:
  long double alpha_;
  long double decay_;
  bool adjust_;
  std::int64_t min_periods_;
  long double least_scale_;
  long double old_weight_ = 1;  // of the last value, relative to its weight when it came
  long double positions_ = 0;   // since the last value
  std::int64_t count_ = 0;
  long double sum_ = 0;
  long double weight_ = 0;
  long double magnitude_ = 0;  // the sum of |x|
  long double aged_ = 0;       // the sum of alpha k |x|, k positions ago
};

// What lies before it adds less than 2^-75 of the output's scale: enough values are there, or even the
// largest of all inputs, where it is known, has so little weight. With adjust=false a gap weakens what is
// before it less than the same number of values does, but never less than one value: what is before has at
// most the weight `rest`.
template <class Value>
std::int64_t problem::first_value(const Value& value, const parameters& p, std::int64_t i) {
  const std::int64_t needed = std::max(reference_values(p), min_periods(p));
  double largest = std::numeric_limits<double>::infinity();
  if constexpr (requires { value.largest(p.n); }) largest = value.largest(p.n);
  const double negligible = 0x1p-75 * alpha(p) / largest;
  const double decay = problem::decay(p);
  std::int64_t begin = i;
  double scale = 0;
  double weight = 1;
  double rest = 1;
  for (std::int64_t present = 0; begin > 0 && present < needed; weight *= decay) {
    const double x = value(--begin);
    if (!is_present(x)) continue;
    ++present;
    scale += weight * std::abs(x);
    rest *= decay;
    if (present >= min_periods(p) && rest < scale * negligible) break;
  }
  return begin;
}

template <class Value, class Visit>
void problem::stream(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                     const Visit& visit) {
  reference_average average(p);
  for (std::int64_t i = first_value(value, p, first); i < first + count; ++i) {
    average.add(value(i));
    if (i >= first) visit(i, average.average());
  }
}

}  // namespace lab::ewm
