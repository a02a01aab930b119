// Operations that reduce a window of float64 values, as pandas names them.
//
// An operation has a `state`, what is known of a run of neighbouring values:
//
//     identity()                the state of no value
//     lift(value)               the state of one
//     combine(earlier, later)   of two neighbouring runs; associative, and need not commute
//     finish(state, count)      the result for a window of `count` values
//
// and, where it has a cheaper way,
//
//     finish_whole(state)       the same for a window that holds all its values
//     finish_some(state, count) the same for one of many that hold any number of values
//     counted(state, count)     a state of `count` values, whose count has been forgotten
//     is_counted(value)         whether a value is one of them; without it every one is
//
// and, beside is_counted(), where windows are made of deviations from the mean of what they have in common,
//
//     of_deviations(origin, sum, squares, count)
//                               the state of `count` values, given the sums of their deviations from `origin`
//                               and of the squares of these
//     finish_deviations(result, run, sum, squares, count)
//                               sets the result for a run, and for values given in this way by their
//                               deviations from its mean; false where that takes more care
//     takes_roots()             whether root_of(result) makes the results of these: side by side, so that
//                               none waits for another's
//
// and says with `commutes` whether the order of the runs matters. States are copied between threads, in whole
// 8-byte words. NaN reaches the result of every window that holds it.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/cuda.hpp"

namespace lab::windows {

// What stands for a result whose window is incomplete.
inline constexpr double incomplete = std::numeric_limits<double>::infinity();

// What an operation must have.
template <class Operation>
concept has_state = requires {
  typename Operation::state;
}
&&std::is_trivially_copyable_v<typename Operation::state> && sizeof(typename Operation::state) % 8 == 0;
template <class Operation>
concept has_identity = requires(const Operation& operation) {
  { operation.identity() } -> std::same_as<typename Operation::state>;
};
template <class Operation>
concept has_lift = requires(const Operation& operation, double value) {
  { operation.lift(value) } -> std::same_as<typename Operation::state>;
};
template <class Operation>
concept has_combine = requires(const Operation& operation, const typename Operation::state& state) {
  { operation.combine(state, state) } -> std::same_as<typename Operation::state>;
};
template <class Operation>
concept has_finish = requires(const Operation& operation, const typename Operation::state& state) {
  { operation.finish(state, std::int64_t{1}) } -> std::convertible_to<double>;
};

template <class Operation>
concept window_operation = has_state<Operation> && has_identity<Operation> && has_lift<Operation> &&
    has_combine<Operation> && has_finish<Operation> && requires {
  { Operation::commutes } -> std::convertible_to<bool>;
};

// Names what an operation lacks, in a sentence.
template <class Operation>
struct checked_operation {
  static_assert(has_state<Operation>,
                "an operation has a `state`: trivially copyable, a whole number of 8-byte words");
  static_assert(has_identity<Operation>, "identity() is the state of no value");
  static_assert(has_lift<Operation>, "lift(value) is the state of one value");
  static_assert(has_combine<Operation>, "combine(earlier, later) is the state of two neighbouring runs");
  static_assert(has_finish<Operation>, "finish(state, count) is the result for a window of `count` values");
  using type = Operation;
};

#if defined(__CUDA_ARCH__)
// 1 / b for a whole number b, to 40 bits.
__device__ inline double rough_reciprocal(double b) {
  double found = 0;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(found) : "d"(b));  // 20 bits
  return fma(found, fma(-b, found, 1.0), found);
}
#endif

// 1 / b for a whole number b, to 1 ulp.
__host__ __device__ inline double reciprocal(double b) {
#if defined(__CUDA_ARCH__)
  const double found = rough_reciprocal(b);
  return fma(found, fma(-b, found, 1.0), found);
#else
  return 1 / b;
#endif
}

__host__ __device__ inline unsigned high_word(double value) {
  return static_cast<unsigned>(__builtin_bit_cast(std::uint64_t, value) >> 32);
}
inline constexpr unsigned infinite_high_word = 0x7ff00000;
// usual_root() takes finite numbers of at least this high word, of 1e-290 or so.
inline constexpr unsigned least_usual_root = 0x03c00000;
// Finite, of no sign, and a number whose root takes no care where it is asked for.
__host__ __device__ inline bool is_usual(double value, bool takes_root) {
  const unsigned least = takes_root ? least_usual_root : 0;
  return high_word(value) - least < infinite_high_word - least;
}

// To 1 ulp, without the branch that makes a root proper wait for the one before.
__host__ __device__ inline double usual_root(double value) {
#if defined(__CUDA_ARCH__)
  double reciprocal = 0;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(value));  // 20 bits
  const double half = 0.5 * reciprocal;
  double found = value * reciprocal;
  found = fma(found, fma(-found, half, 0.5), found);
  return fma(fma(-found, found, value), half, found);
#else
  return sqrt(value);
#endif
}

// a / b for a whole number b from 1 to 2^52: to 1 ulp, and 1 where they are equal. A division proper costs
// twice as much.
__host__ __device__ inline double quotient(double a, double b) {
#if defined(__CUDA_ARCH__)
  const double per_b = rough_reciprocal(b);
  const double rough = a * per_b;
  return fma(fma(-b, rough, a), per_b, rough);
#else
  return a / b;
#endif
}

// mean and sum. The mean of a whole window multiplies by the reciprocal of its size.
struct total {
  using state = double;
  static constexpr bool commutes = true;

  std::int64_t window = 1;
  double scale = 1;  // of a whole window: 1 for a sum, 1 / window for a mean
  bool divides = false;

  static constexpr total sum(std::int64_t window) { return {.window = window}; }
  static constexpr total mean(std::int64_t window) {
    return {.window = window, .scale = 1.0 / static_cast<double>(window), .divides = true};
  }

  __host__ __device__ static state identity() { return 0; }
  __host__ __device__ static state lift(double value) { return value; }
  __host__ __device__ static state combine(state earlier, state later) { return earlier + later; }
  __host__ __device__ double finish_whole(state all) const { return all * scale; }
  __host__ __device__ double finish(state all, std::int64_t count) const {
    if (count == window || !divides) return finish_whole(all);
    return all / static_cast<double>(count);
  }
  __host__ __device__ double finish_some(state all, std::int64_t count) const {
    // What is infinite leaves no remainder.
    if (count == window || !divides || !(fabs(all) < INFINITY)) return finish_whole(all);
    return quotient(all, static_cast<double>(count));
  }
};

// min and max: the maximum of x, or of x with its sign flipped. NaN wins over every number (fmax would drop
// it).
struct extremum {
  using state = double;
  static constexpr bool commutes = true;

  std::uint64_t sign_bits = 0;  // flipped in what is compared

  static constexpr extremum max() { return {0}; }
  static constexpr extremum min() { return {std::uint64_t{1} << 63}; }

  __host__ __device__ double flipped(double value) const {
    return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, value) ^ sign_bits);
  }
  __host__ __device__ static state identity() { return -INFINITY; }
  __host__ __device__ state lift(double value) const { return flipped(value); }
  __host__ __device__ static state combine(state earlier, state later) {
    return earlier > later || earlier != earlier ? earlier : later;
  }
  __host__ __device__ double finish(state largest, std::int64_t /*count*/) const { return flipped(largest); }
};

// var and std, of a sample: count, mean, and the squared distances from the mean, of runs that are merged
// pairwise (Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances", 1979). Nothing is subtracted but means, so nothing cancels, and the result is never negative.
struct moments {
  struct state {
    double count;
    double mean;
    double squares;
  };
  static constexpr bool commutes = true;

  bool takes_root = false;
  double scale = 0;  // of a whole window: 1 / (window - 1)

  static constexpr moments var(std::int64_t window) {
    return {false, window > 1 ? 1.0 / static_cast<double>(window - 1) : 0};
  }
  static constexpr moments std(std::int64_t window) {
    return {true, window > 1 ? 1.0 / static_cast<double>(window - 1) : 0};
  }

  __host__ __device__ static state identity() { return {0, 0, 0}; }
  __host__ __device__ static state lift(double value) { return {1, value, 0}; }
  __host__ __device__ static state combine(const state& earlier, const state& later) {
    const double count = earlier.count + later.count;
    const double part = count > 0 ? quotient(later.count, count) : 0;
    const double apart = later.mean - earlier.mean;
    // In this order a large distance from a run of no values adds 0, and not Inf * 0.
    return {count, earlier.mean + apart * part,
            earlier.squares + later.squares + apart * (apart * (earlier.count * part))};
  }
  // As long as `origin` is one of a few values, hardly anything cancels. Squares beyond the largest number
  // stay so.
  __host__ __device__ static state of_deviations(double origin, double sum, double squares, int count) {
    if (count == 0) return identity();
    const double apart = quotient(sum, count);
    const double common = apart * sum;
    const double rest = squares - (common < INFINITY ? common : 0);
    // Squares too small for a double may leave less than their mean's.
    return {static_cast<double>(count), origin + apart, rest < 0 ? 0 : rest};
  }
  __host__ __device__ bool finish_deviations(double& result, const state& run, double sum, double squares,
                                             int count) const {
    const double all = run.count + count;
    const double scaled = reciprocal(all * (all - 1));
    const double variance = fma(-(sum * (scaled * (all - 1))), sum, run.squares + squares) * (scaled * all);
    result = variance + 0.0;  // no -0
    return is_usual(variance, takes_root) || variance == 0;
  }
  __host__ __device__ bool takes_roots() const { return takes_root; }
  // What takes more care, or is none (0, or an incomplete window's), stays.
  __host__ __device__ static double root_of(double variance) {
    const double root = usual_root(variance);
    return is_usual(variance, true) ? root : variance;
  }

  __host__ __device__ static std::int64_t count_of(const state& all) {
    return static_cast<std::int64_t>(all.count);
  }
  __host__ __device__ double finish(const state& all, std::int64_t /*count*/) const {
    return finished(all, all.squares / (all.count - 1));
  }
  __host__ __device__ double finish_whole(const state& all) const {
    return finished(all, all.squares * scale);
  }

 private:
  __host__ __device__ double finished(const state& all, double squares) const {
    if (!(all.count > 1)) return NAN;
    // The product is NaN where the mean is no number: Inf among the values leaves no distance from it.
    const double variance = squares + 0 * all.mean;
    return takes_root ? sqrt(variance) : variance;
  }
};

// The window's beginning minus its ending, x[0] - x[-1]. It does not commute.
struct first_minus_last {
  struct state {
    double first;
    double last;
    std::int64_t any;  // 0: of no value
  };
  static constexpr bool commutes = false;

  __host__ __device__ static state identity() { return {0, 0, 0}; }
  __host__ __device__ static state lift(double value) { return {value, value, 1}; }
  __host__ __device__ static state combine(const state& earlier, const state& later) {
    return {earlier.any != 0 ? earlier.first : later.first, later.any != 0 ? later.last : earlier.last,
            earlier.any | later.any};
  }
  __host__ __device__ static state counted(const state& all, int count) {
    return {all.first, all.last, count};
  }
  __host__ __device__ static double finish(const state& all, std::int64_t /*count*/) {
    return all.first - all.last;
  }
};

// Windows of which are made of deviations from the mean of what most of them have in common.
template <class Operation>
concept has_deviations = requires(const Operation& operation, double& result,
                                  const typename Operation::state& run) {
  { Operation::of_deviations(0.0, 0.0, 0.0, 1) } -> std::same_as<typename Operation::state>;
  { operation.finish_deviations(result, run, 0.0, 0.0, 1) } -> std::same_as<bool>;
};

// Any operation on the values that are not NaN. A window with fewer than `min_periods` of them is incomplete.
// Their number is part of the state; an operation that knows it from its own says so with count_of(state).
template <window_operation Operation>
struct skipping {
  static constexpr bool counts_itself = requires(const typename Operation::state& state) {
    Operation::count_of(state);
  };
  struct state_and_count {
    typename Operation::state of_values;
    std::int64_t count;
  };
  using state = std::conditional_t<counts_itself, typename Operation::state, state_and_count>;
  static constexpr bool commutes = Operation::commutes;

  Operation operation;
  std::int64_t min_periods = 1;

  __host__ __device__ state identity() const {
    if constexpr (counts_itself) {
      return operation.identity();
    } else {
      return {operation.identity(), 0};
    }
  }
  __host__ __device__ static bool is_counted(double value) { return value == value; }
  __host__ __device__ static state counted(const state& all, int count) requires(!counts_itself) {
    return {all.of_values, count};
  }
  __host__ __device__ static state of_deviations(double origin, double sum, double squares,
                                                 int count) requires(has_deviations<Operation>) {
    return Operation::of_deviations(origin, sum, squares, count);
  }
  __host__ __device__ bool finish_deviations(double& result, const state& run, double sum, double squares,
                                             int count) const requires(has_deviations<Operation>) {
    const bool sure = operation.finish_deviations(result, run, sum, squares, count);
    const bool enough = run.count + count >= static_cast<double>(min_periods);
    if (!enough) result = incomplete;
    return sure || !enough;
  }
  __host__ __device__ bool takes_roots() const requires(has_deviations<Operation>) {
    return operation.takes_roots();
  }
  __host__ __device__ static double root_of(double result) requires(has_deviations<Operation>) {
    return Operation::root_of(result);
  }
  __host__ __device__ state lift(double value) const {
    if (!is_counted(value)) return identity();
    if constexpr (counts_itself) {
      return operation.lift(value);
    } else {
      return {operation.lift(value), 1};
    }
  }
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    if constexpr (counts_itself) {
      return operation.combine(earlier, later);
    } else {
      return {operation.combine(earlier.of_values, later.of_values), earlier.count + later.count};
    }
  }
  __host__ __device__ double finish(const state& all, std::int64_t /*positions*/) const {
    if constexpr (counts_itself) {
      const std::int64_t count = Operation::count_of(all);
      return count < min_periods ? incomplete : operation.finish(all, count);
    } else {
      if (all.count < min_periods) return incomplete;
      if constexpr (requires { operation.finish_some(all.of_values, all.count); }) {
        return operation.finish_some(all.of_values, all.count);
      } else {
        return operation.finish(all.of_values, all.count);
      }
    }
  }
};

// A window that holds all its `window` values.
template <window_operation Operation>
__host__ __device__ double whole_window_result(const Operation& operation,
                                               const typename Operation::state& all, std::int64_t window) {
  if constexpr (requires { operation.finish_whole(all); }) {
    return operation.finish_whole(all);
  } else {
    return operation.finish(all, window);
  }
}

// Output i: the windows at the beginning of the array hold i + 1 values.
template <window_operation Operation>
__host__ __device__ double window_result(const Operation& operation, const typename Operation::state& all,
                                         std::int64_t i, std::int64_t window, std::int64_t min_periods) {
  const std::int64_t count = i + 1 < window ? i + 1 : window;
  return count < min_periods ? incomplete : operation.finish(all, count);
}

}  // namespace lab::windows
