// The values of a warp's or a block's threads combined to one, in an order that never changes: results are
// the same bits in every run.
#pragma once

#include "common/cuda.hpp"

namespace lab {

// Every lane gets the combination of all 32 lanes' values, in 5 steps and without shared memory. The whole
// warp calls. The two lanes of an exchange combine in opposite orders, so the operation must be commutative
// to the bit, as IEEE addition is.
template <class T, class Operation>
__device__ __forceinline__ T warp_reduce(T value, Operation combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// Thread 0 gets the combination of all `block_threads` threads' values (of a one-dimensional block, all of
// which call). May be called again after a barrier.
template <int block_threads, class T, class Operation>
__device__ __forceinline__ T block_reduce(T value, Operation combine) {
  static_assert(block_threads % 32 == 0 && block_threads <= 1024,
                "whole warps, and one warp can combine their results");
  constexpr int warps = block_threads / 32;
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  value = warp_reduce(value, combine);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) value = warp_reduce(lane < warps ? of_warp[lane] : Operation::identity(), combine);
  return value;
}

}  // namespace lab
