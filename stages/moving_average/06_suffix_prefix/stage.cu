// Sums without subtraction: a window is the suffix of one segment, whole segments, and the prefix of another.
// Errors do not add up, and a NaN affects only the windows that contain it. The block also scans the tiles of
// its halo, in both directions, so the cost grows with the window again. The next stage keeps those scans.
#include "common/windows/suffix_prefix.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::suffix_and_prefix {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 7;  // odd: threads 7 doubles apart meet no bank conflict
using window_sums = windows::suffix_prefix<windows::total, block_threads, per_thread>;
constexpr int tile = window_sums::tile;  // 1792 values

// The halo's tiles and the block's own, and the totals that warps exchange.
constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(window_sums::halo_tiles(window) + 1) * tile * sizeof(double) +
         sizeof(window_sums::exchange);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          int window, int segment_threads, int halo_tiles) {
  // tiles[k] holds input first - halo_tiles * tile + k, later its suffix sum.
  double* tiles = dynamic_shared<double>();
  const int count = (halo_tiles + 1) * tile;
  auto& others = *reinterpret_cast<window_sums::exchange*>(tiles + count);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (unsigned i = threadIdx.x; i < sizeof(others) / sizeof(double); i += block_threads) {
    reinterpret_cast<double*>(&others)[i] = 0;
  }
  for (int k = thread; k < count; k += block_threads) {
    const std::int64_t j = first + tile - count + k;
    tiles[k] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();

  const window_sums sums(windows::total{}, window, segment_threads, thread);
  double sum[per_thread];
  if (sums.is_short()) {
    sums.combine_short(
        sum, [tiles](int place, int) { return tiles[place]; }, count, count - tile);
  } else {
    // exercise: scans
    for (int k = 0; k < count; k += tile) {
      for (int v = 0; v < per_thread; ++v) sum[v] = tiles[k + sums.first + v];
      sums.scan(sum, tiles + k, others, [] { __syncthreads(); });
      __syncthreads();
    }
    sums.complete(sum, tiles, count, count - tile);
    // end
  }
  // Through shared memory, so that neighbouring threads write neighbouring averages.
  __syncthreads();
  double* results = tiles + count - tile;
  for (int v = 0; v < per_thread; ++v) results[sums.first + v] = sum[v] / window;
  __syncthreads();
  for (int k = thread; k < tile; k += block_threads) {
    const std::int64_t i = first + k;
    if (i < n) averages[i] = i < window - 1 ? incomplete : results[k];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile - 1) / tile);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window, window_sums::choose_segment(in.window),
              window_sums::halo_tiles(in.window));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "suffix and prefix sums of segments: no subtraction, no drift, no leak",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return windows::tiles_too_long<window_sums>(p.window, 1); },
     .tile = tile,
     .owner_of = consecutive_owner<tile, per_thread>}};

}  // namespace
}  // namespace lab::moving_average::suffix_and_prefix
