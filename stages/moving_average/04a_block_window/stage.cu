// One window for a block. Output i is output i - 1 plus (value i minus value i - window), so the outputs of a
// tile are running sums of these differences, added to the sum of one whole window before the tile. All
// threads share that sum. Each adds up its own differences, and then the totals of the threads before it, one
// after another. The work per output no longer grows with the window; only the halo does.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::block_window {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 15;  // odd: threads 15 doubles apart meet no bank conflict
constexpr int tile_outputs = block_threads * per_thread;  // 3840

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(tile_outputs + window) * sizeof(double);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          int window) {
  // tile[k] holds input first - window + k.
  double* tile = dynamic_shared<double>();
  __shared__ double window_parts[block_threads];
  __shared__ double totals[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  double part = 0;  // of the window that ends before the tile
  for (int k = thread; k < tile_outputs + window; k += block_threads) {
    const std::int64_t j = first - window + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
    if (k < window) part += tile[k];
  }
  window_parts[thread] = part;
  __syncthreads();

  // exercise: differences
  double sum[per_thread];
  double total = 0;
  for (int v = 0; v < per_thread; ++v) {
    const int k = thread * per_thread + v;
    total += tile[k + window] - tile[k];
    sum[v] = total;
  }
  totals[thread] = total;
  __syncthreads();
  double before = 0;
  for (int other = 0; other < block_threads; ++other) {
    before += window_parts[other];
    if (other < thread) before += totals[other];
  }
  // end
  for (int v = 0; v < per_thread; ++v) {
    const std::int64_t i = first + thread * per_thread + v;
    if (i < n) averages[i] = i < window - 1 ? incomplete : (before + sum[v]) / window;
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one window for a block: work per output no longer grows with the window",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) {
           return halo_too_long(p, tile_outputs + 2 * block_threads, sizeof(double));
         },
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, per_thread>,
     .traits = {.drifts = true, .leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::moving_average::block_window
