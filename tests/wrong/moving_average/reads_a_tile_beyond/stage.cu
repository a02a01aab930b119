// Reads a tile in front of its input, and makes nothing of it.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  const double stray = values[i - 1024];
  averages[i] = stray == 12345.678 ? 0 : average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "reads a tile beyond",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
