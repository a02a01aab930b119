// Associative operations with a neutral element (monoids), for reductions and scans. T is float or double on
// the device, and long double where a reference is computed.
#pragma once

#include <cmath>

#include "common/cuda.hpp"

namespace lab {

// Each operation has `identity()`, which leaves every value as it is, and combines two values. `rounds` says
// whether combining rounds: then results depend on the order, and are compared within a bound instead of for
// equality.
template <class T>
struct sum {
  static constexpr bool rounds = true;
  __host__ __device__ static constexpr T identity() { return 0; }
  __host__ __device__ constexpr T operator()(T a, T b) const { return a + b; }
};

// NaN wins over every number, as in IEEE 754-2019's minimum and maximum and in NumPy; fmin and fmax would
// drop it.
template <class T>
struct minimum {
  static constexpr bool rounds = false;
  __host__ __device__ static constexpr T identity() { return static_cast<T>(INFINITY); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

template <class T>
struct maximum {
  static constexpr bool rounds = false;
  __host__ __device__ static constexpr T identity() { return -static_cast<T>(INFINITY); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};

}  // namespace lab
