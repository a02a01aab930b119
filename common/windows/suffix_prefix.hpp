// Windows without a subtraction (van Herk 1992; Gil, Werman 1993), for any associative operation.
//
// The array is cut into segments no longer than the window less one. A window then is the suffix of the
// segment in which it begins, the whole segments in between, and the prefix of the segment in which it ends:
//
//     segments   |  .  .  .  .  |  .  .  .  .  |  .  .  .  .  |
//     window              [suffix][   total   ][prefix]
//
// Every segment is scanned once from each side. Nothing is subtracted, so no rounding error and no NaN stays
// behind when a value has left the window. Earlier values are always combined from the left: the operation
// need not commute.
//
// A group of threads owns a tile, each thread `per_thread` consecutive values of it. A segment is what 2^k
// neighbouring threads own, so its borders are borders of threads and warps. Windows of at most `per_thread`
// values are combined one value after another.
#pragma once

#include <cstdint>
#include <string>

#include "common/cuda.hpp"
#include "common/multiprocessors.hpp"
#include "common/windows/operations.hpp"
#include "common/windows/shuffle.hpp"

namespace lab::windows {

// Where a tile lies: its first value is input `start`; `at_an_end` where some of its windows are incomplete
// or some of its values lie behind the array.
struct place {
  std::int64_t start;
  int min_periods;
  bool at_an_end;
};

template <class Operation, int group_threads, int per_thread>
struct suffix_prefix {
  using state = typename Operation::state;
  static constexpr int warps = group_threads / 32;
  static constexpr int tile = group_threads * per_thread;
  static_assert((group_threads & (group_threads - 1)) == 0, "2^k threads of a segment divide the group");
  static_assert(per_thread % 2 == 1, "threads an odd number of doubles apart meet no bank conflict");

  // In shared memory, one for each group: [warp][other warp] is the other's total where both hold parts of
  // one segment, else the identity. Filled with it once: what is the identity stays so.
  struct exchange {
    state earlier[warps][warps];
    state later[warps][warps];

    static constexpr int states = 2 * warps * warps;
    __device__ state* begin() { return &earlier[0][0]; }
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
  Operation operation;
  int window;
  int segment_threads;
  int thread;         // in the group
  int first;          // of the thread's values, in the tile
  int segment;        // values
  int segment_first;  // of the thread's segment, in the tile
  int whole;          // the oldest value lies `whole` segments and `rest` values back
  int rest;

  __device__ suffix_prefix(Operation operation_, int window_, int segment_threads_, int thread_)
      : operation(operation_),
        window(window_),
        segment_threads(segment_threads_),
        thread(thread_),
        first(thread_ * per_thread),
        segment(segment_threads_ * per_thread),
        segment_first((thread_ & -segment_threads_) * per_thread),
        whole((window_ - 1) / segment),
        rest((window_ - 1) % segment) {}

  __device__ bool is_short() const {
    return window <= per_thread;
  }

  // `own` are the thread's values, lifted; they become prefixes of the segment. `suffixes` is the tile in
  // shared memory: it gets the suffixes, which other threads may read after another barrier. `barrier()`
  // waits for the group.
  template <class Barrier>
  __device__ void scan(state (&own)[per_thread], state* suffixes, exchange& others, Barrier barrier) const {
    state suffix[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v) suffix[v] = own[v];
#pragma unroll
    for (int v = 1; v < per_thread; ++v) {
      own[v] = operation.combine(own[v - 1], own[v]);
      suffix[per_thread - 1 - v] = operation.combine(suffix[per_thread - 1 - v], suffix[per_thread - v]);
    }
    // The threads of the segment's part in this warp, from both sides.
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int width = segment_threads < 32 ? segment_threads : 32;
    const int place = lane & (width - 1);
    state up = own[per_thread - 1];
    state down = suffix[0];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width) break;
      const state lower = shuffle_up(up, distance);
      const state higher = shuffle_down(down, distance);
      if (place >= distance) up = operation.combine(lower, up);
      if (place + distance < width) down = operation.combine(down, higher);
    }
    state before = shuffle_up(up, 1);
    state after = shuffle_down(down, 1);
    if (place == 0) before = operation.identity();
    if (place == width - 1) after = operation.identity();
    if (segment_threads > 32) {
      // Lane `other` tells warp `other` this warp's total.
      const state total = shuffle(up, 31);
      const bool same_segment = lane < warps && ((lane ^ warp) & -(segment_threads / 32)) == 0;
      if (same_segment && lane > warp) others.earlier[lane][warp] = total;
      if (same_segment && lane < warp) others.later[lane][warp] = total;
      barrier();
      state earlier = operation.identity();
      state later = operation.identity();
#pragma unroll
      for (int other = 0; other < warps; ++other) {
        earlier = operation.combine(earlier, others.earlier[warp][other]);
        later = operation.combine(others.later[warp][warps - 1 - other], later);
      }
      before = operation.combine(earlier, before);
      after = operation.combine(after, later);
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      own[v] = operation.combine(before, own[v]);
      suffixes[first + v] = operation.combine(suffix[v], after);
    }
  }

  // Completes prefixes to windows. `ring` holds `ring_values` suffixes: those of the tiles behind the current
  // one and of the current one, which begins at `base`.
  __device__ void complete(state (&own)[per_thread], const state* ring, int ring_values, int base) const {
    const auto behind = [ring_values](int position, int back) {
      return position >= back ? position - back : position - back + ring_values;
    };
    // The total of a segment is the suffix at its beginning. More than one whole segment: then a segment is a
    // tile.
    state between = operation.identity();
    if (whole > 1) between = totals(ring, ring_values, base);
    const state one_more = operation.combine(ring[behind(base + segment_first, whole * segment)], between);
    const int oldest = behind(base + first, window - 1);
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const int place = oldest + v < ring_values ? oldest + v : oldest + v - ring_values;
      const state& more = first + v - segment_first < rest ? one_more : between;
      own[v] = operation.combine(operation.combine(ring[place], more), own[v]);
    }
  }

  // Of the tiles 1 to whole - 1 behind the current one; every lane gets it.
  __device__ state totals(const state* ring, int ring_values, int base) const {
    const auto total_of = [&](int back) {
      const int place = base - back * tile;
      return ring[place >= 0 ? place : place + ring_values];
    };
    constexpr int lanes = 16;
    state total = operation.identity();
    if constexpr (Operation::commutes) {
      for (int back = thread % lanes; back < whole; back += lanes) {
        if (back > 0) total = operation.combine(total, total_of(back));
      }
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        total = operation.combine(total, shuffle_xor(total, distance));
    } else {
      // Each lane takes neighbours, and lanes with higher numbers the earlier ones.
      const int each = (whole + lanes - 2) / lanes;
      const int lane = thread % lanes;
      for (int back = min((lane + 1) * each, whole - 1); back > lane * each; --back)
        total = operation.combine(total, total_of(back));
#pragma unroll
      for (int distance = 1; distance < lanes; distance *= 2) {
        const state other = shuffle_xor(total, distance);
        total = (lane & distance) != 0 ? operation.combine(total, other) : operation.combine(other, total);
      }
    }
    return total;
  }

  // Windows of at most `per_thread` values. `lifted(place, offset)` is the value at `place` of a ring of
  // `ring_values`, `offset` values behind the tile's first.
  template <class Lifted>
  __device__ void combine_short(state (&own)[per_thread], const Lifted& lifted, int ring_values,
                                int base) const {
    state reached[2 * per_thread - 1];  // by the longest such windows
#pragma unroll
    for (int k = 0; k < 2 * per_thread - 1; ++k) {
      const int place = base + first + k - (per_thread - 1);
      reached[k] = lifted(place >= 0 ? place : place + ring_values, first + k - (per_thread - 1));
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      own[v] = operation.identity();
#pragma unroll
      for (int back = per_thread - 1; back >= 0; --back) {
        if (back < window) own[v] = operation.combine(own[v], reached[v + per_thread - 1 - back]);
      }
    }
  }
#endif
};

// Why a stage whose ring holds windows up to `longest` cannot run these; empty when it can.
inline std::string window_too_long(std::int64_t window, std::int64_t longest) {
  if (window <= longest) return "";
  return "window " + std::to_string(window) + " does not fit: the ring in shared memory holds at most " +
         std::to_string(longest);
}

// Why the halo's tiles, `more` further tiles and the exchange do not fit into the current device's shared
// memory; empty when they do.
template <class Scans>
std::string tiles_too_long(std::int64_t window, int more) {
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr std::int64_t tile_bytes = Scans::tile * std::int64_t{sizeof(typename Scans::state)};
  const std::int64_t max_tiles = (max_bytes - std::int64_t{sizeof(typename Scans::exchange)}) / tile_bytes;
  return window_too_long(window, (max_tiles - more) * Scans::tile + 1);
}

}  // namespace lab::windows
