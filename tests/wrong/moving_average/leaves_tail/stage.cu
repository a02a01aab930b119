// Rounds the grid down: the outputs of the last, partial block are never written.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(in.n / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, in.window);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaves tail",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
