// One thread computes one output: it reads its whole window from global memory and adds it up. Every input is
// read `window` times, by as many threads; only the caches keep these reads from the memory.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::naive {
namespace {

constexpr int block_threads = 128;

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          std::int64_t window) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  if (i < window - 1) {
    averages[i] = incomplete;
    return;
  }
  // exercise: sum
  double sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j];
  averages[i] = sum / static_cast<double>(window);
  // end
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, in.window);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one thread per output, the whole window from global memory",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::naive
