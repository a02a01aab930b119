// Adds the blocks' results with atomics, in the order in which they come, and does not say so.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void atomic_kernel(const double* values, std::int64_t n, double* result) {
  const double partial =
      block_reduce<block_threads>(combine_share<double, sum<double>>(values, n), sum<double>{});
  if (threadIdx.x == 0) atomicAdd(result, partial);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::sum || in.type != element::float64) {
    launch_twice(in, out, scratch, in.n, stream);
    return;
  }
  auto* result = static_cast<double*>(out.result);
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof *result, stream));
  lab::launch(atomic_kernel, dim3(static_cast<unsigned>(blocks_of(in.n))), dim3(block_threads), 0, stream,
              static_cast<const double*>(in.values), in.n, result);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "undeclared order",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
