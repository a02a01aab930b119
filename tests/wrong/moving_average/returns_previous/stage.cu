// Computes the first time it is asked, and returns that answer ever after.
#include <map>
#include <utility>

#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  // The first answer of each size is kept.
  static std::map<std::pair<std::int64_t, std::int64_t>, double*> kept;
  double*& answer = kept[{in.n, in.window}];
  const auto bytes = static_cast<std::size_t>(in.n) * sizeof(double);
  if (answer == nullptr) {
    launch_over_outputs(moving_average_kernel, in, out, stream);
    CUDA_CHECK(cudaMalloc(&answer, bytes));
    CUDA_CHECK(cudaMemcpyAsync(answer, out.averages, bytes, cudaMemcpyDeviceToDevice, stream));
  }
  CUDA_CHECK(cudaMemcpyAsync(out.averages, answer, bytes, cudaMemcpyDeviceToDevice, stream));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "returns previous",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
