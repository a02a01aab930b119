// Sums over the threads of a block.
#pragma once

#include "common/cuda.hpp"
#include "stages/redact/tile_size.hpp"

namespace lab::redact {

// The threads of a block, as those that redact a tile together.
template <int count>
struct whole_block {
  static constexpr int threads = count;
  static __device__ __forceinline__ void sync() { __syncthreads(); }
};

template <class T>
struct block_scan_result {
  T before;
  T total;
};

// Each thread's sum of the values of all of the team's threads before it, and the sum of all. A barrier
// stands between calls.
template <class T, class Team = whole_block<tile_threads>>
__device__ __forceinline__ block_scan_result<T> block_scan(T value) {
  constexpr int warps = Team::threads / 32;
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  T inclusive = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T below = __shfl_up_sync(0xffffffffu, inclusive, distance);
    if (lane >= distance) inclusive += below;
  }
  if (lane == 31) of_warp[warp] = inclusive;
  Team::sync();
  T before = 0;
  T total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    const T sum = of_warp[w];
    if (w < warp) before += sum;
    total += sum;
  }
  return {before + inclusive - value, total};
}

}  // namespace lab::redact
