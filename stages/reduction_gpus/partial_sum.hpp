// The work of one GPU: the sum of its part, in two kernels (reduction/04_vectorized: 16-byte loads, four in
// flight in each thread). It is the same in every stage; they differ in how the GPUs' sums come together.
#pragma once

#include "common/block_reduce.hpp"
#include "common/nvtx.hpp"
#include "stages/reduction/thread_share.hpp"
#include "stages/reduction_gpus/problem.hpp"

namespace lab::reduction_gpus {

inline constexpr int block_threads = reduction::share_block_threads;
inline constexpr std::int64_t tile = 4 * reduction::share_tile_vectors;

template <class T>
__global__ void __launch_bounds__(block_threads, reduction::share_blocks_per_multiprocessor)
    block_sum_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ sums) {
  const T own = block_reduce<block_threads>(reduction::combine_share<T, sum<T>>(values, n), sum<T>{});
  if (threadIdx.x == 0) sums[blockIdx.x] = own;
}

// Always in the order of the blocks: the same bits in every run.
template <class T>
__global__ void __launch_bounds__(block_threads)
    finish_kernel(const T* __restrict__ sums, int count, T* __restrict__ result) {
  T own = 0;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += block_threads) own += sums[k];
  own = block_reduce<block_threads>(own, sum<T>{});
  if (threadIdx.x == 0) *result = own;
}

// Scratch memory of a GPU: the blocks' sums, and before them a few results.
inline constexpr std::size_t result_bytes = 1024;
inline constexpr std::size_t scratch_bytes =
    result_bytes + std::size_t{1024} * reduction::share_blocks_per_multiprocessor * sizeof(double);

inline std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return scratch_bytes;
}

// Result `place` of a GPU's scratch memory.
template <class T>
T* result_of(const group_member& on, std::size_t place = 0) {
  return static_cast<T*>(on.scratch) + place;
}

// Enqueues the sum of n values; the device must be current. What the blocks leave behind is of no use to
// others on the same stream, and overwritten by the next.
template <class T>
void enqueue_sum(const T* values, std::int64_t n, const group_member& on, T* result) {
  const nvtx_range range("GPU " + std::to_string(on.device));
  const int blocks = std::min(1024 * reduction::share_blocks_per_multiprocessor, reduction::share_blocks(n));
  T* const sums = reinterpret_cast<T*>(static_cast<unsigned char*>(on.scratch) + result_bytes);
  lab::launch(block_sum_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0, on.stream,
              values, n, sums);
  lab::launch(finish_kernel<T>, dim3(1), dim3(block_threads), 0, on.stream, sums, blocks, result);
}

// The sum of part k into its result 0.
template <class T>
void enqueue_part(const input& in, std::size_t k, const group_member& on) {
  enqueue_sum(static_cast<const T*>(in.values[k]), in.part(static_cast<std::int64_t>(k)).count, on,
              result_of<T>(on));
}

// Adds `count` values one after the other: the sums of the GPUs in the order of their ranks.
template <class T>
__global__ void add_kernel(const T* __restrict__ values, int count, T* __restrict__ result) {
  T total = values[0];
  for (int k = 1; k < count; ++k) total += values[k];
  *result = total;
}

}  // namespace lab::reduction_gpus
