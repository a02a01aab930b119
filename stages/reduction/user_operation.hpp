// The operation that is yours to change: whatever is associative and commutative and has a neutral element
// can stand here, and every stage of this track reduces with it (`lab run reduction --operation user`).
// As it stands: the value farthest from zero, with its sign; of a value and its negative, the positive one.
// NaN wins over every number.
#pragma once

#include "common/cuda.hpp"

namespace lab::reduction {

// T is float or double on the device; the reference uses the same text with long double.
template <class T>
struct user {
  // False when results are one of the operands, and are therefore compared for equality.
  static constexpr bool rounds = false;
  __host__ __device__ static constexpr T identity() { return 0; }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    if (a != a || b != b) return a != a ? a : b;
    const T magnitude_of_a = a < 0 ? -a : a;
    const T magnitude_of_b = b < 0 ? -b : b;
    if (magnitude_of_a != magnitude_of_b) return magnitude_of_a > magnitude_of_b ? a : b;
    return a > b ? a : b;
  }
};

}  // namespace lab::reduction
