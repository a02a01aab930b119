// How a grid reads an array once, as stage 08_bulk_copy introduces it: bulk copies of 16 KiB into a ring of
// eight buffers in shared memory, one block on each multiprocessor.
#pragma once

#include "common/bulk_copy.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction {

inline constexpr int bulk_working_threads = 256;
inline constexpr int bulk_block_threads = bulk_working_threads + 32;  // and one warp that starts the copies
inline constexpr int bulk_piece_bytes = 16 * 1024;
inline constexpr int bulk_pieces_in_flight = 8;
inline constexpr int bulk_piece_vectors = bulk_piece_bytes / 16;
inline constexpr int bulk_loads = bulk_piece_vectors / bulk_working_threads;
static_assert(bulk_loads == 4, "four vectors are combined in pairs");
inline constexpr std::size_t bulk_shared_bytes = std::size_t{bulk_piece_bytes} * bulk_pieces_in_flight;

// The part of the calling thread in the reduction of n values by a grid of blocks of 288 threads, which have
// `bulk_shared_bytes` of dynamic shared memory.
template <class T, class Operation>
__device__ __forceinline__ T combine_bulk_share(const T* __restrict__ values, std::int64_t n) {
  using vector = typename vector_of<T>::type;
  __shared__ mbarrier full[bulk_pieces_in_flight];   // one arrival: the copy's
  __shared__ mbarrier empty[bulk_pieces_in_flight];  // one arrival of each working warp
  auto* buffer = dynamic_shared<vector>();
  constexpr Operation combine{};
  constexpr std::int64_t piece_values = bulk_piece_vectors * vector_values<T>;
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int slot = 0; slot < bulk_pieces_in_flight; ++slot) {
      full[slot].initialise(1);
      empty[slot].initialise(bulk_working_threads / 32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  const std::int64_t pieces = n / piece_values;
  T partial = Operation::identity();
  if (thread == bulk_working_threads) {
    unsigned turn = 0;
    for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++turn) {
      const unsigned slot = turn % bulk_pieces_in_flight;
      if (turn >= bulk_pieces_in_flight) empty[slot].wait(turn / bulk_pieces_in_flight - 1);
      copy_in(reinterpret_cast<T*>(buffer + slot * bulk_piece_vectors), values + piece * piece_values,
              static_cast<int>(piece_values), full[slot]);
    }
  } else if (thread < bulk_working_threads) {
    unsigned turn = 0;
    for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++turn) {
      const unsigned slot = turn % bulk_pieces_in_flight;
      full[slot].wait(turn / bulk_pieces_in_flight);
      const vector* vectors = buffer + slot * bulk_piece_vectors + thread;
      T of_load[bulk_loads];
#pragma unroll
      for (int k = 0; k < bulk_loads; ++k)
        of_load[k] = combine_vector(vectors[k * bulk_working_threads], combine);
      __syncwarp();
      if (thread % 32 == 0) empty[slot].arrive();
      partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
    }
    for (std::int64_t i =
             pieces * piece_values + static_cast<std::int64_t>(blockIdx.x) * bulk_working_threads + thread;
         i < n; i += static_cast<std::int64_t>(gridDim.x) * bulk_working_threads) {
      partial = combine(partial, values[i]);
    }
  }
  return partial;
}

// Additions on a value's longest way to its block's result: 4 within its piece, one for each piece of its
// block, at most 16 in the ragged end, 10 in the block.
inline std::int64_t bulk_share_additions(const problem::parameters& p, int blocks) {
  return 4 + share(p.n * p.type / 8, std::int64_t{blocks} * bulk_piece_bytes) + 16 + 10;
}

}  // namespace lab::reduction
