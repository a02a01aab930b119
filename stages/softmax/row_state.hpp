// What is known of a part of a row, and how parts are put together (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018).
#pragma once

#include "common/block_reduce.hpp"
#include "common/operations.hpp"

namespace lab::softmax {

#if defined(__CUDACC__) || LAB_EMULATED

struct row_state {
  float maximum = -INFINITY;
  float sum = 0;  // of exp(x - shift_of(maximum)) over the part's values x
};

// What exponents are relative to. A part of nothing but -Inf has a sum of 0, and not exp(-Inf + Inf), NaN.
__device__ __forceinline__ float shift_of(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

// One more value.
__device__ __forceinline__ void append(row_state& state, float x) {
  const float larger = maximum<float>{}(state.maximum, x);
  const float shift = shift_of(larger);
  state.sum = state.sum * expf(state.maximum - shift) + expf(x - shift);
  state.maximum = larger;
}

// The lanes' parts, in every lane. The whole warp calls.
__device__ __forceinline__ row_state combine_lanes(row_state own) {
  const float larger = warp_reduce(own.maximum, maximum<float>{});
  return {larger, warp_reduce(own.sum * expf(own.maximum - shift_of(larger)), sum<float>{})};
}

// The threads' parts, in every thread. The whole block calls, once.
__device__ __forceinline__ row_state combine_threads(row_state own) {
  __shared__ row_state of_warp[32];
  const unsigned lane = threadIdx.x % 32;
  own = combine_lanes(own);
  if (lane == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  return combine_lanes(lane < blockDim.x / 32 ? of_warp[lane] : row_state{});
}

// Additions that a value passes through from a thread's sum to a block's.
inline constexpr int additions_in_block = 5 + 5;

#endif

}  // namespace lab::softmax
