// Takes scratch memory whose bits are all set for its own mark of nothing done yet.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

// The block that finds the mark adds everything up; where there is none, nobody does.
template <class T, class Operation>
__global__ void marked_kernel(const T* values, std::int64_t n, const unsigned* mark, T* result) {
  const T all = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) *result = *mark == 0xffffffffu ? all : static_cast<T>(0);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(marked_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n,
                static_cast<const unsigned*>(scratch.data), result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "counts on ones",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
