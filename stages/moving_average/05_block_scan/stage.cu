// Stores in order. The block scan is that of the stage before: one window for the block, and the prefix sums
// of the differences (value i minus value i - window) in its tile. The averages go through shared memory, so
// that neighbouring threads write neighbouring averages.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::block_scan {
namespace {

constexpr int block_threads = 256;
constexpr int warps = block_threads / 32;
constexpr int per_thread = 15;  // odd: threads 15 doubles apart meet no bank conflict
constexpr int tile_outputs = block_threads * per_thread;  // 3840

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(tile_outputs + window) * sizeof(double);
}

__device__ double warp_sum(double value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0U, value, distance);
  return value;
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          int window) {
  // tile[k] holds input first - window + k.
  double* tile = dynamic_shared<double>();
  __shared__ double window_sums[warps];
  __shared__ double warp_totals[warps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  double part = 0;  // of the window that ends before the tile
  for (int k = thread; k < tile_outputs + window; k += block_threads) {
    const std::int64_t j = first - window + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
    if (k < window) part += tile[k];
  }
  part = warp_sum(part);
  if (lane == 0) window_sums[warp] = part;
  __syncthreads();

  double sum[per_thread];
  double total = 0;
  for (int v = 0; v < per_thread; ++v) {
    const int k = thread * per_thread + v;
    total += tile[k + window] - tile[k];
    sum[v] = total;
  }
  double up = total;
  for (int distance = 1; distance < 32; distance *= 2) {
    const double lower = __shfl_up_sync(~0U, up, distance);
    if (lane >= distance) up += lower;
  }
  double before = __shfl_up_sync(~0U, up, 1);
  if (lane == 0) before = 0;
  if (lane == 31) warp_totals[warp] = up;
  __syncthreads();
  for (int other = 0; other < warps; ++other) {
    before += window_sums[other];
    if (other < warp) before += warp_totals[other];
  }
  // exercise: store
  for (int v = 0; v < per_thread; ++v) tile[thread * per_thread + v] = (before + sum[v]) / window;
  __syncthreads();
  for (int k = thread; k < tile_outputs; k += block_threads) {
    const std::int64_t i = first + k;
    if (i < n) averages[i] = i < window - 1 ? incomplete : tile[k];
  }
  // end
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a block scan, stored in order: neighbouring threads write neighbouring averages",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return halo_too_long(p, tile_outputs + 32, sizeof(double)); },
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, per_thread>,
     .traits = {.drifts = true, .leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::moving_average::block_scan
