// Each thread computes 48 consecutive outputs. It adds up the first window in full. For each further output
// it adds the value that enters and subtracts the value that leaves. So 47 of 48 sums cost two additions
// instead of `window`.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::thread_tiled {
namespace {

constexpr int block_threads = 64;
constexpr int thread_outputs = 48;
constexpr int tile_outputs = block_threads * thread_outputs;  // 3072

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(tile_outputs + window - 1) * sizeof(double);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          std::int64_t window) {
  // tile[k] holds input first - halo + k; the outputs of the block begin at `first`.
  double* tile = dynamic_shared<double>();
  const std::int64_t halo = window - 1;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  for (std::int64_t k = threadIdx.x; k < tile_outputs + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();

  const auto count = static_cast<double>(window);
  double sum = 0;
  bool summed = false;
  for (int output = 0; output < thread_outputs; ++output) {
    const std::int64_t place = static_cast<std::int64_t>(threadIdx.x) * thread_outputs + output;
    const std::int64_t i = first + place;
    if (i >= n) return;
    if (i < halo) {
      averages[i] = incomplete;
      continue;
    }
    // exercise: update
    if (summed) {
      sum += tile[place + halo] - tile[place - 1];
    } else {
      for (std::int64_t k = place; k <= place + halo; ++k) sum += tile[k];
      summed = true;
    }
    // end
    averages[i] = sum / count;
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "48 consecutive outputs per thread: one whole sum, 47 updates",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return halo_too_long(p, tile_outputs, sizeof(double)); },
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, thread_outputs>,
     .traits = {.drifts = true, .leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::moving_average::thread_tiled
