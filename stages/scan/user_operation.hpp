// The operation that is yours to change: whatever is associative and has a neutral element can stand here,
// and every stage of this track scans with it (`lab run scan --operation user`). It need not be commutative.
// As it stands: the later of two values, unless it is 0. Its scan fills gaps with the last value before them.
#pragma once

#include "common/cuda.hpp"

namespace lab::scan {

// T is int32, int64 or float on the device; the reference uses the same text with long double.
template <class T>
struct user {
  // False when results are one of the operands, and are therefore compared for equality.
  static constexpr bool rounds = false;
  __host__ __device__ static constexpr T identity() { return 0; }
  __host__ __device__ constexpr T operator()(T a, T b) const { return b != 0 ? b : a; }
};

}  // namespace lab::scan
