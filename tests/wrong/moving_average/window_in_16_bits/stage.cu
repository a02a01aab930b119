// Keeps 16 bits of the window.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

constexpr std::int64_t tile = block_threads;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = i < window - 1 ? incomplete : average(values, i, (window - 1) % 65'536 + 1);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a window of 16 bits", .launch = launch, .tile = tile}};

}  // namespace
}  // namespace lab::moving_average::wrong
