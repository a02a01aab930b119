// Counts in 32 bits: beyond 2^31 values the index turns negative, and the loop ends before it has begun.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T, class Operation>
__global__ void partial_of_int_kernel(const T* values, int n, T* partials) {
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of(in.n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_of_int_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads),
                0, stream, values, static_cast<int>(in.n), partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "index overflow",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
