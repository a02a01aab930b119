// The work of one GPU: tiles of the whole array, by suffix and prefix sums (moving_average/06_suffix_prefix).
// Tiles lie where they lie on one GPU, whatever part a GPU has: every average is combined from the same
// values in the same order, and has the same bits on any number of GPUs. A tile across a border is computed
// by both neighbours, each for its own averages.
//
// The stages differ in where the values before the part come from: a Source says value j of the whole array.
#pragma once

#include <algorithm>

#include "common/nvtx.hpp"
#include "common/windows/suffix_prefix.hpp"
#include "stages/moving_average_gpus/problem.hpp"

namespace lab::moving_average_gpus {

inline constexpr int block_threads = 256;
inline constexpr int per_thread = 7;  // odd: threads 7 doubles apart meet no bank conflict
using window_sums = windows::suffix_prefix<windows::total, block_threads, per_thread>;
inline constexpr int tile = window_sums::tile;  // 1792 values

// Values that part k needs of the parts before it: window - 1, or all there are.
inline std::int64_t halo_of(const input& in, std::int64_t k) {
  const part own = in.part(k);
  return own.count == 0 ? 0 : std::min(in.window - 1, own.first);
}

// A GPU's own part, and a copy of its halo.
struct own_values {
  const double* values;
  const double* halo;  // of the `halo_count` values before `first`
  std::int64_t first;
  std::int64_t halo_count;

  __device__ double operator()(std::int64_t j) const {
    return j >= first ? values[j - first] : halo[j - (first - halo_count)];
  }
};

// Outputs `out.first` and on, of tiles first_tile + blockIdx.x. Values before `oldest` are not asked for.
template <class Source>
__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(Source value, double* __restrict__ averages, part out, std::int64_t oldest,
                          std::int64_t first_tile, int window, int segment_threads, int halo_tiles) {
  // tiles[k] holds input start - halo_tiles * tile + k, later its suffix sum.
  double* tiles = dynamic_shared<double>();
  const int count = (halo_tiles + 1) * tile;
  auto& others = *reinterpret_cast<window_sums::exchange*>(tiles + count);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t start = (first_tile + blockIdx.x) * tile;
  const std::int64_t end = out.first + out.count;
  for (unsigned i = threadIdx.x; i < sizeof(others) / sizeof(double); i += block_threads)
    reinterpret_cast<double*>(&others)[i] = 0;
  for (int k = thread; k < count; k += block_threads) {
    const std::int64_t j = start + tile - count + k;
    tiles[k] = j >= oldest && j < end ? value(j) : 0.0;
  }
  __syncthreads();

  const window_sums sums(windows::total{}, window, segment_threads, thread);
  double sum[per_thread];
  if (sums.is_short()) {
    sums.combine_short(
        sum, [tiles](int place, int) { return tiles[place]; }, count, count - tile);
  } else {
    for (int k = 0; k < count; k += tile) {
      for (int v = 0; v < per_thread; ++v) sum[v] = tiles[k + sums.first + v];
      sums.scan(sum, tiles + k, others, [] { __syncthreads(); });
      __syncthreads();
    }
    sums.complete(sum, tiles, count, count - tile);
  }
  // Through shared memory, so that neighbouring threads write neighbouring averages.
  __syncthreads();
  double* results = tiles + count - tile;
  for (int v = 0; v < per_thread; ++v) results[sums.first + v] = sum[v] / window;
  __syncthreads();
  for (int k = thread; k < tile; k += block_threads) {
    const std::int64_t i = start + k;
    if (i >= out.first && i < end) averages[i - out.first] = i < window - 1 ? incomplete : results[k];
  }
}

// Tiles of the whole array: [begin, end).
struct tile_range {
  std::int64_t begin;
  std::int64_t end;
};

// Those that hold outputs of a part.
inline tile_range tiles_of(part own) {
  if (own.count == 0) return {0, 0};
  return {own.first / tile, (own.first + own.count - 1) / tile + 1};
}

// Enqueues the outputs of some tiles of part k; the device must be current. `value` has `halo` values before
// the part.
template <class Source>
void launch_tiles(const input& in, const output& out, std::int64_t k, tile_range which, const Source& value,
                  std::int64_t halo, cudaStream_t stream) {
  if (which.begin >= which.end) return;
  const nvtx_range range("GPU " + std::to_string(k));
  const part own = in.part(k);
  // A window that reaches over the whole array is no longer than the array for the sums; its averages are
  // incomplete.
  const std::int64_t window = std::min(in.window, in.n + 1);
  const int halo_tiles = window_sums::halo_tiles(window);
  const std::size_t shared_bytes =
      static_cast<std::size_t>(halo_tiles + 1) * tile * sizeof(double) + sizeof(window_sums::exchange);
  lab::launch(moving_average_kernel<Source>, dim3(static_cast<unsigned>(which.end - which.begin)),
              dim3(block_threads), shared_bytes, stream, value, out.averages[static_cast<std::size_t>(k)],
              own, own.first - halo, which.begin, static_cast<int>(window),
              window_sums::choose_segment(window), halo_tiles);
}

// Why a stage cannot run these parameters; empty when it can.
inline std::string window_too_long(const problem::parameters& p) {
  return windows::tiles_too_long<window_sums>(std::min(p.window, problem::values(p) + 1), 1);
}

// What part k needs of one part before it: values `first` to first + count - 1 of the whole, of GPU `owner`.
struct halo_piece {
  std::int64_t owner;
  const double* from;
  std::int64_t place;  // in the halo
  std::int64_t count;
};

// All of them. There is one, where the window is no longer than a part.
inline std::vector<halo_piece> halo_pieces(const input& in, std::int64_t k) {
  std::vector<halo_piece> pieces;
  const std::int64_t end = in.part(k).first;
  const std::int64_t begin = end - halo_of(in, k);
  for (std::int64_t owner = k - 1; owner >= 0; --owner) {
    const part theirs = in.part(owner);
    const std::int64_t first = std::max(begin, theirs.first);
    const std::int64_t last = std::min(end, theirs.first + theirs.count);
    if (first >= last) continue;
    pieces.push_back({owner, in.values[static_cast<std::size_t>(owner)] + (first - theirs.first),
                      first - begin, last - first});
  }
  return pieces;
}

// Scratch memory of one GPU for its halo.
inline std::size_t halo_bytes(const problem::parameters& p) {
  return static_cast<std::size_t>(std::min(p.window - 1, problem::values(p))) * sizeof(double);
}

// Part k with the halo in its scratch memory.
inline own_values with_halo(const input& in, std::int64_t k, const group_member& on) {
  return {in.values[static_cast<std::size_t>(k)], static_cast<const double*>(on.scratch), in.part(k).first,
          halo_of(in, k)};
}

}  // namespace lab::moving_average_gpus
