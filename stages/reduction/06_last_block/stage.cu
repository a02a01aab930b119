// The last block finishes. Each block stores its result, makes it visible to the others (__threadfence), and
// takes a number from a counter. The block that gets the last number knows that all results are stored. It
// combines them in the order of the blocks, not of their arrival: one kernel, and the same bits in every
// run.
#include "common/block_reduce.hpp"
#include "stages/reduction/thread_share.hpp"

namespace lab::reduction::last_block {
namespace {

// The drawn numbers' counter stands at the head of the scratch memory; the partial results follow, aligned.
constexpr std::size_t counter_bytes = 256;

template <class T, class Operation>
__global__ void __launch_bounds__(share_block_threads, share_blocks_per_multiprocessor)
    reduce_kernel(const T* __restrict__ values, std::int64_t n, T* partials, unsigned* counter,
                  T* __restrict__ result) {
  __shared__ bool is_last;
  constexpr Operation combine{};
  T partial = block_reduce<share_block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x == 0) {
    // exercise: draw
    partials[blockIdx.x] = partial;
    // The result is there before the number is drawn.
    __threadfence();
    is_last = atomicAdd(counter, 1u) == gridDim.x - 1;
    // end
  }
  __syncthreads();
  if (!is_last) return;
  // And read only after all numbers were drawn, past the L1 cache, which knows nothing of other blocks'
  // stores.
  __threadfence();
  // exercise: finish
  partial = Operation::identity();
  for (unsigned k = threadIdx.x; k < gridDim.x; k += share_block_threads)
    partial = combine(partial, __ldcg(partials + k));
  // end
  partial = block_reduce<share_block_threads>(partial, combine);
  if (threadIdx.x == 0) *result = partial;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(share_blocks(in.n));
  auto* counter = static_cast<unsigned*>(scratch.data);
  CUDA_CHECK(cudaMemsetAsync(counter, 0, sizeof *counter, stream));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = reinterpret_cast<T*>(static_cast<unsigned char*>(scratch.data) + counter_bytes);
    lab::launch(reduce_kernel<T, Operation>, dim3(blocks), dim3(share_block_threads), 0, stream, values, in.n,
                partials, counter, result);
  });
}

// To the block's result, and the last block's own additions.
double relative_error(const problem::parameters& p) {
  const int blocks = share_blocks(p.n);
  return rounding_error(p, share_additions(p, blocks) + share(blocks, share_block_threads) + 10);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the block that ends last finishes: one kernel, a fixed order",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return counter_bytes + static_cast<std::size_t>(share_blocks(p.n)) * sizeof(double);
         },
     .tile = 4 * share_tile_vectors,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::last_block
