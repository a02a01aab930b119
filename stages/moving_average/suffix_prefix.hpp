// Window sums without a subtraction (van Herk 1992; Gil, Werman 1993), for the stages from 06_suffix_prefix
// on.
//
// The array is cut into segments no longer than the window less one. A window then is the suffix of the
// segment in which it begins, the whole segments in between, and the prefix of the segment in which it ends:
//
//     segments   |  .  .  .  .  |  .  .  .  .  |  .  .  .  .  |
//     window              [suffix][   total   ][prefix]
//
// Every segment is scanned once from each side. Nothing is subtracted, so nothing drifts and no NaN reaches a
// window that does not hold it, and any associative operation would do in place of the addition.
//
// A group of threads owns a tile, each thread `per_thread` consecutive values of it. A segment is what 2^k
// neighbouring threads own, so its borders are borders of threads and warps. Windows of at most `per_thread`
// values are added up.
#pragma once

#include <cstdint>
#include <string>

#include "stages/moving_average/problem.hpp"

namespace lab::moving_average {

// Why a stage whose ring holds windows up to `longest` cannot run these parameters; empty when it can.
inline std::string window_too_long(const problem::parameters& p, std::int64_t longest) {
  if (p.window <= longest) return "";
  return "window " + std::to_string(p.window) + " does not fit: the ring in shared memory holds at most " +
         std::to_string(longest);
}

template <int group_threads, int per_thread>
struct suffix_prefix {
  static constexpr int warps = group_threads / 32;
  static constexpr int tile = group_threads * per_thread;
  static_assert((group_threads & (group_threads - 1)) == 0, "2^k threads of a segment divide the group");
  static_assert(per_thread % 2 == 1, "threads an odd number of doubles apart meet no bank conflict");

  // In shared memory, one for each group: [warp][other warp] is the other's total where both hold parts of
  // one segment, else 0. Zeroed once, because what is 0 stays 0.
  struct exchange {
    double earlier[warps][warps];
    double later[warps][warps];
  };

  // Threads of the longest segment that is shorter than the window.
  static int choose_segment(std::int64_t window) {
    int threads = 1;
    while (threads < group_threads && std::int64_t{2} * threads * per_thread < window) threads *= 2;
    return threads;
  }

  // Tiles before the current one that a window reaches into.
  static constexpr int halo_tiles(std::int64_t window) {
    return static_cast<int>((window - 1 + tile - 1) / tile);
  }

#if defined(__CUDACC__) || LAB_EMULATED
  int window;
  int segment_threads;
  int thread;         // in the group
  int first;          // of the thread's values, in the tile
  int segment;        // values
  int segment_first;  // of the thread's segment, in the tile
  int whole;          // the oldest value lies `whole` segments and `rest` values back
  int rest;

  __device__ suffix_prefix(int window_, int segment_threads_, int thread_)
      : window(window_),
        segment_threads(segment_threads_),
        thread(thread_),
        first(thread_ * per_thread),
        segment(segment_threads_ * per_thread),
        segment_first((thread_ & -segment_threads_) * per_thread),
        whole((window_ - 1) / segment),
        rest((window_ - 1) % segment) {}

  __device__ bool adds_up() const {
    return window <= per_thread;
  }

  // Replaces the thread's values in the tile by their suffix sums and returns their prefix sums in `sum`.
  // `barrier()` waits for the group; the suffix sums of others may be read after another one.
  template <class Barrier>
  __device__ void scan(double* values, double (&sum)[per_thread], exchange& others, Barrier barrier) const {
    double suffix[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v) sum[v] = suffix[v] = values[first + v];
#pragma unroll
    for (int v = 1; v < per_thread; ++v) {
      sum[v] += sum[v - 1];
      suffix[per_thread - 1 - v] += suffix[per_thread - v];
    }
    // The threads of the segment's part in this warp, from both sides.
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int width = segment_threads < 32 ? segment_threads : 32;
    const int place = lane & (width - 1);
    double up = sum[per_thread - 1];
    double down = suffix[0];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width) break;
      const double lower = __shfl_up_sync(~0U, up, distance);
      const double higher = __shfl_down_sync(~0U, down, distance);
      if (place >= distance) up += lower;
      if (place + distance < width) down += higher;
    }
    double before = __shfl_up_sync(~0U, up, 1);
    double after = __shfl_down_sync(~0U, down, 1);
    if (place == 0) before = 0;
    if (place == width - 1) after = 0;
    if (segment_threads > 32) {
      // Lane `other` tells warp `other` this warp's total.
      const double total = __shfl_sync(~0U, up, 31);
      const bool same_segment = lane < warps && ((lane ^ warp) & -(segment_threads / 32)) == 0;
      if (same_segment && lane > warp) others.earlier[lane][warp] = total;
      if (same_segment && lane < warp) others.later[lane][warp] = total;
      barrier();
      double earlier = 0;
      double later = 0;
#pragma unroll
      for (int other = 0; other < warps; ++other) {
        earlier += others.earlier[warp][other];
        later += others.later[warp][warps - 1 - other];
      }
      before += earlier;
      after += later;
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      sum[v] += before;
      values[first + v] = suffix[v] + after;
    }
  }

  // Completes prefix sums to window sums. `ring` holds `ring_values` values, the suffix sums of the tiles
  // behind the current one and of the current one, which begins at `base`.
  __device__ void complete(double (&sum)[per_thread], const double* ring, int ring_values, int base) const {
    const auto behind = [ring_values](int position, int back) {
      return position >= back ? position - back : position - back + ring_values;
    };
    // The total of a segment is the suffix at its beginning. More than one whole segment: then a segment is a
    // tile.
    double between = 0;
    if (whole > 1) {
      for (int back = thread % 16; back < whole; back += 16) {
        if (back > 0) between += ring[behind(base, back * segment)];
      }
#pragma unroll
      for (int distance = 8; distance > 0; distance /= 2) between += __shfl_xor_sync(~0U, between, distance);
    }
    const double one_more = between + ring[behind(base + segment_first, whole * segment)];
    const int oldest = behind(base + first, window - 1);
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const int place = oldest + v < ring_values ? oldest + v : oldest + v - ring_values;
      sum[v] += ring[place] + (first + v - segment_first < rest ? one_more : between);
    }
  }

  // Window sums of at most `per_thread` values, from a ring that holds values.
  __device__ void add_up(double (&sum)[per_thread], const double* ring, int ring_values, int base) const {
    double reached[2 * per_thread - 1];  // by the longest such windows
#pragma unroll
    for (int k = 0; k < 2 * per_thread - 1; ++k) {
      const int place = base + first + k - (per_thread - 1);
      reached[k] = ring[place >= 0 ? place : place + ring_values];
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      sum[v] = 0;
#pragma unroll
      for (int back = per_thread - 1; back >= 0; --back) {
        if (back < window) sum[v] += reached[v + per_thread - 1 - back];
      }
    }
  }
#endif
};

// Why the halo's tiles, `more` further tiles and the exchange do not fit into the current device's shared
// memory; empty when they do.
template <class Sums>
std::string tiles_too_long(const problem::parameters& p, int more) {
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr std::int64_t tile_bytes = Sums::tile * std::int64_t{sizeof(double)};
  const std::int64_t max_tiles = (max_bytes - std::int64_t{sizeof(typename Sums::exchange)}) / tile_bytes;
  return window_too_long(p, (max_tiles - more) * Sums::tile + 1);
}

}  // namespace lab::moving_average
