// The block first copies its tile, and the halo of window - 1 inputs before it, into shared memory. Then
// every thread adds up its window from there. For each output, (block_threads + window - 1) / block_threads
// values are read from global memory.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::shared_memory {
namespace {

constexpr int block_threads = 128;

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(block_threads + window - 1) * sizeof(double);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          std::int64_t window) {
  // tile[k] holds input first - halo + k.
  double* tile = dynamic_shared<double>();
  const std::int64_t halo = window - 1;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;
  // exercise: load
  for (std::int64_t k = threadIdx.x; k < block_threads + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();
  // end

  const std::int64_t i = first + threadIdx.x;
  if (i >= n) return;
  if (i < halo) {
    averages[i] = incomplete;
    return;
  }
  double sum = 0;
  for (std::int64_t k = threadIdx.x; k <= threadIdx.x + halo; ++k) sum += tile[k];
  averages[i] = sum / static_cast<double>(window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the block's tile and its halo are read once, into shared memory",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return halo_too_long(p, block_threads, sizeof(double)); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::shared_memory
