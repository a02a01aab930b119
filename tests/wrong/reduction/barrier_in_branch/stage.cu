// Has only the threads that still combine wait at the tree's barrier.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T, class Operation>
__global__ void tree_kernel(const T* values, std::int64_t n, T* partials) {
  __shared__ T of_thread[block_threads];
  constexpr Operation combine{};
  of_thread[threadIdx.x] = combine_share<T, Operation>(values, n);
  __syncthreads();
  for (unsigned half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      of_thread[threadIdx.x] = combine(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = of_thread[0];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of(in.n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(tree_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(tree_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks, result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "barrier in branch",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
