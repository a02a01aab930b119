// Each block goes through one long stripe. The suffix sums of the last window stay in a ring in shared
// memory, so every value is read once and scanned once. The next tile is loaded into registers while the
// current one is computed.
#include <algorithm>

#include "common/windows/suffix_prefix.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::ring {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 7;
using window_sums = windows::suffix_prefix<windows::total, block_threads, per_thread>;
constexpr int tile = window_sums::tile;  // 1792 values = 14 KiB

// The halo's tiles and the current one, its results, and the totals that warps exchange.
constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(window_sums::halo_tiles(window) + 2) * tile * sizeof(double) +
         sizeof(window_sums::exchange);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          int window, int segment_threads, int halo_tiles, std::int64_t stripe_tiles) {
  const int slots = halo_tiles + 1;
  double* ring = dynamic_shared<double>();
  double* results = ring + slots * tile;
  auto& others = *reinterpret_cast<window_sums::exchange*>(results + tile);
  const int thread = static_cast<int>(threadIdx.x);
  for (unsigned i = threadIdx.x; i < sizeof(others) / sizeof(double); i += block_threads) {
    reinterpret_cast<double*>(&others)[i] = 0;
  }
  const window_sums sums(windows::total{}, window, segment_threads, thread);
  const double scale = 1.0 / window;
  const std::int64_t begin = blockIdx.x * stripe_tiles * tile;
  const std::int64_t end = begin + stripe_tiles * tile < n ? begin + stripe_tiles * tile : n;

  double next[per_thread];
  const auto read = [&](std::int64_t start) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const std::int64_t j = start + v * block_threads + thread;
      next[v] = j >= 0 && j < end ? values[j] : 0.0;
    }
  };
  int slot = 0;
  std::int64_t start = begin - static_cast<std::int64_t>(halo_tiles) * tile;
  read(start);
  for (; start < end; start += tile) {
    // exercise: ahead
    double* values_here = ring + slot * tile;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) values_here[v * block_threads + thread] = next[v];
    read(start + tile);
    __syncthreads();
    // end
    double sum[per_thread] = {};
    if (sums.is_short()) {
      // Tiles before `begin` are the halo: they have no outputs.
      if (start >= begin) {
        sums.combine_short(
            sum, [ring](int place, int) { return ring[place]; }, slots * tile, slot * tile);
      }
    } else {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) sum[v] = values_here[sums.first + v];
      sums.scan(sum, values_here, others, [] { __syncthreads(); });
      __syncthreads();
      if (start >= begin) sums.complete(sum, ring, slots * tile, slot * tile);
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) results[sums.first + v] = sum[v] * scale;
    __syncthreads();
    if (start >= begin) {
      for (int v = 0; v < per_thread; ++v) {
        const std::int64_t i = start + v * block_threads + thread;
        if (i < n) averages[i] = i < window - 1 ? incomplete : results[v * block_threads + thread];
      }
    }
    // exercise: turn
    slot = slot + 1 == slots ? 0 : slot + 1;
    // end
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  // As many stripes as blocks are resident at once: a block may use nearly all of a processor's shared
  // memory, 1 KiB of which the system takes for each, and 80 registers a thread leave room for three blocks.
  int shared_limit = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int resident = std::clamp(shared_limit / static_cast<int>(shared_bytes(in.window) + 1024), 1, 3);
  const std::int64_t tiles = (in.n + tile - 1) / tile;
  const std::int64_t stripe_tiles = (tiles + multiprocessors * resident - 1) / (multiprocessors * resident);
  if (tiles == 0) return;
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window, window_sums::choose_segment(in.window),
              window_sums::halo_tiles(in.window), stripe_tiles);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one long stripe per block; the last window's suffix sums stay in a ring",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return windows::tiles_too_long<window_sums>(p.window, 2); },
     .tile = tile}};

}  // namespace
}  // namespace lab::moving_average::ring
