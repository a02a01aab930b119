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
#include <optional>
#include <string>
#include <vector>

#include "common/windows/operations.hpp"
#include "harness/device/array_problem.hpp"

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

struct problem : array_problem<double, double> {
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

  static std::vector<parameter<parameters>> describe();

  // Every value is read once and every average written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}},
            .output = {"averages", {p.n}},
            .terms = std::min(std::max(reference_values(p), min_periods(p)), p.n)};
  }
  static input bind_input(const parameters& p, const double* values) {
    return {values, p.n, span(p), alpha(p), decay(p), min_periods(p), p.adjust != 0};
  }

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

  // The definition, in long double, from the first value on; adjust=false is the loop of
  // pandas/_libs/window/aggregations.pyx.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i);
  static constexpr auto reference_hooks = reference_hook::reference_run | reference_hook::first_needed;
  // Of many outputs, in two passes over the values.
  class reference_run;
  // The first value that output i needs: what is older adds less than 2^-75 of the output's scale, however
  // large it is. None, where more than `most` values would have to be looked at.
  template <class Value>
  static std::optional<std::int64_t> first_needed(const Value& value, const parameters& p, std::int64_t i,
                                                  std::int64_t most);

  // A value of age k has been multiplied k times, and so has its weight: its rounding error is at most
  // 4 (k + 4) u of what it contributes. The scale of an output is the weighted mean of (1 + alpha k) |x|,
  // twice that of |x| where values are of one size, so that this bound holds for every mixture of them: a
  // value of 1e16 decays, and its rounding with it. No value is older than n. A quarter of the scale before
  // is added: y + alpha (x - y) rounds at the size of the y before, of which next to nothing may be left.
  static double relative_error(const parameters& p) { return 4 * 0x1p-53 * (most_roundings(p) + 4); }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);

 private:
  // At least 1, and at most 2^40, which stands for all.
  static std::int64_t whole(double count) {
    return static_cast<std::int64_t>(std::clamp(count, 1.0, 0x1p40));
  }
  // How often what counts in an output may have been rounded.
  static double most_roundings(const parameters& p) {
    return std::min(1 / alpha(p), static_cast<double>(std::max<std::int64_t>(p.n, 1)));
  }
  // Within which a weight decays by more than the trials' values are apart (2^601, pattern::wide).
  static std::int64_t reference_values(const parameters& p) { return values_to_decay(decay(p), 601 + 75); }
};

// What is known of neighbouring values: add() has one value more at the end, append() the values of another
// run. The first value that is present is kept apart, since its share depends on what comes before it. Values
// are added up in long double, and magnitudes, which make a bound, in double.
class problem::reference_run {
 public:
  explicit reference_run(const parameters& p)
      : alpha_(problem::alpha(p)),
        decay_(problem::decay(p)),
        adjust_(p.adjust != 0),
        min_periods_(problem::min_periods(p)),
        next_(shares_after(decay_)),
        // Among the denormals each of these roundings costs up to one, whatever the value.
        least_scale_(4 * problem::most_roundings(p) * 0x1p-1074L / problem::relative_error(p)),
        scale_of_lost_weights_(0x1p-1022L / problem::relative_error(p)) {}

  void add(double x) {
    if (!is_present(x)) {
      gap_ *= decay_;
      ++missing_;
      return;
    }
    const double magnitude = std::abs(x);
    largest_ = std::max(largest_, magnitude);
    if (count_ == 0) {
      first_ = x;
      lead_ = gap_ * decay_;
      lead_positions_ = missing_ + 1;
    } else {
      const shares of = missing_ == 0 ? next_ : shares_after(gap_ * decay_);
      remember();
      decays(of, missing_ + 1);
      weight_ += 1;
      sum_ += of.enter * static_cast<long double>(x);
      magnitude_ += of.weigh * magnitude;
    }
    if (missing_ != 0) {
      gap_ = 1;
      missing_ = 0;
    }
    if (++count_ % 64 == 0) drop_denormals();
  }

  void append(const reference_run& later) {
    if (later.count_ == 0) {
      gap_ *= later.gap_;
      missing_ += later.missing_;
      return;
    }
    if (count_ == 0) {
      const long double gap = gap_;
      const std::int64_t missing = missing_;
      *this = later;
      lead_ *= gap;
      lead_positions_ += missing;
      return;
    }
    const shares of = shares_after(gap_ * later.lead_);
    remember();
    decays(of, missing_ + later.lead_positions_);
    if (later.count_ > 1) remember_in(later, of.weigh * std::abs(later.first_));
    decays({later.first_weight_, 0, static_cast<double>(later.first_weight_), 0}, later.first_age_);
    const auto weigh = static_cast<double>(of.weigh * later.first_weight_);
    const double magnitude = weigh * std::abs(later.first_);
    weight_ += later.first_weight_ + later.weight_;
    sum_ += of.enter * later.first_weight_ * later.first_ + later.sum_;
    magnitude_ += magnitude + later.magnitude_;
    aged_ += alpha_ * static_cast<double>(later.first_age_) * magnitude + later.aged_;
    largest_ = std::max(largest_, later.largest_);
    count_ += later.count_;
    gap_ = later.gap_;
    missing_ = later.missing_;
    drop_denormals();
  }

  // The output at the end of a run with which the array begins.
  [[nodiscard]] expectation expected() const {
    if (count_ < min_periods_) return {.value = incomplete, .scale = 0};
    if (adjust_) {
      now_.divide_by(first_weight_ + weight_, alpha_);
      before_.by.divide_by(before_.weight, alpha_);
    }
    const long double of_first = first_weight_ * std::abs(first_) * (1 + alpha_ * first_age_);
    // Quarters, so that none is beyond the range.
    const double before = before_.first * (std::abs(first_) / 4) * before_.by.whole +
                          before_.magnitude / 4 * before_.by.magnitude_whole;
    return {.value = (first_weight_ * first_ + sum_) * now_.whole,
            .scale = of_first * now_.whole +
                     (static_cast<long double>(magnitude_) + aged_) * now_.magnitude_whole + before +
                     least_scale_ + scale_of_lost_weights_ * largest_,
            .largest = largest_};
  }

 private:
  struct shares {
    long double keep;   // of what came before
    long double enter;  // of a value
    double keep_magnitude;
    double weigh;  // of a magnitude: alpha instead of 1, and a part of it, so that none is beyond the range
  };
  static constexpr double scaled_down = 8;

  // What makes shares of a sum of weights. Soon it is always the same, and a division takes longer than all
  // the rest.
  template <class Real>
  struct divisor {
    Real weight = 0;
    Real whole = 1;
    Real magnitude_whole = scaled_down;

    void divide_by(Real all, double alpha) {
      if (all == weight) return;
      weight = all;
      whole = 1 / all;
      magnitude_whole = scaled_down * whole / alpha;
    }
  };

  // Of a value that comes when the weight of the last one has decayed to this.
  [[nodiscard]] shares shares_after(long double old_weight) const {
    if (adjust_) return {old_weight, 1, static_cast<double>(old_weight), alpha_ / scaled_down};
    const long double total = old_weight + alpha_;
    const long double keep = old_weight / total;
    const long double enter = alpha_ / total;
    return {keep, enter, static_cast<double>(keep), static_cast<double>(enter) / scaled_down};
  }

  void decays(const shares& of, std::int64_t positions) {
    aged_ = of.keep_magnitude * (aged_ + static_cast<double>(positions) * alpha_ * magnitude_);
    magnitude_ *= of.keep_magnitude;
    sum_ *= of.keep;
    weight_ *= of.keep;
    first_weight_ *= of.keep;
    first_age_ += positions;
  }

  // What there is before the next value that is present.
  void remember() {
    before_.magnitude = magnitude_ + aged_;
    before_.weight = static_cast<double>(first_weight_ + weight_);
    // Lower ones are in scale_of_lost_weights_, and a denormal takes some processors a hundred times as long.
    before_.first_weight = first_weight_ < 0x1p-1022L ? 0 : static_cast<double>(first_weight_);
    before_.first_age = static_cast<double>(first_age_);
    before_.first = before_.first_weight * (1 + alpha_ * before_.first_age);
  }

  // The same of what is known up to the first value of `later`, whose magnitude enters as `magnitude`, where
  // the last value of `later` comes.
  void remember_in(const reference_run& later, double magnitude) {
    const double keep = later.before_.first_weight;
    const double others = later.before_.weight - keep;
    before_.magnitude =
        keep * aged_ + later.before_.first * (magnitude_ + magnitude) + later.before_.magnitude;
    before_.weight = keep * static_cast<double>(first_weight_ + weight_ + 1) + others;
    before_.first_weight = keep * static_cast<double>(first_weight_);
    before_.first_age = static_cast<double>(first_age_) + later.before_.first_age;
    before_.first = before_.first_weight * (1 + alpha_ * before_.first_age);
  }

  // They take a hundred times as long, and are below what an output holds.
  void drop_denormals() {
    if (first_weight_ < 0x1p-8000L) first_weight_ = 0;
    if (std::abs(sum_) < 0x1p-8000L) sum_ = 0;
    if (magnitude_ < 0x1p-1018) magnitude_ = 0;
    if (aged_ < 0x1p-1018) aged_ = 0;
  }

  double alpha_;
  long double decay_;
  bool adjust_;
  std::int64_t min_periods_;
  shares next_;  // where no value is missing
  long double least_scale_;
  // A weight below 2^-1022 is no float64 of full precision: what it was multiplied with may be lost.
  long double scale_of_lost_weights_;
  std::int64_t count_ = 0;    // of the values that are present
  std::int64_t missing_ = 0;  // behind the last of them
  long double gap_ = 1;       // their decay
  long double lead_ = 1;      // the decay up to the first value, its position included
  std::int64_t lead_positions_ = 0;
  double first_ = 0;              // the first of them, which enters whole
  long double first_weight_ = 1;  // what has become of its weight
  std::int64_t first_age_ = 0;
  // Of all others: x, their weights, |x|, and alpha k |x| where k is the age.
  long double sum_ = 0;
  long double weight_ = 0;
  double magnitude_ = 0;
  double aged_ = 0;
  double largest_ = 0;
  // What there was before the last value that is present.
  struct {
    double magnitude = 0;     // of all but the first: |x| and alpha k |x|
    double weight = 0;        // of all
    double first_weight = 0;  // of the first
    double first_age = 0;
    double first = 0;  // its weight times 1 + alpha k
    mutable divisor<double> by;
  } before_;
  mutable divisor<long double> now_;
};

template <class Value>
expectation problem::reference(const Value& value, const parameters& p, std::int64_t i) {
  reference_run run(p);
  for (std::int64_t j = 0; j <= i; ++j) run.add(value(j));
  return run.expected();
}

// With adjust=false a gap weakens what is before it less than the same number of values does, but never less
// than one value: what is before has at most the weight `rest`.
template <class Value>
std::optional<std::int64_t> problem::first_needed(const Value& value, const parameters& p, std::int64_t i,
                                                  std::int64_t most) {
  const long double largest = value.largest(p.n);
  const long double negligible = 0x1p-75L * alpha(p);
  const long double decay = problem::decay(p);
  long double scale = 0;
  long double weight = 1;
  long double rest = 1;
  std::int64_t present = 0;
  // The value before has a part in the scale, whatever is left of it.
  const std::int64_t least = std::max<std::int64_t>(min_periods(p), 2);
  for (std::int64_t begin = i; i - begin <= most; weight *= decay) {
    if (begin == 0) return begin;
    const double x = value(--begin);
    if (!is_present(x)) continue;
    ++present;
    scale += weight * std::abs(x);
    rest *= decay;
    if (present >= least && rest * largest <= scale * negligible) return begin;
  }
  return std::nullopt;
}

}  // namespace lab::ewm
