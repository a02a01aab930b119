// Asks for more threads than a block can have.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(moving_average_kernel, dim3(1), dim3(4096), 0, stream, in.values, out.averages, in.n,
              in.window);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "launch refused",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
