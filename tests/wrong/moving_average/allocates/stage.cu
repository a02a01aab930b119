// Allocates in its launch, and gives back.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  double* unused = nullptr;
  CUDA_CHECK(cudaMallocAsync(&unused, 1024, stream));
  launch_over_outputs(moving_average_kernel, in, out, stream);
  CUDA_CHECK(cudaFreeAsync(unused, stream));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "allocates",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
