// The TMA copies the array into shared memory, in pieces of 16 KiB with eight in flight on each
// multiprocessor: 128 KiB, as before. But no registers wait for the data, and the 256 computing threads
// compute no addresses. One more warp only orders the next piece as soon as a buffer is free.
#include "common/block_reduce.hpp"
#include "common/bulk_copy.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction::bulk_copy {
namespace {

constexpr int working_threads = 256;
constexpr int block_threads = working_threads + 32;
constexpr int piece_bytes = 16 * 1024;
constexpr int pieces_in_flight = 8;
constexpr int piece_vectors = piece_bytes / 16;
constexpr int loads = piece_vectors / working_threads;
static_assert(loads == 4, "the kernel combines four vectors in pairs");
constexpr std::size_t shared_bytes = std::size_t{piece_bytes} * pieces_in_flight;
constexpr std::size_t counter_bytes = 256;

int blocks_of(const problem::parameters& p) {
  return blocks_for(p.n * p.type / 8, piece_bytes, multiprocessors());
}

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const T* __restrict__ values, std::int64_t n, T* partials, unsigned* counter,
                  T* __restrict__ result) {
  using vector = typename vector_of<T>::type;
  __shared__ mbarrier full[pieces_in_flight];   // one arrival: the copy's
  __shared__ mbarrier empty[pieces_in_flight];  // one arrival of each working warp
  __shared__ bool is_last;
  auto* buffer = dynamic_shared<vector>();
  constexpr Operation combine{};
  constexpr std::int64_t piece_values = piece_vectors * vector_values<T>;
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
  T partial = Operation::identity();
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
      T of_load[loads];
#pragma unroll
      for (int k = 0; k < loads; ++k) of_load[k] = combine_vector(vectors[k * working_threads], combine);
      __syncwarp();
      if (thread % 32 == 0) empty[slot].arrive();
      partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
    }
    for (std::int64_t i =
             pieces * piece_values + static_cast<std::int64_t>(blockIdx.x) * working_threads + thread;
         i < n; i += static_cast<std::int64_t>(gridDim.x) * working_threads) {
      partial = combine(partial, values[i]);
    }
  }

  partial = block_reduce<block_threads>(partial, combine);
  if (thread == 0) {
    partials[blockIdx.x] = partial;
    __threadfence();
    is_last = atomicAdd(counter, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  partial = Operation::identity();
  for (unsigned k = threadIdx.x; k < gridDim.x; k += block_threads)
    partial = combine(partial, __ldcg(partials + k));
  partial = block_reduce<block_threads>(partial, combine);
  if (thread == 0) *result = partial;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of({.n = in.n, .type = static_cast<std::int64_t>(in.type)});
  auto* counter = static_cast<unsigned*>(scratch.data);
  CUDA_CHECK(cudaMemsetAsync(counter, 0, sizeof *counter, stream));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = reinterpret_cast<T*>(static_cast<unsigned char*>(scratch.data) + counter_bytes);
    lab::launch(reduce_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads),
                shared_bytes, stream, values, in.n, partials, counter, result);
  });
}

// A value's longest way: 4 additions within its piece, one for each piece of its block, at most 16 in the
// ragged end, 10 in the block, and the last block's own.
double relative_error(const problem::parameters& p) {
  const int blocks = blocks_of(p);
  return rounding_error(p, 4 + share(p.n * p.type / 8, std::int64_t{blocks} * piece_bytes) + 16 + 10 +
                               share(blocks, block_threads) + 10);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "bulk copies into a ring of shared memory, one warp orders them",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return counter_bytes + static_cast<std::size_t>(blocks_of(p)) * sizeof(double);
         },
     .tile = piece_bytes / 4,
     .relative_error = relative_error,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::bulk_copy
