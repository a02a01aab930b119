// Four neighbouring outputs of a thread, in one store where the rows allow it.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"

namespace lab {

// values[0] to values[3] to elements `at` to `at + 3` of a row, those that it has. `at` is a multiple of 4;
// the row begins at a multiple of 16 bytes where its `length` is a multiple of 4, as the rows of a matrix do.
// The wide store is an intrinsic: nvcc merges a plain one with the other branch, and makes four of it.
__device__ __forceinline__ void store_four(float* __restrict__ row, std::int64_t at, std::int64_t length,
                                           const float* values) {
  if (length % 4 == 0) {
    if (at < length) {
      __stwb(reinterpret_cast<float4*>(row + at), make_float4(values[0], values[1], values[2], values[3]));
    }
    return;
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (at + s < length) row[at + s] = values[s];
  }
}

}  // namespace lab
