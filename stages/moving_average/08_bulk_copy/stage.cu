// Copies leave the computing threads: one thread fills the ring by bulk copies, several tiles ahead, and
// another copies results out. A bulk copy is one instruction for a whole tile; it needs no registers while it
// is under way, writes shared memory itself, and arrives at a barrier there when its bytes have landed.
#include <algorithm>

#include "common/bulk_copy.hpp"
#include "stages/moving_average/problem.hpp"
#include "stages/moving_average/suffix_prefix.hpp"

namespace lab::moving_average::bulk_copy {
namespace {

constexpr int compute_threads = 256;
constexpr int per_thread = 7;
using window_sums = suffix_prefix<compute_threads, per_thread>;
constexpr int tile = window_sums::tile;              // 1792 values = 14 KiB
constexpr int block_threads = compute_threads + 64;  // two more warps issue the copies
constexpr int slots = 15;     // of the ring: 210 KiB, and 14 KiB for results, of 227 KiB
constexpr int min_ahead = 4;  // tiles that arrive or wait, at the longest window
constexpr int max_ahead = 5;  // more in flight only scatters the accesses
constexpr int longest_halo = slots - 1 - min_ahead;
constexpr std::int64_t longest_window = std::int64_t{longest_halo} * tile + 1;  // 17 921
static_assert(tile % 2 == 0, "bulk copies move multiples of 16 bytes");

#if !LAB_EMULATED
enum class tile_kind { stop, halo, results };

struct shared_state {
  double ring[slots * tile];  // values as they arrive, then suffix sums
  double results[tile];
  window_sums::exchange others;
  std::int64_t start[slots];  // input index of the tile's first value
  tile_kind kind[slots];
  mbarrier arrived[slots], computed[slots], drained;
};

// The loading thread: copies the tiles of the block's stripe in, `ahead` of the computation.
__device__ void load_tiles(shared_state& shared, const double* values, std::int64_t n, int window,
                           int halo_tiles, int ahead, std::int64_t stripe_tiles) {
  const std::int64_t begin = blockIdx.x * stripe_tiles * tile;
  std::int64_t step = -halo_tiles;
  int load_slot = 0;
  const auto load_next = [&] {
    const std::int64_t start = begin + step * tile;
    const bool more = step < stripe_tiles && start < n;
    shared.start[load_slot] = start;
    shared.kind[load_slot] = !more ? tile_kind::stop : step < 0 ? tile_kind::halo : tile_kind::results;
    // Of the halo only what the first window reaches, from an even index; an odd last value is read by its
    // thread.
    const std::int64_t from = max(start, max(begin - (window - 1), std::int64_t{0}) / 2 * 2);
    const auto count = static_cast<int>(min(start + tile, n) / 2 * 2 - from);
    if (more && count > 0) {
      copy_in(shared.ring + load_slot * tile + (from - start), values + from, count,
              shared.arrived[load_slot]);
    } else {
      shared.arrived[load_slot].arrive();
    }
    load_slot = load_slot + 1 == slots ? 0 : load_slot + 1;
    ++step;
  };
  for (int i = 0; i <= ahead; ++i) load_next();
  unsigned phase = 0;
  for (int slot = 0; shared.kind[slot] != tile_kind::stop;) {
    shared.computed[slot].wait(phase);
    load_next();  // over the tile that has left every window with this one
    if (++slot == slots) slot = 0, ++phase;
  }
}

// The storing thread: copies results out. Their one buffer is free again before the next tile fills it.
__device__ void store_tiles(shared_state& shared, double* averages, std::int64_t n) {
  int slot = 0;
  unsigned phase = 0;
  for (;;) {
    shared.arrived[slot].wait(phase);
    if (shared.kind[slot] == tile_kind::stop) break;
    const bool results = shared.kind[slot] == tile_kind::results;
    const std::int64_t start = shared.start[slot];
    shared.computed[slot].wait(phase);
    const int count = static_cast<int>(min(std::int64_t{tile}, n - start)) / 2 * 2;
    if (results && count > 0) copy_out(averages + start, shared.results, count);
    commit_group();
    wait_group_read<0>();
    shared.drained.arrive();
    if (++slot == slots) slot = 0, ++phase;
  }
}

__global__ void __launch_bounds__(block_threads, 1)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          int window, int segment_threads, int halo_tiles, int ahead,
                          std::int64_t stripe_tiles) {
  shared_state& shared = *dynamic_shared<shared_state>();
  for (unsigned i = threadIdx.x; i < sizeof(shared.others) / sizeof(double); i += block_threads) {
    reinterpret_cast<double*>(&shared.others)[i] = 0;
  }
  if (threadIdx.x == 0) {
    for (mbarrier& barrier : shared.arrived) barrier.initialise(1);
    for (mbarrier& barrier : shared.computed) barrier.initialise(compute_threads);
    shared.drained.initialise(1);
    fence_mbarrier_init();
  }
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= compute_threads) {
    if (thread == compute_threads) load_tiles(shared, values, n, window, halo_tiles, ahead, stripe_tiles);
    if (thread == compute_threads + 32) store_tiles(shared, averages, n);
    return;
  }

  const window_sums sums(window, segment_threads, thread);
  const auto compute_barrier = [] { named_barrier(1, compute_threads); };
  const double scale = 1.0 / window;
  int slot = 0;
  unsigned phase = 0;
  for (unsigned t = 0;; ++t) {
    shared.arrived[slot].wait(phase);
    const tile_kind kind = shared.kind[slot];
    if (kind == tile_kind::stop) break;
    const std::int64_t start = shared.start[slot];
    double* const values_here = shared.ring + slot * tile;
    if (start + tile >= n && n % 2 != 0) {
      if (thread == static_cast<int>(n - 1 - start) / per_thread) values_here[n - 1 - start] = values[n - 1];
      compute_barrier();
    }
    double sum[per_thread];
    if (sums.adds_up()) {
      sums.add_up(sum, shared.ring, slots * tile, slot * tile);
    } else {
      sums.scan(values_here, sum, shared.others, compute_barrier);
      compute_barrier();
      if (kind == tile_kind::results) sums.complete(sum, shared.ring, slots * tile, slot * tile);
    }
    if (t > 0) shared.drained.wait(t - 1);
    if (kind == tile_kind::results) {
      double* const results = shared.results + sums.first;
#pragma unroll
      for (int v = 0; v < per_thread; ++v) results[v] = sum[v] * scale;
      if (start < window - 1 || start + tile >= n) {
        for (int v = 0; v < per_thread; ++v) {
          const std::int64_t i = start + sums.first + v;
          if (i < window - 1) results[v] = incomplete;
          if (i == n - 1) averages[i] = results[v];  // for an odd n, whose last value no bulk copy moves
        }
      }
    }
    fence_proxy_async();
    shared.computed[slot].arrive();
    if (++slot == slots) slot = 0, ++phase;
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const int halo_tiles = window_sums::halo_tiles(in.window);
  const int ahead = std::min(max_ahead, slots - 1 - halo_tiles);
  const std::int64_t tiles = (in.n + tile - 1) / tile;
  const std::int64_t stripe_tiles = (tiles + multiprocessors - 1) / multiprocessors;
  if (tiles == 0) return;
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), sizeof(shared_state), stream,
              in.values, out.averages, in.n, in.window, window_sums::choose_segment(in.window), halo_tiles,
              ahead, stripe_tiles);
}
#endif

const registration<problem> registered{
    LAB_PATH,
    {.idea = "bulk copies fill the ring several tiles ahead and carry the results out",
     .launch = LAB_GPU_ONLY(launch),
     .unsupported = [](const problem::parameters& p) { return window_too_long(p, longest_window); },
     .tile = tile,
     .traits = {.gpu_only = true, .minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::moving_average::bulk_copy
