// Running sums of differences along a thread's outputs, without the trait that says so.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  constexpr int thread_outputs = 32;
  double sum = 0;
  for (std::int64_t k = i * thread_outputs; k < n && k < (i + 1) * thread_outputs; ++k) {
    if (k < window - 1) {
      averages[k] = incomplete;
      continue;
    }
    const bool first = k == i * thread_outputs || k == window - 1;
    sum = first ? average(values, k, window) * static_cast<double>(window)
                : sum + values[k] - values[k - window];
    averages[k] = sum / static_cast<double>(window);
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "undeclared drift",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
