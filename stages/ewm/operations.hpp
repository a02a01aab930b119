// What is known of a run of neighbouring values, as a monoid: identity() is that of no value,
// combine(earlier, later) that of two neighbouring runs (associative, and the order matters), append(run, x)
// adds one value at the end, finish(run) is the average after a run from the array's beginning.
//
// Where no value is missing, lift(x) is the state of one value, append_present(run, x) adds one to a run
// whose last position is a value, and quotients of finite sums need no care.
//
// Where no value of a whole tile is missing, and what is before it is `settled`, only sums differ from tile
// to tile: a value x adds enters(x) to a sum that decays, and the average is leaves(sum). of_plain() is the
// state of such a tile, given its sum, its first value, and the powers of the decay.
//
// Weights count from a run's last value, not from its last position: however long a gap follows, the average
// before it is still there, and no 0 / 0.
#pragma once

#include "common/windows/operations.hpp"
#include "stages/ewm/problem.hpp"

namespace lab::ewm {

// The powers of the decay that tiles of `tile` values need, each thread with `per_thread`.
struct powers_of_decay {
  double runs[5];    // to the power of 1, 2, 4, 8 and 16 threads' values
  double warp;       // of a warp's
  double tile;       // of a tile's
  double tile_less;  // of a tile's, less one
  double weight;     // of a tile: the sum of the powers from 0 on
  std::int64_t values;

  static powers_of_decay of(double decay, int per_thread, int tile) {
    powers_of_decay powers{};
    for (int k = 0; k < 5; ++k) powers.runs[k] = std::pow(decay, per_thread << k);
    powers.warp = std::pow(decay, 32 * per_thread);
    powers.tile = std::pow(decay, tile);
    powers.tile_less = std::pow(decay, tile - 1);
    // Not 1 - decay^tile, of which nothing may be left.
    powers.weight = decay < 1 ? -std::expm1(tile * std::log(decay)) / (1 - decay) : tile;
    powers.values = tile;
    return powers;
  }
};

// A number, and none so large that what is added to it might be beyond the largest.
__host__ __device__ inline bool is_plain_sum(double sum) {
  return fabs(sum) < 1e300;
}

// adjust=true: a weighted sum over a sum of weights.
struct weighted_mean {
  struct state {
    double sum;           // of x d^(positions to the run's last value)
    double weight;        // of d^(the same)
    double decay;         // to the last value: what the run does to older weights
    double trail;         // the decay of the positions behind it, whose values are missing
    std::int64_t values;  // that are present
  };

  double alpha;
  double decay;
  std::int64_t min_periods;

  __host__ __device__ static state identity() { return {0, 0, 1, 1, 0}; }
  __host__ __device__ static state combine(const state& earlier, const state& later) {
    if (later.values == 0) {
      state run = earlier;
      run.trail *= later.trail;
      return run;
    }
    const double fades = earlier.trail * later.decay;
    return {earlier.sum * fades + later.sum, earlier.weight * fades + later.weight, earlier.decay * fades,
            later.trail, earlier.values + later.values};
  }
  __host__ __device__ void append(state& run, double x) const {
    run.trail *= decay;
    if (!is_present(x)) return;
    run.sum = run.sum * run.trail + x;
    run.weight = run.weight * run.trail + 1;
    run.decay *= run.trail;
    run.trail = 1;
    ++run.values;
  }
  __host__ __device__ double finish(const state& run) const {
    return run.values < min_periods ? incomplete : run.sum / run.weight;
  }

  __host__ __device__ state lift(double x) const { return {x, 1, decay, 1, 1}; }
  __host__ __device__ void append_present(state& run, double x) const {
    run.sum = run.sum * decay + x;
    run.weight = run.weight * decay + 1;
    run.decay *= decay;
    ++run.values;
  }
  // Whether the sums are far from the largest number.
  __host__ __device__ static bool is_plain(const state& run) { return is_plain_sum(run.sum); }
  __host__ __device__ static double finish_plain(const state& run) {
    return windows::quotient(run.sum, run.weight);
  }

  // Whether all that could be added is too old to change the weight: it is 1 / (1 - decay), and was rounded
  // once for each of the last 1 / alpha values.
  __host__ __device__ bool is_settled(const state& run) const {
    const double left = 1 - decay;
    return fabs(run.weight * left - 1) * left < 0x1p-53 * fmin(1 + 4 * left, 2250 * left) && run.trail == 1 &&
           is_plain(run) && run.values + 1 >= min_periods;
  }
  __host__ __device__ static double& sum_of(state& run) { return run.sum; }
  __host__ __device__ static double enters(double x) { return x; }
  __host__ __device__ double leaves(double sum) const { return sum * (1 - decay); }
  __host__ __device__ static state of_plain(double sum, double /*x*/, const powers_of_decay& powers) {
    return {sum, powers.weight, powers.tile, 1, powers.values};
  }
};

// adjust=false: the last average and the next value are weighed anew, o : alpha, where o is the decay since
// the last value. A run takes the average y after its first value to keep * y + add.
struct recursive_mean {
  struct state {
    double average;  // of a run with which the array begins
    double keep;
    double add;
    double lead;          // the decay up to the first value, that value's position included
    double trail;         // the decay behind the last value
    std::int64_t values;  // that are present
  };

  double alpha;
  double decay;
  std::int64_t min_periods;

  __host__ __device__ static state identity() { return {0, 1, 0, 1, 1, 0}; }
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    if (later.values == 0) {
      state run = earlier;
      run.trail *= later.trail;
      return run;
    }
    if (earlier.values == 0) {
      state run = later;
      run.lead *= earlier.trail;
      return run;
    }
    const shares of = shares_after(earlier.trail * later.lead);
    const double entered = of.later * later.average;
    return {of.earlier * (later.keep * earlier.average + later.add) + entered,
            of.earlier * later.keep * earlier.keep,
            of.earlier * (later.keep * earlier.add + later.add) + entered,
            earlier.lead,
            later.trail,
            earlier.values + later.values};
  }
  __host__ __device__ void append(state& run, double x) const {
    run.trail *= decay;
    if (!is_present(x)) return;
    if (run.values == 0) {
      run.average = x;
      run.lead = run.trail;
    } else {
      const shares of = shares_after(run.trail);
      const double entered = of.later * x;
      run.average = of.earlier * run.average + entered;
      run.add = of.earlier * run.add + entered;
      run.keep *= of.earlier;
    }
    run.trail = 1;
    ++run.values;
  }
  __host__ __device__ double finish(const state& run) const {
    return run.values < min_periods ? incomplete : run.average;
  }

  __host__ __device__ state lift(double x) const { return {x, 1, 0, decay, 1, 1}; }
  __host__ __device__ void append_present(state& run, double x) const {
    const double entered = alpha * x;
    run.average = decay * run.average + entered;
    run.add = decay * run.add + entered;
    run.keep *= decay;
    ++run.values;
  }
  __host__ __device__ static bool is_plain(const state& run) { return is_plain_sum(run.average); }
  __host__ __device__ static double finish_plain(const state& run) { return run.average; }

  // The first value of all enters whole: it is there.
  __host__ __device__ bool is_settled(const state& run) const {
    return run.values > 0 && run.trail == 1 && is_plain(run) && run.values + 1 >= min_periods;
  }
  __host__ __device__ static double& sum_of(state& run) { return run.average; }
  __host__ __device__ double enters(double x) const { return alpha * x; }
  __host__ __device__ static double leaves(double sum) { return sum; }
  // In the average of a run its first value x weighs alpha + decay.
  __host__ __device__ state of_plain(double sum, double x, const powers_of_decay& powers) const {
    return {sum + powers.tile * x, powers.tile_less, sum - powers.tile_less * (alpha * x), decay, 1,
            powers.values};
  }

 private:
  struct shares {
    double earlier;
    double later;
  };
  // Where no value is missing, 1 - alpha and alpha: no division.
  __host__ __device__ shares shares_after(double old_weight) const {
    if (old_weight == decay) return {decay, alpha};
    const double total = old_weight + alpha;
    return {old_weight / total, alpha / total};
  }
};

inline constexpr std::size_t largest_state = sizeof(recursive_mean::state);

// Calls visit(operation) with the one that the parameters ask for.
template <class Visit>
void with_operation(const input& in, const Visit& visit) {
  if (in.adjust) return visit(weighted_mean{in.alpha, in.decay, in.min_periods});
  visit(recursive_mean{in.alpha, in.decay, in.min_periods});
}

}  // namespace lab::ewm
