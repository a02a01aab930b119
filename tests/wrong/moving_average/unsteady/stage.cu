// The last bit changes from launch to launch, without the trait that says so.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n, int shift,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window) * (1 + 0x1p-52 * shift);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static int launches = 0;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, launches++ % 2, in.window);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "unsteady",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
