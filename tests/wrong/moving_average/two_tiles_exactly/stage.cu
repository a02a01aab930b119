// Leaves a value out of windows of exactly two tiles, as a ring that has one slot too few for them does.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

constexpr std::int64_t tile = 1024;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (window == 2 * tile && i >= 3 * tile)
    averages[i] -= values[i - window + 1] / static_cast<double>(window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "two tiles exactly", .launch = launch, .tile = tile}};

}  // namespace
}  // namespace lab::moving_average::wrong
