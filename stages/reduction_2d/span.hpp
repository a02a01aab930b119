// The sum of consecutive values by a group of threads, with 16-byte loads wherever the span begins.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"

namespace lab::reduction_2d {

// By value: one load of 16 bytes.
__device__ __forceinline__ float sum_of(float4 v) {
  return (v.x + v.y) + (v.z + v.w);
}

// Thread `rank` of `threads` adds up its part of span[0..count). 16-byte loads need addresses that are
// multiples of 16, and a row whose pitch is none begins anywhere: up to 3 values before the first such
// address, and up to 3 behind the last vector, are read one by one. Four loads are in flight in each thread,
// in the last step as well: what lies behind the end counts as 0. Where `count` is an int, 32-bit indices
// suffice, which is half the instructions for a short row.
template <int threads, class Count>
__device__ __forceinline__ float sum_share(const float* __restrict__ span, Count count, int rank) {
  constexpr int loads = 4;
  const auto misplaced = static_cast<int>(reinterpret_cast<std::uintptr_t>(span) / sizeof(float) % 4);
  const Count wanted = (4 - misplaced) % 4;
  const Count head = wanted < count ? wanted : count;
  const auto* vectors = reinterpret_cast<const float4*>(span + head);
  const Count n = (count - head) / 4;
  float sum = 0;
  for (Count i = rank; i < n; i += loads * threads) {
    float4 loaded[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      loaded[k] = i + k * threads < n ? vectors[i + k * threads] : float4{};
    }
    sum += (sum_of(loaded[0]) + sum_of(loaded[1])) + (sum_of(loaded[2]) + sum_of(loaded[3]));
  }
  const Count behind = head + 4 * n;
#pragma unroll
  for (int k = 0; k < 3; k += threads) {
    if (k + rank < head) sum += span[k + rank];
    if (behind + k + rank < count) sum += span[behind + k + rank];
  }
  return sum;
}

// Additions that a value passes through in sum_share.
constexpr std::int64_t share_additions(std::int64_t count, std::int64_t threads) {
  return count / (16 * threads) + 1 + 2 + 2 + 3 + 3;
}

}  // namespace lab::reduction_2d
