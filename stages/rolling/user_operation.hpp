// The operation that is yours to change: `lab run rolling --operation user` reduces every window with it, in
// every stage from 02_monoid on. common/windows/operations.hpp says what it must have.
// As it stands: the range, the largest value minus the smallest. NaN wins over every number.
// Exercise: the z-score of the newest value, (x[-1] - mean) / std.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/cuda.hpp"

namespace lab::rolling {

struct user_operation {
  struct state {
    double smallest;
    double largest;
  };
  static constexpr bool commutes = true;
  // False where a result has at most the rounding of its last operation, whatever the order in which values
  // are combined: then it is compared for equality, and otherwise within `relative_error` of its magnitude.
  static constexpr bool rounds = false;
  static constexpr double relative_error = 1e-12;

  __host__ __device__ static state identity() { return {INFINITY, -INFINITY}; }
  __host__ __device__ static state lift(double value) { return {value, value}; }
  __host__ __device__ static state combine(const state& earlier, const state& later) {
    const bool takes_smaller = earlier.smallest < later.smallest || earlier.smallest != earlier.smallest;
    const bool takes_larger = earlier.largest > later.largest || earlier.largest != earlier.largest;
    return {takes_smaller ? earlier.smallest : later.smallest,
            takes_larger ? earlier.largest : later.largest};
  }
  __host__ __device__ static double finish(const state& all, std::int64_t /*count*/) {
    return all.largest - all.smallest;
  }
};

}  // namespace lab::rolling
