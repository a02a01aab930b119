// The work of one GPU: the sum of its part, in two kernels. It is the same in every stage; they differ in how
// the GPUs' sums come together.
//
// The first kernel is the fastest one for one GPU, that of reduction/08_bulk_copy; below compute capability
// 9.0 and on the emulator it is the fastest portable one (reduction/04_vectorized: 16-byte loads, four in
// flight in each thread).
#pragma once

#include "common/block_reduce.hpp"
#include "common/bulk_copy.hpp"
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

#if !LAB_EMULATED

inline constexpr int working_threads = 256;
inline constexpr int bulk_block_threads = working_threads + 32;
inline constexpr int piece_bytes = 16 * 1024;
inline constexpr int pieces_in_flight = 8;
inline constexpr int piece_vectors = piece_bytes / 16;
inline constexpr int piece_loads = piece_vectors / working_threads;
static_assert(piece_loads == 4, "the kernel adds four vectors in pairs");

// One warp orders pieces of 16 KiB into a ring of shared memory, and the others add them: one block on each
// multiprocessor. `values` is aligned to 16 bytes.
template <class T>
__global__ void __launch_bounds__(bulk_block_threads)
    bulk_sum_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ sums) {
  using vector = typename reduction::vector_of<T>::type;
  __shared__ mbarrier full[pieces_in_flight];   // one arrival: the copy's
  __shared__ mbarrier empty[pieces_in_flight];  // one arrival of each working warp
  auto* buffer = dynamic_shared<vector>();
  constexpr sum<T> add{};
  constexpr std::int64_t piece_values = piece_vectors * reduction::vector_values<T>;
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int slot = 0; slot < pieces_in_flight; ++slot) {
      full[slot].initialise(1);
      empty[slot].initialise(working_threads / 32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  const std::int64_t pieces = n / piece_values;
  T own = 0;
  if (thread == working_threads) {
    unsigned turn = 0;
    for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++turn) {
      const unsigned slot = turn % pieces_in_flight;
      if (turn >= pieces_in_flight) empty[slot].wait(turn / pieces_in_flight - 1);
      copy_in(reinterpret_cast<T*>(buffer + slot * piece_vectors), values + piece * piece_values,
              static_cast<int>(piece_values), full[slot]);
    }
  } else if (thread < working_threads) {
    unsigned turn = 0;
    for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++turn) {
      const unsigned slot = turn % pieces_in_flight;
      full[slot].wait(turn / pieces_in_flight);
      const vector* vectors = buffer + slot * piece_vectors + thread;
      T of_load[piece_loads];
#pragma unroll
      for (int k = 0; k < piece_loads; ++k)
        of_load[k] = reduction::combine_vector(vectors[k * working_threads], add);
      __syncwarp();
      if (thread % 32 == 0) empty[slot].arrive();
      own += (of_load[0] + of_load[1]) + (of_load[2] + of_load[3]);
    }
    for (std::int64_t i =
             pieces * piece_values + static_cast<std::int64_t>(blockIdx.x) * working_threads + thread;
         i < n; i += static_cast<std::int64_t>(gridDim.x) * working_threads) {
      own += values[i];
    }
  }
  own = block_reduce<bulk_block_threads>(own, add);
  if (thread == 0) sums[blockIdx.x] = own;
}

#endif

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
inline constexpr int most_block_sums = 1024 * reduction::share_blocks_per_multiprocessor;
inline constexpr std::size_t scratch_bytes = result_bytes + std::size_t{most_block_sums} * sizeof(double);

inline std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return scratch_bytes;
}

// Result `place` of a GPU's scratch memory.
template <class T>
T* result_of(const group_member& on, std::size_t place = 0) {
  return static_cast<T*>(on.scratch) + place;
}

// Enqueues the blocks' sums of n values, and gives their number; the device must be current.
template <class T>
int enqueue_block_sums(const T* values, std::int64_t n, T* sums, cudaStream_t stream) {
#if !LAB_EMULATED
  int device = 0;
  int major = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major >= 9) {
    const int blocks = reduction::blocks_for(n * std::int64_t{sizeof(T)}, piece_bytes, multiprocessors());
    lab::launch(bulk_sum_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(bulk_block_threads),
                std::size_t{piece_bytes} * pieces_in_flight, stream, values, n, sums);
    return blocks;
  }
#endif
  const int blocks = std::min(most_block_sums, reduction::share_blocks(n));
  lab::launch(block_sum_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0, stream,
              values, n, sums);
  return blocks;
}

// Enqueues the sum of n values; the device must be current. What the blocks leave behind is of no use to
// others on the same stream, and overwritten by the next.
template <class T>
void enqueue_sum(const T* values, std::int64_t n, const group_member& on, T* result) {
  const nvtx_range range("GPU " + std::to_string(on.device));
  T* const sums = reinterpret_cast<T*>(static_cast<unsigned char*>(on.scratch) + result_bytes);
  const int blocks = enqueue_block_sums(values, n, sums, on.stream);
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
