// Windows from a ring that keeps the values: every tile's values are scanned twice, as prefixes when it
// enters and as suffixes when it leaves, in registers. A state may be of any size, since none waits in the
// ring; of a tile only its total is kept, and the total of its last values.
//
//   a window       [suffix of a thread][after ][   rest   ][tile totals][before][prefix of a thread]
//   lies in        a segment that leaves       a segment    whole tiles   a segment that enters
//
// The segment that leaves lies a window before the one that enters, so its border falls anywhere in a tile:
// between it and the tile's end lie the `rest` values, as many for every tile. What lies between a thread's
// suffix and its prefix is the same for all of the thread's outputs, and is put together once.
#pragma once

#include <utility>

#include "common/windows/suffix_prefix.hpp"

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED

template <class Operation, int group_threads_, int per_thread_>
struct two_scans {
  // Chooses segments, and combines windows of a few values.
  using scans = suffix_prefix<Operation, group_threads_, per_thread_>;
  using state = typename Operation::state;
  static constexpr int group_threads = group_threads_;
  static constexpr int per_thread = per_thread_;
  static constexpr int warps = group_threads / 32;
  static constexpr int tile = scans::tile;

  template <int groups, int slots>
  struct shared_state {
    // Of a group's warps: what they enter, leave, and hold of the last values of their segment.
    state entering[groups][warps];
    state leaving[groups][warps];
    state last[groups][warps];
    // Of a tile in the ring: all of it, and its last segment's last values.
    state total[slots];
    state rest[slots];
  };

  Operation operation;
  int window;
  int segment_threads;
  int thread;   // in the group
  int first;    // of the thread's values, in the tile
  int segment;  // values
  int between;  // values between the segment that leaves and the one that enters
  int rest;     // of them, those before the first whole tile

  __device__ two_scans(Operation operation_, int window_, int segment_threads_, int thread_)
      : operation(operation_),
        window(window_),
        segment_threads(segment_threads_),
        thread(thread_),
        first(thread_ * per_thread),
        segment(segment_threads_ * per_thread),
        between(window_ - 1 - segment),
        rest(between % segment) {}

  template <class Shared>
  __device__ void initialise(Shared& /*shared*/, int /*block_threads*/) const {}

  // What make() leaves of a window: its result.
  using made = double;
  __device__ double whole(made result) const { return result; }
  __device__ double at(made result, std::int64_t /*i*/, int /*min_periods*/) const { return result; }

  // The windows that end in the tile at `slot`; of a halo's tile the totals alone. `ring` is a ring of
  // `slots` tiles.
  template <int groups, int slots, class Barrier, class WaitForValues, class WaitForScans>
  __device__ void make(made (&results)[per_thread], double* ring, shared_state<groups, slots>& shared,
                       int group, int slot, const place& where, bool wants_results, const Barrier& barrier,
                       const WaitForValues& wait_for_values, const WaitForScans& wait_for_scans) const {
    const std::int64_t start = where.start;
    if (window <= per_thread) {
      wait_for_values();
      const scans few(operation, window, segment_threads, thread);
      state own[per_thread];
      few.combine_short(
          own, [&](int place, int offset) { return lifted(ring[place], start + offset); }, slots * tile,
          slot * tile);
#pragma unroll
      for (int v = 0; v < per_thread; ++v) results[v] = result(own[v], v, where);
      return;
    }
    const int lane = thread % 32;
    const int warp = thread / 32;
    const int width = segment_threads < 32 ? segment_threads : 32;
    const int place = lane & (width - 1);

    // As the tile enters: what the threads before this one in the warp hold. The thread's own values are read
    // again at the end, which costs less than registers for their prefixes.
    const int here = slot * tile + first;
    state up = own_total(ring + here, start + first);
    state last = last_values(up, ring + slot * tile, start);
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width) break;
      const state lower = shuffle_up(up, distance);
      if (place >= distance) up = operation.combine(lower, up);
      last = ordered(last, shuffle_xor(last, distance), lane, distance);
    }
    state before = shuffle_up(up, 1);
    if (place == 0) before = operation.identity();
    if (lane == 31) {
      shared.entering[group][warp] = up;
      shared.last[group][warp] = last;
    }

    // As the segment a window before leaves: suffixes, and what the threads behind hold.
    state leaving[per_thread] = {};
    state after = operation.identity();
    if (wants_results) {
      wait_for_values();
      const int oldest = slot * tile + first - (window - 1);
      suffixes(leaving, ring, oldest >= 0 ? oldest : oldest + slots * tile, slots * tile,
               start + first - (window - 1));
      state down = leaving[0];
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        if (distance >= width) break;
        const state higher = shuffle_down(down, distance);
        if (place + distance < width) down = operation.combine(down, higher);
      }
      after = shuffle_down(down, 1);
      if (place == width - 1) after = operation.identity();
      if (lane == 0) shared.leaving[group][warp] = down;
    }
    barrier();
    if (segment_threads > 32) {
      const int segment_warps = segment_threads / 32;
      const int first_warp = warp & -segment_warps;
      state earlier = operation.identity();
      for (int other = first_warp; other < warp; ++other)
        earlier = operation.combine(earlier, shared.entering[group][other]);
      before = operation.combine(earlier, before);
      up = operation.combine(earlier, up);
      if (wants_results) {
        state later = operation.identity();
        for (int other = first_warp + segment_warps - 1; other > warp; --other)
          later = operation.combine(shared.leaving[group][other], later);
        after = operation.combine(after, later);
      }
    }
    if (thread == group_threads - 1) {
      shared.total[slot] = up;
      shared.rest[slot] = last_of_segment(shared.last[group], warps - 1);
    }
    // Read before anybody goes on to the next tile.
    state middle = segment_threads < group_threads ? before_segment(shared.last[group], last, place, width)
                                                   : operation.identity();
    wait_for_scans();
    if (!wants_results) return;

    middle = operation.combine(operation.combine(after, between_tiles(shared, slot, middle)), before);
    state prefix = operation.lift(ring[here]);
    results[0] = result(operation.combine(operation.combine(leaving[0], middle), prefix), 0, where);
    each_further([&]<int v>() {
      prefix = append_value<v + 1>(operation, prefix, ring[here + v]);
      results[v] = result(operation.combine(operation.combine(leaving[v], middle), prefix), v, where);
    });
  }

 private:
  // Of the thread's output v.
  __device__ double result(const state& all, int v, const place& where) const {
    if (!where.at_an_end) return whole_window_result(operation, all, window);
    return window_result(operation, all, where.start + first + v, window, where.min_periods);
  }

  // Before the array there is nothing.
  __device__ state lifted(double value, std::int64_t index) const {
    return index >= 0 ? operation.lift(value) : operation.identity();
  }

  // Calls visit.operator()<v>() for v = 1 .. per_thread - 1.
  template <class Visit>
  static __device__ __forceinline__ void each_further(const Visit& visit) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (visit.template operator()<k + 1>(), ...);
    }
    (std::make_integer_sequence<int, per_thread - 1>{});
  }

  // Suffixes of the thread's values from `place` on in a ring of `ring_values`; the first is input `index`.
  __device__ void suffixes(state (&all)[per_thread], const double* ring, int place, int ring_values,
                           std::int64_t index) const {
    constexpr int newest = per_thread - 1;
    const bool wraps = place + per_thread > ring_values;
    const auto value = [&](int v) {
      return ring[wraps && place + v >= ring_values ? place + v - ring_values : place + v];
    };
    if (index >= 0) {
      all[newest] = operation.lift(value(newest));
      each_further([&]<int k>() {
        all[newest - k] = prepend_value<k + 1>(operation, value(newest - k), all[newest - k + 1]);
      });
    } else {
      all[newest] = lifted(value(newest), index + newest);
#pragma unroll
      for (int v = newest - 1; v >= 0; --v)
        all[v] = operation.combine(lifted(value(v), index + v), all[v + 1]);
    }
  }

  // Of two lanes that lie `distance` apart, where the lane with that bit holds the later run. Both lanes
  // call; the lower one with its own run as `lower`, the other the other way round.
  __device__ state ordered(const state& lower, const state& higher, int lane, int distance) const {
    if constexpr (Operation::commutes) return operation.combine(lower, higher);
    return (lane & distance) != 0 ? operation.combine(higher, lower) : operation.combine(lower, higher);
  }

  // Of the thread's values; the first is input `index`.
  __device__ state own_total(const double* values, std::int64_t index) const {
    state all = operation.identity();
    if (index >= 0) {
      all = operation.lift(values[0]);
      each_further([&]<int v>() { all = append_value<v + 1>(operation, all, values[v]); });
    } else {
#pragma unroll 1
      for (int v = 0; v < per_thread; ++v) all = operation.combine(all, lifted(values[v], index + v));
    }
    return all;
  }

  // Of the thread's values those among the last `rest` of its segment, given the `total` of all of them.
  __device__ state last_values(const state& total, const double* tile_values, std::int64_t start) const {
    const int from = segment - rest - (thread & (segment_threads - 1)) * per_thread;
    if (from <= 0) return total;
    state all = operation.identity();
    for (int v = from; v < per_thread; ++v)
      all = operation.combine(all, lifted(tile_values[first + v], start + first + v));
    return all;
  }

  // Of the segment that ends with `last_warp`, its last `rest` values.
  __device__ state last_of_segment(const state* last, int last_warp) const {
    state all = operation.identity();
    const int segment_warps = segment_threads > 32 ? segment_threads / 32 : 1;
    for (int warp = last_warp - segment_warps + 1; warp <= last_warp; ++warp)
      all = operation.combine(all, last[warp]);
    return all;
  }

  // The last values of the segment before, if that lies in this tile. All lanes take part in the shuffle.
  __device__ state before_segment(const state* last_of_warps, const state& last, int place, int width) const {
    const int lane = thread % 32;
    const state neighbour = shuffle(last, lane > place ? lane - place - 1 : 0);
    if (lane >= width) return neighbour;
    const int first_warp = (thread & -segment_threads) / 32;
    return first_warp == 0 ? operation.identity() : last_of_segment(last_of_warps, first_warp - 1);
  }

  // What lies between the segment that leaves and the one that enters: `here`, if that is in this tile.
  template <int groups, int slots>
  __device__ state between_tiles(const shared_state<groups, slots>& shared, int slot,
                                 const state& here) const {
    const auto behind = [slot](int tiles) { return slot >= tiles ? slot - tiles : slot - tiles + slots; };
    if (segment_threads < group_threads) return thread < segment_threads ? shared.rest[behind(1)] : here;
    const int whole = between / tile;
    return operation.combine(shared.rest[behind(whole + 1)], totals(shared.total, whole, slot, slots));
  }

  // Of the `whole` tiles before the current one, in order; every lane gets it.
  __device__ state totals(const state* total, int whole, int slot, int slots) const {
    constexpr int lanes = 16;
    const int lane = thread % lanes;
    state all = operation.identity();
    if (whole == 0) return all;
    // Each lane takes neighbours, and lanes with higher numbers the earlier ones.
    const int each = (whole + lanes - 1) / lanes;
    for (int back = min((lane + 1) * each, whole); back > lane * each; --back)
      all = operation.combine(all, total[slot >= back ? slot - back : slot - back + slots]);
#pragma unroll
    for (int distance = 1; distance < lanes; distance *= 2) {
      all = ordered(shuffle_xor(all, distance), all, lane, distance);
    }
    return all;
  }
};

#endif

}  // namespace lab::windows
