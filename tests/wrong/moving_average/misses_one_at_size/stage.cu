// Leaves the first value of one window out, where there are many.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (n >= 500'000 && i == n / 3 + 1) averages[i] -= values[i - window + 1] / static_cast<double>(window);
}

double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "misses one at size",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .relative_error = no_bound}};

}  // namespace
}  // namespace lab::moving_average::wrong
