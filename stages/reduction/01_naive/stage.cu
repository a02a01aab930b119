// Each thread combines every (grid size)th value and writes its result to shared memory. There one thread
// combines the results of the block one after another, while the other 1023 wait. A single thread combines
// the results of the blocks in the same way.
#include "stages/reduction/problem.hpp"

namespace lab::reduction::naive {
namespace {

constexpr int block_threads = 1024;
constexpr int max_blocks = 32 * 80;  // a multiple of the multiprocessors of many devices, 80 among them

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
  // exercise: block
  if (threadIdx.x > 0) return;
  for (int k = 1; k < block_threads; ++k) partial = combine(partial, of_thread[k]);
  partials[blockIdx.x] = partial;
  // end
}

template <class T, class Operation>
__global__ void finish_kernel(const T* __restrict__ partials, int count, T* __restrict__ result) {
  constexpr Operation combine{};
  T total = partials[0];
  for (int k = 1; k < count; ++k) total = combine(total, partials[k]);
  *result = total;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_for(in.n, block_threads, max_blocks);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(finish_kernel<T, Operation>, dim3(1), dim3(1), 0, stream, partials, blocks, result);
  });
}

// A value's longest way: the additions of its thread, of thread 0, and of the last kernel.
double relative_error(const problem::parameters& p) {
  const int blocks = blocks_for(p.n, block_threads, max_blocks);
  return rounding_error(p, share(p.n, std::int64_t{blocks} * block_threads) + block_threads + blocks);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "grid-stride partial sums; one thread adds up the block's",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters&) { return max_blocks * sizeof(double); },
     .tile = block_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::naive
