// The work of one GPU: tiles of the whole array, by suffix and prefix sums (windows/suffix_prefix.hpp).
//
// Tiles whose windows begin in the GPU's own part are its interior, and the fastest kernel for one GPU makes
// them, that of moving_average/10_work_counter. The tiles before them are the border: a portable kernel makes
// them, which is told by a Source where a value is. It makes the interior too where the fast one cannot:
// below compute capability 9.0, on the emulator, where the window does not fit, and where a bulk copy would
// begin between two multiples of 16 bytes.
//
// Averages have the same bits on any number of GPUs. For that both kernels must combine the same values in
// the same order, and they do: tiles and segments lie where they lie on one GPU, both call scan(), complete()
// and combine_short() of the same suffix_prefix, and finish a window with the same operation. A tile across a
// border is computed by both neighbours, each for its own averages.
#pragma once

#include <algorithm>

#include "common/nvtx.hpp"
#include "common/windows/in_place.hpp"
#include "common/windows/pipeline.hpp"
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

// A window that reaches over the whole array is no longer than the array for the sums; its averages are
// incomplete.
inline std::int64_t window_of_sums(const input& in) {
  return std::min(in.window, in.n + 1);
}

// Tiles of the whole array: [begin, end).
struct tile_range {
  std::int64_t begin;
  std::int64_t end;
};

// Those that hold outputs of part k: of its border [begin, interior), and of its interior [interior, end).
struct tiles_of_part {
  std::int64_t begin;
  std::int64_t interior;
  std::int64_t end;
};
inline tiles_of_part tiles_of(const input& in, std::int64_t k) {
  const part own = in.part(k);
  if (own.count == 0) return {0, 0, 0};
  const std::int64_t begin = own.first / tile;
  const std::int64_t end = (own.first + own.count - 1) / tile + 1;
  // Before the array there is nothing to wait for.
  if (own.first == 0) return {begin, begin, end};
  const std::int64_t complete = own.first + window_of_sums(in) - 1;
  return {begin, std::clamp((complete + tile - 1) / tile, begin, end), end};
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

// Outputs `out.first` and on, of tiles `which`: a block streams `stripe_tiles` of them, and the suffixes of
// the last window stay in a ring in shared memory (moving_average/07_ring). Values before `oldest` are not
// asked for. `mean.window` is the window.
template <class Source>
__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(Source value, double* __restrict__ averages, part out, std::int64_t oldest,
                          tile_range which, std::int64_t stripe_tiles, windows::total mean,
                          int segment_threads, int halo_tiles) {
  const int slots = halo_tiles + 1;
  double* ring = dynamic_shared<double>();
  double* finished = ring + slots * tile;
  auto& others = *reinterpret_cast<window_sums::exchange*>(finished + tile);
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < window_sums::exchange::states; k += block_threads) others.begin()[k] = 0;
  const window_sums sums(mean, static_cast<int>(mean.window), segment_threads, thread);
  const std::int64_t begin = (which.begin + blockIdx.x * stripe_tiles) * tile;
  const std::int64_t stripe_end = min(begin + stripe_tiles * tile, which.end * tile);
  const std::int64_t end = min(stripe_end, out.first + out.count);

  // The next tile is read while the current one is computed.
  double next[per_thread];
  const auto read = [&](std::int64_t start) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const std::int64_t j = start + v * block_threads + thread;
      next[v] = j >= oldest && j < end ? value(j) : 0.0;
    }
  };
  int slot = 0;
  std::int64_t start = begin - static_cast<std::int64_t>(halo_tiles) * tile;
  read(start);
  for (; start < end; start += tile) {
    double* here = ring + slot * tile;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) here[v * block_threads + thread] = next[v];
    read(start + tile);
    __syncthreads();
    double sum[per_thread] = {};
    if (sums.is_short()) {
      // Tiles before `begin` are the halo: they have no outputs.
      if (start >= begin) {
        sums.combine_short(
            sum, [ring](int place, int) { return ring[place]; }, slots * tile, slot * tile);
      }
    } else {
      for (int v = 0; v < per_thread; ++v) sum[v] = here[sums.first + v];
      sums.scan(sum, here, others, [] { __syncthreads(); });
      __syncthreads();
      if (start >= begin) sums.complete(sum, ring, slots * tile, slot * tile);
    }
    // Through shared memory, so that neighbouring threads write neighbouring averages.
    for (int v = 0; v < per_thread; ++v) {
      finished[sums.first + v] =
          windows::window_result(mean, sum[v], start + sums.first + v, mean.window, mean.window);
    }
    __syncthreads();
    if (start >= begin) {
      for (int v = 0; v < per_thread; ++v) {
        const std::int64_t i = start + v * block_threads + thread;
        if (i >= out.first && i < end) averages[i - out.first] = finished[v * block_threads + thread];
      }
    }
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
}

// The ring of the portable kernel, its results, and the totals that warps exchange.
inline std::size_t shared_bytes_of(std::int64_t window) {
  return static_cast<std::size_t>(window_sums::halo_tiles(window) + 2) * tile * sizeof(double) +
         sizeof(window_sums::exchange);
}

// Enqueues the outputs of some tiles of part k by the portable kernel; the device must be current. `value`
// has `halo` values before the part. A block has one tile of a border, and a stripe of many.
template <class Source>
void launch_tiles(const input& in, const output& out, std::int64_t k, tile_range which, const Source& value,
                  std::int64_t halo, cudaStream_t stream) {
  if (which.begin >= which.end) return;
  const std::int64_t window = window_of_sums(in);
  const std::size_t shared_bytes = shared_bytes_of(window);
  // As many stripes as blocks are resident at once, by shared memory (of which the system takes 1 KiB for
  // each) and at most three.
  int device = 0;
  int shared_limit = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int resident = std::clamp(shared_limit / static_cast<int>(shared_bytes + 1024), 1, 3);
  const std::int64_t stripes = std::int64_t{multiprocessors()} * resident;
  const std::int64_t tiles = which.end - which.begin;
  const std::int64_t stripe_tiles = (tiles + stripes - 1) / stripes;
  const part own = in.part(k);
  lab::launch(moving_average_kernel<Source>,
              dim3(static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles)), dim3(block_threads),
              shared_bytes, stream, value, out.averages[static_cast<std::size_t>(k)], own, own.first - halo,
              which, stripe_tiles, windows::total::mean(window), window_sums::choose_segment(window),
              window_sums::halo_tiles(window));
}

// Scratch memory of one GPU: the counter of the fast kernel, and the halo behind it.
inline constexpr std::size_t counter_bytes = 256;
inline std::size_t workspace_of_counter(const problem::parameters& /*p*/) {
  return counter_bytes;
}
inline std::size_t halo_bytes(const problem::parameters& p) {
  return static_cast<std::size_t>(std::min(p.window - 1, problem::values(p))) * sizeof(double);
}
inline std::size_t workspace_with_halo(const problem::parameters& p) {
  return counter_bytes + halo_bytes(p);
}
inline double* halo_memory(const group_member& on) {
  return reinterpret_cast<double*>(static_cast<unsigned char*>(on.scratch) + counter_bytes);
}

// The fast kernel's ring, as in moving_average/10_work_counter.
inline constexpr windows::ring_plan pipeline_ring{tile};

// What the fast kernel takes for an array: one that begins `lead` chunks before the interior, far enough that
// no window of the interior is incomplete. That may be before the part, where nothing is touched: of the
// tiles before a chunk only what its first window reaches is loaded, and that lies in the part.
struct interior_array {
  std::int64_t begin;  // in the whole array
  std::int64_t n;
  std::int64_t chunk_tiles;
  std::int64_t lead;

  [[nodiscard]] std::int64_t chunk() const { return chunk_tiles * tile; }
};
inline interior_array interior_of(const input& in, std::int64_t k, int blocks_at_once) {
  const part own = in.part(k);
  const std::int64_t first = tiles_of(in, k).interior * tile;
  const std::int64_t values = own.first + own.count - first;
  const std::int64_t window = window_of_sums(in);
  const std::int64_t chunk_tiles = pipeline_ring.chunk_tiles(values, window, blocks_at_once);
  const std::int64_t lead =
      first == 0 ? 0 : (pipeline_ring.halo_tiles(window) + chunk_tiles - 1) / chunk_tiles;
  return {first - lead * chunk_tiles * tile, values + lead * chunk_tiles * tile, chunk_tiles, lead};
}

#if !LAB_EMULATED

using pipeline_sums = windows::in_place<windows::total, block_threads, per_thread>;
using tiles_in_flight = windows::pipeline<pipeline_sums, 2, pipeline_ring.slots>;

// Chunks from a counter, of which the first is not the array's.
struct counter_from : windows::work_counter {
  std::int64_t first_chunk;

  __device__ std::int64_t first(std::int64_t n) const { return next(n); }
  __device__ std::int64_t next(std::int64_t n) const { return first_chunk + work_counter::next(n); }
};

// A template for its linkage alone: every stage has it.
template <class Operation>
__global__ void __launch_bounds__(tiles_in_flight::block_threads, 1)
    interior_kernel(windows::stream_of_tiles in, counter_from counter, Operation mean, int segment_threads) {
  const int thread = static_cast<int>(threadIdx.x) % block_threads;
  tiles_in_flight::run(in, counter, pipeline_sums(mean, in.window, segment_threads, thread));
}

// Enqueues the interior by the fast kernel; false, and nothing, where that cannot make it.
inline bool launch_pipeline(const input& in, const output& out, std::int64_t k, const group_member& on) {
  const std::int64_t window = window_of_sums(in);
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, on.device));
  if (major < 9 || window > pipeline_ring.longest_window()) return false;
  const int blocks_at_once = multiprocessors();
  const interior_array all = interior_of(in, k, blocks_at_once);
  const std::int64_t begin = all.begin - in.part(k).first;
  const double* const from = in.values[static_cast<std::size_t>(k)] + begin;
  double* const to = out.averages[static_cast<std::size_t>(k)] + begin;
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || reinterpret_cast<std::uintptr_t>(to) % 16 != 0)
    return false;

  const std::int64_t chunks = (all.n + all.chunk() - 1) / all.chunk() - all.lead;
  auto* const counter = static_cast<unsigned*>(on.scratch);
  CUDA_CHECK(cudaMemsetAsync(counter, 0, sizeof *counter, on.stream));
  lab::launch(interior_kernel<windows::total>,
              dim3(static_cast<unsigned>(std::min<std::int64_t>(blocks_at_once, chunks))),
              dim3(tiles_in_flight::block_threads), sizeof(tiles_in_flight::shared_state), on.stream,
              pipeline_ring.tiles_of(from, to, all.n, window, window),
              counter_from{{all.chunk_tiles, counter}, all.lead}, windows::total::mean(window),
              window_sums::choose_segment(window));
  return true;
}

#endif

// Enqueues on the GPU's first stream what of part k needs no other GPU; the device must be current. The GPU's
// scratch memory must hold the counter.
inline void launch_interior(const input& in, const output& out, std::int64_t k, const group_member& on) {
  const tiles_of_part tiles = tiles_of(in, k);
  if (tiles.interior >= tiles.end) return;
  const nvtx_range range("GPU " + std::to_string(k));
#if !LAB_EMULATED
  if (launch_pipeline(in, out, k, on)) return;
#endif
  const own_values values{in.values[static_cast<std::size_t>(k)], nullptr, in.part(k).first, 0};
  launch_tiles(in, out, k, {tiles.interior, tiles.end}, values, 0, on.stream);
}

// Enqueues the rest, of which `value` has the halo.
template <class Source>
void launch_border(const input& in, const output& out, std::int64_t k, const Source& value,
                   cudaStream_t stream) {
  const tiles_of_part tiles = tiles_of(in, k);
  const nvtx_range range("border of GPU " + std::to_string(k));
  launch_tiles(in, out, k, {tiles.begin, tiles.interior}, value, halo_of(in, k), stream);
}

// Both, one after the other.
template <class Source>
void launch_part(const input& in, const output& out, std::int64_t k, const Source& value,
                 const group_member& on) {
  launch_interior(in, out, k, on);
  launch_border(in, out, k, value, on.stream);
}

// Why a stage cannot run these parameters; empty when it can.
inline std::string window_too_long(const problem::parameters& p) {
  return windows::tiles_too_long<window_sums>(std::min(p.window, problem::values(p) + 1), 2);
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

// Part k with the halo in its scratch memory.
inline own_values with_halo(const input& in, std::int64_t k, const group_member& on) {
  return {in.values[static_cast<std::size_t>(k)], halo_memory(on), in.part(k).first, halo_of(in, k)};
}

}  // namespace lab::moving_average_gpus
