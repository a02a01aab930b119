// How a grid reads an array once, as stage 04_vectorized introduces it: 16-byte loads, four in flight in each
// thread. The stages after it differ in what becomes of the threads' results.
#pragma once

#include "common/multiprocessors.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction {

inline constexpr int share_block_threads = 512;
inline constexpr int share_blocks_per_multiprocessor = 4;  // 2048 threads, all that a multiprocessor keeps
inline constexpr int share_loads_in_flight = 4;
inline constexpr std::int64_t share_tile_vectors = share_block_threads * share_loads_in_flight;

// The part of the calling thread in the reduction of n values by a grid of blocks of 512 threads.
template <class T, class Operation>
__device__ __forceinline__ T combine_share(const T* __restrict__ values, std::int64_t n) {
  using vector = typename vector_of<T>::type;
  constexpr Operation combine{};
  const auto* vectors = reinterpret_cast<const vector*>(values);
  const std::int64_t whole = n / vector_values<T> / share_tile_vectors * share_tile_vectors;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * share_tile_vectors;
  T partial = Operation::identity();
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * share_tile_vectors + threadIdx.x; i < whole;
       i += stride) {
    vector loaded[share_loads_in_flight];
#pragma unroll
    for (int k = 0; k < share_loads_in_flight; ++k) loaded[k] = vectors[i + k * share_block_threads];
    T of_load[share_loads_in_flight];
#pragma unroll
    for (int k = 0; k < share_loads_in_flight; ++k) of_load[k] = combine_vector(loaded[k], combine);
    partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
  }
  for (std::int64_t i = whole * vector_values<T> +
                        static_cast<std::int64_t>(blockIdx.x) * share_block_threads + threadIdx.x;
       i < n; i += static_cast<std::int64_t>(gridDim.x) * share_block_threads) {
    partial = combine(partial, values[i]);
  }
  return partial;
}

// Blocks that fill the device once, or as many as there are tiles.
inline int share_blocks(std::int64_t n) {
  return blocks_for(n, share_tile_vectors, std::int64_t{multiprocessors()} * share_blocks_per_multiprocessor);
}

// Additions on a value's longest way to its block's result: 4 within its tile, one for each tile of its
// thread, at most 16 in the ragged end, 10 in the block.
inline std::int64_t share_additions(const problem::parameters& p, int blocks) {
  return 4 + share(p.n, blocks * share_tile_vectors * 128 / p.type) + 16 + 10;
}

}  // namespace lab::reduction
