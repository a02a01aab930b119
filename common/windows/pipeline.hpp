// The window kernels in which copies and computation are warps of their own (compute capability 9.0): one
// thread fills a ring of tiles by bulk copies, several tiles ahead, another copies results out, and one group
// of threads or several compute, a tile each in turn.
//
// A stage chooses the groups, where a block's tiles come from (`stripe`, `work_counter`), and how windows are
// made of them: in_place.hpp keeps suffixes in the ring, two_scans.hpp the values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/bulk_copy.hpp"
#include "common/windows/suffix_prefix.hpp"

namespace lab::windows {

// What a block computes: n float64 values, and where the results go.
struct stream_of_tiles {
  const double* __restrict__ values;
  double* __restrict__ results;
  std::int64_t n;
  int window;
  int min_periods;
  int halo_tiles;  // before a chunk, that its windows reach into
  int ahead;       // tiles that arrive or wait while one is computed
};

// The ring in shared memory: with one more tile for results 224 of 227 KiB at 15 tiles of 14 KiB.
struct ring_plan {
  static constexpr int max_ahead = 5;  // more in flight only scatters the accesses

  int tile;  // values
  int slots = 15;
  int min_ahead = 4;  // tiles that arrive or wait, at the longest window; each group must meet the last one

  // 17 921 at 15 tiles of 1792.
  [[nodiscard]] constexpr std::int64_t longest_window() const {
    return std::int64_t{slots - 1 - min_ahead} * tile + 1;
  }
  // Why the ring cannot hold the window; empty when it can.
  [[nodiscard]] std::string too_long(std::int64_t window) const {
    return window_too_long(window, longest_window());
  }
  [[nodiscard]] constexpr int halo_tiles(std::int64_t window) const {
    return static_cast<int>((window - 1 + tile - 1) / tile);
  }
  // A long chunk reads little twice, a short one keeps the blocks close: 5 tiles at 1 tile of halo, 12 at 2,
  // 21 at 3, and `longer` times as many. Where that is `a_stripe` or more (from 8 tiles of halo on, if
  // `longer` is 1), each block takes one stripe.
  [[nodiscard]] constexpr std::int64_t chunk_tiles(std::int64_t n, std::int64_t window, int multiprocessors,
                                                   int longer = 1) const {
    constexpr std::int64_t a_stripe = 96;
    const int halo = halo_tiles(window);
    const std::int64_t tiles = std::int64_t{longer} * std::max(1, halo) * (halo + 4);
    return tiles < a_stripe ? tiles : (n / tile + multiprocessors) / multiprocessors;
  }
  [[nodiscard]] stream_of_tiles tiles_of(const double* values, double* results, std::int64_t n,
                                         std::int64_t window, std::int64_t min_periods) const {
    const int halo = halo_tiles(window);
    return {values,
            results,
            n,
            static_cast<int>(window),
            static_cast<int>(min_periods),
            halo,
            std::min(max_ahead, slots - 1 - halo)};
  }
};

#if defined(__CUDACC__) || LAB_EMULATED

// A block's tiles are one long stripe of the array.
struct stripe {
  static constexpr bool keeps_halo = false;
  std::int64_t tiles;  // of each block

  __device__ std::int64_t first(std::int64_t /*n*/) const { return blockIdx.x; }
  __device__ std::int64_t next(std::int64_t n) const { return n; }
};

// A block takes the next chunk of tiles from a counter, which begins at 0. The halo of a chunk is the end of
// the one before: the L2 cache is asked to keep it.
struct work_counter {
  static constexpr bool keeps_halo = true;
  std::int64_t tiles;  // of a chunk
  unsigned* counter;

  __device__ std::int64_t first(std::int64_t n) const { return next(n); }
  __device__ std::int64_t next(std::int64_t /*n*/) const { return atomicAdd(counter, 1U); }
};

enum class tile_kind { stop, halo, results };

// Registers of a multiprocessor, and those of a thread that issues copies.
constexpr int all_registers = 65536;
constexpr int registers_for_copies = 32;

// `Windows` makes windows of tiles (in_place.hpp, two_scans.hpp). With `takes_registers` the groups that
// compute have those, too, that the threads which issue the copies do not need. This takes code for compute
// capability 9.0 alone (sm_90a); without it the kernel is the same, and has fewer. With `results_in_ring`,
// where the ring keeps values, results take the places of values that have left, and `Windows` says whether
// it `reads_again` what leaves; else they have a tile of their own behind the ring.
template <class Windows, int groups, int slots, bool takes_registers = false, bool results_in_ring = false>
struct pipeline {
  static constexpr int tile = Windows::tile;
  static constexpr int group_threads = Windows::group_threads;
  // Two more warps issue the copies; registers pass between warpgroups.
  static constexpr int block_threads = groups * group_threads + (takes_registers ? 128 : 64);
  // Of a computing thread: a block has no more to pass on than it was launched with, and who asks for one too
  // many waits for ever.
  static constexpr int registers_at_launch = all_registers / block_threads / 8 * 8;
  static constexpr int registers =
      ((groups + 1) * registers_at_launch - registers_for_copies) / groups / 8 * 8;
  static_assert(!takes_registers || (group_threads == 128 && registers <= 256),
                "a group that takes registers is a warpgroup, and a thread has at most 256");
  static_assert(tile % 2 == 0, "bulk copies move multiples of 16 bytes");
  static_assert(!results_in_ring || groups > 1,
                "a tile's readers are known by the tiles of the other groups");
  static_assert(!results_in_ring || slots >= ring_plan::max_ahead + 3,
                "without a spare tile a window is longer than a tile, and its results beside what is read");
  static constexpr int ring_values = slots * tile;
  static constexpr int drains = results_in_ring ? slots : groups;

  struct shared_state {
    double ring[ring_values + (results_in_ring ? 0 : tile)];  // values as they arrive
    typename Windows::template shared_state<groups, slots> windows;
    std::int64_t start[slots];  // input index of the tile's first value
    tile_kind kind[slots];
    mbarrier arrived[slots], scanned[slots], computed[slots], drained[drains];
  };

  // Tiles of the ring that have left every window and into which nothing is being loaded.
  static __device__ int spare_tiles(const stream_of_tiles& in) {
    return slots - 1 - in.ahead - in.halo_tiles;
  }
  // Where the results of the tile at `slot` begin. With a spare tile they take that. Without one they take
  // the places of the values that leave with this tile, which the threads have in registers; results that
  // reach the ring's end go on at its beginning. Bulk copies need an even place, so of even windows they
  // begin one place earlier, at the last value that left with the tile before.
  static __device__ int results_at(int slot, const stream_of_tiles& in) {
    if constexpr (!results_in_ring) return ring_values;
    const int place = slot * tile - (spare_tiles(in) > 0 ? (in.halo_tiles + 1) * tile : in.window / 2 * 2);
    return place >= 0 ? place : place + ring_values;
  }

  // The loading thread: copies the tiles in, `ahead` of the computation.
  template <class Source>
  static __device__ void load_tiles(shared_state& shared, const stream_of_tiles& in, const Source& source) {
    const std::int64_t chunk = source.tiles * tile;
    std::int64_t begin = source.first(in.n) * chunk;
    std::int64_t following = 0;
    std::int64_t step = -in.halo_tiles;
    int load_slot = 0;
    const auto load_next = [&] {
      const std::int64_t start = begin + step * tile;
      const bool more = begin < in.n && start < in.n;
      shared.start[load_slot] = start;
      shared.kind[load_slot] = !more ? tile_kind::stop : step < 0 ? tile_kind::halo : tile_kind::results;
      // Of the halo only what the first window reaches, from an even index; an odd last value is read by its
      // thread.
      const std::int64_t from = max(start, max(begin - (in.window - 1), std::int64_t{0}) / 2 * 2);
      const auto count = static_cast<int>(min(start + tile, in.n) / 2 * 2 - from);
      double* const target = shared.ring + load_slot * tile + (from - start);
      if (!more || count <= 0) {
        shared.arrived[load_slot].arrive();
      } else if (Source::keeps_halo && step < 0) {
        copy_in_and_keep(target, in.values + from, count, shared.arrived[load_slot]);
      } else {
        copy_in(target, in.values + from, count, shared.arrived[load_slot]);
      }
      load_slot = load_slot + 1 == slots ? 0 : load_slot + 1;
      // The next chunk is asked for a tile early: the answer of a counter takes about 1 us.
      if (step == max(source.tiles - 2, std::int64_t{0})) following = source.next(in.n) * chunk;
      if (++step == source.tiles) {
        step = -in.halo_tiles;
        begin = following;
      }
    };
    for (int i = 0; i <= in.ahead; ++i) load_next();
    // The results that lie where the next tile goes were computed this many tiles ago.
    const int since = max(spare_tiles(in) - 1, 0);
    unsigned phase = 0;
    for (int slot = 0; shared.kind[slot] != tile_kind::stop;) {
      shared.computed[slot].wait(phase);
      if constexpr (results_in_ring) {
        const int there = slot - since;
        if (there >= 0 || phase > 0)
          shared.drained[there < 0 ? there + slots : there].wait(there < 0 ? phase - 1 : phase);
      }
      load_next();  // over the tile that has left every window with this one
      if (++slot == slots) slot = 0, ++phase;
    }
  }

  // The storing thread: copies results out. Where they have but one tile, it is free again before the next
  // fills it.
  static __device__ void store_tiles(shared_state& shared, const stream_of_tiles& in) {
    int slot = 0;
    unsigned phase = 0;
    for (unsigned t = 0;; ++t) {
      shared.arrived[slot].wait(phase);
      if (shared.kind[slot] == tile_kind::stop) break;
      const bool results = shared.kind[slot] == tile_kind::results;
      const std::int64_t start = shared.start[slot];
      shared.computed[slot].wait(phase);
      const int count = static_cast<int>(min(std::int64_t{tile}, in.n - start)) / 2 * 2;
      const int place = results_at(slot, in);
      if (results && count > 0) {
        const int before_end = results_in_ring ? min(count, ring_values - place) : count;
        copy_out(in.results + start, shared.ring + place, before_end);
        if (before_end < count) copy_out(in.results + start + before_end, shared.ring, count - before_end);
      }
      commit_group();
      wait_group_read<0>();
      shared.drained[results_in_ring ? static_cast<unsigned>(slot) : t % groups].arrive();
      if (++slot == slots) slot = 0, ++phase;
    }
  }

  // A group of threads: computes every tile, or one of `groups`.
  static __device__ void compute_tiles(shared_state& shared, const stream_of_tiles& in,
                                       const Windows& windows, int group) {
    constexpr int per_thread = Windows::per_thread;
    const auto group_barrier = [group] { named_barrier(1 + group, group_threads); };
    int slot = group;
    unsigned phase = 0;
    for (unsigned t = group;; t += groups) {
      shared.arrived[slot].wait(phase);
      const tile_kind kind = shared.kind[slot];
      if (kind == tile_kind::stop) break;
      const std::int64_t start = shared.start[slot];
      double* const values_here = shared.ring + slot * tile;
      if (start + tile >= in.n && in.n % 2 != 0) {
        if (windows.thread == static_cast<int>(in.n - 1 - start) / per_thread)
          values_here[in.n - 1 - start] = in.values[in.n - 1];
        group_barrier();
      }
      // The tiles since the group's last one are the other groups': each of them is waited for, since copies
      // end, and groups scan, in any order.
      const auto wait_for_others = [&](mbarrier* of_tiles) {
#pragma unroll
        for (unsigned back = 1; back < groups; ++back) {
          const int before = slot - static_cast<int>(back);
          if (t >= back) of_tiles[before < 0 ? before + slots : before].wait(before < 0 ? phase - 1 : phase);
        }
      };
      const auto wait_for_values = [&] { wait_for_others(shared.arrived); };
      const auto wait_for_scans = [&] {
        if constexpr (groups == 1) {
          group_barrier();
        } else {
          shared.scanned[slot].arrive();
          wait_for_others(shared.scanned);
          shared.scanned[slot].wait(phase);
        }
      };
      // At the ends of the array some windows are incomplete, and some results lie behind it.
      const bool at_an_end = start < in.window - 1 || start + tile >= in.n;
      typename Windows::made made[per_thread];
      windows.make(made, shared.ring, shared.windows, group, slot, place{start, in.min_periods, at_an_end},
                   kind == tile_kind::results, group_barrier, wait_for_values, wait_for_scans);
      if constexpr (results_in_ring) {
        // Nobody reads what the windows of the tiles before hold any more, nor, behind the barrier, what
        // leaves this one.
        if (kind == tile_kind::results) {
          wait_for_others(shared.computed);
          if (Windows::reads_again && spare_tiles(in) == 0) group_barrier();
        }
      } else {
        if (t > 0) shared.drained[(t - 1) % groups].wait((t - 1) / groups);
      }
      if (kind == tile_kind::results) {
        const int place = results_at(slot, in) + windows.first;
        const auto result = [&](int v) -> double& {
          if constexpr (!results_in_ring) return shared.ring[place + v];
          return shared.ring[place + v < ring_values ? place + v : place + v - ring_values];
        };
        if (results_in_ring && place + per_thread > ring_values) {
#pragma unroll
          for (int v = 0; v < per_thread; ++v) result(v) = windows.whole(made[v]);
        } else {
#pragma unroll
          for (int v = 0; v < per_thread; ++v) shared.ring[place + v] = windows.whole(made[v]);
        }
        if (at_an_end) {
          for (int v = 0; v < per_thread; ++v) {
            const std::int64_t i = start + windows.first + v;
            if (i < in.window - 1) result(v) = windows.at(made[v], i, in.min_periods);
            if (i == in.n - 1) in.results[i] = result(v);  // of an odd number, which no bulk copy moves
          }
        }
      }
      fence_proxy_async();
      shared.computed[slot].arrive();
      slot += groups;
      if (slot >= slots) slot -= slots, ++phase;
    }
  }

  // The whole kernel, one block on each multiprocessor.
  template <class Source>
  static __device__ void run(const stream_of_tiles& in, const Source& source, const Windows& windows) {
    shared_state& shared = *dynamic_shared<shared_state>();
    windows.initialise(shared.windows, block_threads);
    if (threadIdx.x == 0) {
      for (mbarrier& barrier : shared.arrived) barrier.initialise(1);
      for (mbarrier& barrier : shared.scanned) barrier.initialise(group_threads);
      for (mbarrier& barrier : shared.computed) barrier.initialise(group_threads);
      for (mbarrier& barrier : shared.drained) barrier.initialise(1);
      fence_mbarrier_init();
    }
    __syncthreads();
    const int group = static_cast<int>(threadIdx.x) / group_threads;
    if (group < groups) {
      if constexpr (takes_registers) take_registers<registers>();
      return compute_tiles(shared, in, windows, groups == 1 ? 0 : group);
    }
    if constexpr (takes_registers) give_registers<registers_for_copies>();
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    if (thread == 0) load_tiles(shared, in, source);
    if (thread == 32) store_tiles(shared, in);
  }
};

#endif

}  // namespace lab::windows
