// Enqueues its work on a stream of its own.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static cudaStream_t mine = nullptr;
  if (mine == nullptr) CUDA_CHECK(cudaStreamCreate(&mine));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  launch_over_outputs(moving_average_kernel, in, out, mine);
  CUDA_CHECK(cudaStreamSynchronize(mine));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "own stream",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
