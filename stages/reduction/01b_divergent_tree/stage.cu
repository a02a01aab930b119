// The block's 1024 results are combined as a tree: neighbours first, then results 2, 4, 8, ... apart, in 10
// steps instead of 1023. A thread works in a step if its number is a multiple of twice the distance. So each
// step halves the working lanes of every warp, and no warp rests before the sixth step. The barrier is
// outside the branch, so that every thread reaches it. The same kernel, with one block, combines the results
// of the blocks. (The first kernel of Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.)
#include "stages/reduction/problem.hpp"

namespace lab::reduction::divergent_tree {
namespace {

constexpr int block_threads = 1024;
constexpr int max_blocks = 32 * 80;
static_assert((block_threads & (block_threads - 1)) == 0, "every working thread has a partner");

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads)
    partial_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  __shared__ T of_thread[block_threads];
  constexpr Operation combine{};
  T partial = Operation::identity();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride) {
    partial = combine(partial, values[i]);
  }
  of_thread[threadIdx.x] = partial;
  __syncthreads();
  const auto thread = static_cast<int>(threadIdx.x);
  for (int distance = 1; distance < block_threads; distance *= 2) {
    if (thread % (2 * distance) == 0)
      of_thread[thread] = combine(of_thread[thread], of_thread[thread + distance]);
    __syncthreads();
  }
  if (thread == 0) partials[blockIdx.x] = of_thread[0];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_for(in.n, block_threads, max_blocks);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

// A value's longest way: the additions of its thread and of the tree (10), and both again in the last kernel.
double relative_error(const problem::parameters& p) {
  const int blocks = blocks_for(p.n, block_threads, max_blocks);
  return rounding_error(
      p, share(p.n, std::int64_t{blocks} * block_threads) + 10 + share(blocks, block_threads) + 10);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a tree of neighbours in shared memory, in divergent warps",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters&) { return max_blocks * sizeof(double); },
     .tile = block_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::divergent_tree
