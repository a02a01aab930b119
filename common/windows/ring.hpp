// The portable window kernel: a block streams one long stripe of the array, and the suffixes of the last
// window stay in a ring in shared memory, so that every value is read once and scanned once. The next tile is
// read into registers while the current one is computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/windows/suffix_prefix.hpp"

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED

template <class Operation>
struct ring {
  static constexpr int block_threads = 256;
  static constexpr int per_thread = 7;
  using scans = suffix_prefix<Operation, block_threads, per_thread>;
  using state = typename Operation::state;
  static constexpr int tile = scans::tile;  // 1792 values

  // The halo's tiles and the current one, its results, and the totals that warps exchange.
  static constexpr std::size_t shared_bytes(std::int64_t window) {
    return static_cast<std::size_t>(scans::halo_tiles(window) + 1) * tile * sizeof(state) +
           tile * sizeof(double) + sizeof(typename scans::exchange);
  }

  // Why the current device's shared memory does not hold the window; empty when it does.
  static std::string too_long(std::int64_t window) { return tiles_too_long<scans>(window, 2); }

  // One block; `stripe_tiles` tiles belong to it.
  static __device__ void run(const double* __restrict__ values, double* __restrict__ results, std::int64_t n,
                             int window, int min_periods, int segment_threads, int halo_tiles,
                             std::int64_t stripe_tiles, const Operation& operation) {
    const int slots = halo_tiles + 1;
    state* suffixes = dynamic_shared<state>();
    auto* finished = reinterpret_cast<double*>(suffixes + slots * tile);
    auto& others = *reinterpret_cast<typename scans::exchange*>(finished + tile);
    const int thread = static_cast<int>(threadIdx.x);
    for (int k = thread; k < scans::exchange::states; k += block_threads)
      others.begin()[k] = operation.identity();
    const scans scan(operation, window, segment_threads, thread);
    const std::int64_t begin = blockIdx.x * stripe_tiles * tile;
    const std::int64_t end = begin + stripe_tiles * tile < n ? begin + stripe_tiles * tile : n;

    state next[per_thread];
    const auto read = [&](std::int64_t start) {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) {
        const std::int64_t j = start + v * block_threads + thread;
        next[v] = j >= 0 && j < end ? operation.lift(values[j]) : operation.identity();
      }
    };
    int slot = 0;
    std::int64_t start = begin - static_cast<std::int64_t>(halo_tiles) * tile;
    read(start);
    for (; start < end; start += tile) {
      state* here = suffixes + slot * tile;
#pragma unroll
      for (int v = 0; v < per_thread; ++v) here[v * block_threads + thread] = next[v];
      read(start + tile);
      __syncthreads();
      state own[per_thread];
      for (int v = 0; v < per_thread; ++v) own[v] = here[scan.first + v];
      if (scan.is_short()) {
        // Tiles before `begin` are the halo: they have no outputs.
        if (start >= begin) {
          scan.combine_short(
              own, [suffixes](int place, int) { return suffixes[place]; }, slots * tile, slot * tile);
        }
      } else {
        scan.scan(own, here, others, [] { __syncthreads(); });
        __syncthreads();
        if (start >= begin) scan.complete(own, suffixes, slots * tile, slot * tile);
      }
#pragma unroll
      for (int v = 0; v < per_thread; ++v)
        finished[scan.first + v] =
            window_result(operation, own[v], start + scan.first + v, window, min_periods);
      __syncthreads();
      if (start >= begin) {
        for (int v = 0; v < per_thread; ++v) {
          const std::int64_t i = start + v * block_threads + thread;
          if (i < n) results[i] = finished[v * block_threads + thread];
        }
      }
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
  }
};

template <class Operation>
__global__ void __launch_bounds__(ring<Operation>::block_threads)
    ring_kernel(const double* __restrict__ values, double* __restrict__ results, std::int64_t n, int window,
                int min_periods, int segment_threads, int halo_tiles, std::int64_t stripe_tiles,
                Operation operation) {
  ring<Operation>::run(values, results, n, window, min_periods, segment_threads, halo_tiles, stripe_tiles,
                       operation);
}

// Reduces every window of n values in device memory; `window` is at most n + 1, and one that fits.
template <class Operation>
void launch_ring(const Operation& operation, const double* values, double* results, std::int64_t n,
                 std::int64_t window, std::int64_t min_periods, cudaStream_t stream) {
  using made = ring<Operation>;
  if (n == 0) return;
  // As many stripes as blocks are resident at once, by shared memory (of which the system takes 1 KiB for
  // each) and at most three.
  int device = 0;
  int shared_limit = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::size_t bytes = made::shared_bytes(window);
  const int resident = std::clamp(shared_limit / static_cast<int>(bytes + 1024), 1, 3);
  const std::int64_t stripes = std::int64_t{multiprocessors()} * resident;
  const std::int64_t tiles = (n + made::tile - 1) / made::tile;
  const std::int64_t stripe_tiles = (tiles + stripes - 1) / stripes;
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  lab::launch(ring_kernel<Operation>, dim3(blocks), dim3(made::block_threads), bytes, stream, values, results,
              n, window, min_periods, made::scans::choose_segment(window), made::scans::halo_tiles(window),
              stripe_tiles, operation);
}

#endif

}  // namespace lab::windows
