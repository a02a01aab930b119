// Lacks a barrier: right as long as the threads of a block run first to last.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T, class Operation>
__global__ void last_thread_kernel(const T* values, std::int64_t n, T* result) {
  __shared__ T partials[block_threads];
  constexpr Operation combine{};
  partials[threadIdx.x] = combine_share<T, Operation>(values, n);
  if (threadIdx.x != block_threads - 1) return;
  T all = Operation::identity();
  for (int k = 0; k < block_threads; ++k) all = combine(all, partials[k]);
  *result = all;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(last_thread_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n,
                result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one order only",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
