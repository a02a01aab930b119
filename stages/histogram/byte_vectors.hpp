// How a grid reads n bytes once, 16 of them with each load, as stage 04_vectorized introduces it; and how
// many blocks fill the device. The stages after it differ in how they count.
#pragma once

#include <algorithm>

#include "common/multiprocessors.hpp"
#include "stages/histogram/problem.hpp"

namespace lab::histogram {

inline constexpr int vector_bytes = sizeof(uint4);

// Calls count(byte) for the calling thread's part of n bytes, where the grid has blocks of `block_threads`.
template <int block_threads, class Count>
__device__ __forceinline__ void for_own_bytes(const unsigned char* __restrict__ bytes, std::int64_t n,
                                              const Count& count) {
  const std::int64_t vectors = n / vector_bytes;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * block_threads;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  for (std::int64_t i = thread; i < vectors; i += threads) {
    const uint4 loaded = reinterpret_cast<const uint4*>(bytes)[i];
    for (const std::uint32_t word : {loaded.x, loaded.y, loaded.z, loaded.w}) {
#pragma unroll
      for (int shift = 0; shift < 32; shift += 8) count(word >> shift & 0xff);
    }
  }
  // At most 15 bytes behind the last vector.
  if (thread < n - vectors * vector_bytes) count(bytes[vectors * vector_bytes + thread]);
}

// Blocks that fill the device once, or as many as have a vector for each thread.
inline unsigned blocks_for(std::int64_t n, int block_threads, int blocks_per_multiprocessor) {
  const std::int64_t tile = std::int64_t{block_threads} * vector_bytes;
  const std::int64_t most = std::int64_t{multiprocessors()} * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::min((n + tile - 1) / tile, most));
}

}  // namespace lab::histogram
