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
  // Chooses segments.
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
    if (window <= per_thread) {
      wait_for_values();
      return short_windows(results, ring, slots * tile, slot * tile, where);
    }
    const int warp = thread / 32;
    const double* const values = ring + slot * tile;
    state suffix[per_thread] = {};
    run_of_segment scanned;
    if (wants_results) {
      wait_for_values();
      const int oldest = slot * tile + first - (window - 1);
      scanned = totals_and_suffixes(suffix, values, ring, oldest >= 0 ? oldest : oldest + slots * tile,
                                    slots * tile, where.start);
    } else {
      scanned = own_totals(values, where.start);
    }
    scan(scanned);
    if (thread % 32 == 31) {
      shared.entering[group][warp] = scanned.up;
      shared.last[group][warp] = scanned.last;
    }
    if (thread % 32 == 0) shared.leaving[group][warp] = scanned.down;
    state before = shuffle_up(scanned.up, 1);
    state after = shuffle_down(scanned.down, 1);
    if (place_in_segment() == 0) before = operation.identity();
    if (place_in_segment() == width() - 1) after = operation.identity();
    barrier();
    if (segment_threads > 32) {
      const state earlier = earlier_warps(shared.entering[group]);
      before = operation.combine(earlier, before);
      scanned.up = operation.combine(earlier, scanned.up);
      after = operation.combine(after, later_warps(shared.leaving[group]));
    }
    if (thread == group_threads - 1) {
      shared.total[slot] = scanned.up;
      shared.rest[slot] = last_of_segment(shared.last[group], warps - 1);
    }
    // Read before anybody goes on to the next tile.
    state middle = segment_threads < group_threads ? before_segment(shared.last[group], scanned.last)
                                                   : operation.identity();
    wait_for_scans();
    if (!wants_results) return;
    middle = operation.combine(operation.combine(after, between_tiles(shared, slot, middle)), before);
    join(results, suffix, middle, values + first, where);
  }

 private:
  // Of the thread's segment in the warp: all values up to the thread's last; all from its first on, of the
  // segment that leaves; and the last `rest` values.
  struct run_of_segment {
    state up;
    state down;
    state last;
  };

  // Lanes of a warp that hold one segment, or a part of one; and the lane's place among them.
  __device__ int width() const { return segment_threads < 32 ? segment_threads : 32; }
  __device__ int place_in_segment() const { return thread % 32 & (width() - 1); }

  // The thread's own values: all of them, and those among the last `rest` of its segment.
  __device__ run_of_segment own_totals(const double* values, std::int64_t start) const {
    constexpr int newest = per_thread - 1;
    const double* const own = values + first;
    const int from = rest_from();
    run_of_segment all = {lifted(own[newest], start + first + newest), operation.identity(),
                          operation.identity()};
    if (from <= newest) all.last = all.up;
    if (start >= 0) {
      each_further([&]<int k>() {
        all.up = operation.combine(operation.lift(own[newest - k]), all.up);
        if (from <= newest - k) all.last = all.up;
      });
    } else {
#pragma unroll 1
      for (int v = newest - 1; v >= 0; --v) {
        all.up = operation.combine(lifted(own[v], start + first + v), all.up);
        if (from <= v) all.last = all.up;
      }
    }
    return all;
  }

  // The same, and suffixes of the values that leave, from `place` on in the ring; the one loop has two chains
  // of dependent operations. The thread's own values are read again at the end, which costs less than
  // registers for their prefixes.
  __device__ run_of_segment totals_and_suffixes(state (&suffix)[per_thread], const double* values,
                                                const double* ring, int place, int ring_values,
                                                std::int64_t start) const {
    constexpr int newest = per_thread - 1;
    const std::int64_t oldest = start + first - (window - 1);
    if (oldest < 0) {
      suffixes_at_beginning(suffix, ring, place, ring_values, oldest);
      run_of_segment all = own_totals(values, start);
      all.down = suffix[0];
      return all;
    }
    const bool wraps = place + per_thread > ring_values;
    const double* const own = values + first;
    const int from = rest_from();
    run_of_segment all;
    double leaving[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v)
      leaving[v] = ring[wraps && place + v >= ring_values ? place + v - ring_values : place + v];
    all.up = operation.lift(own[newest]);
    all.last = from <= newest ? all.up : operation.identity();
    suffix[newest] = operation.lift(leaving[newest]);
    each_further([&]<int k>() {
      all.up = operation.combine(operation.lift(own[newest - k]), all.up);
      suffix[newest - k] = operation.combine(operation.lift(leaving[newest - k]), suffix[newest - k + 1]);
      if (from <= newest - k) all.last = all.up;
    });
    all.down = suffix[0];
    return all;
  }

  // Of the thread's values the first that is among the last `rest` of its segment; none from per_thread on.
  __device__ int rest_from() const {
    return segment - rest - (thread & (segment_threads - 1)) * per_thread;
  }

  // The three scans of a warp, side by side.
  __device__ void scan(run_of_segment& all) const {
    const int lane = thread % 32;
    const int place = place_in_segment();
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width()) break;
      const state lower = shuffle_up(all.up, distance);
      const state higher = shuffle_down(all.down, distance);
      const state other = shuffle_xor(all.last, distance);
      if (place >= distance) all.up = operation.combine(lower, all.up);
      if (place + distance < width()) all.down = operation.combine(all.down, higher);
      all.last = ordered(all.last, other, lane, distance);
    }
  }

  // Segments that several warps share.
  __device__ state earlier_warps(const state* of_warps) const {
    const int warp = thread / 32;
    state earlier = operation.identity();
    for (int other = warp & -(segment_threads / 32); other < warp; ++other)
      earlier = operation.combine(earlier, of_warps[other]);
    return earlier;
  }
  __device__ state later_warps(const state* of_warps) const {
    const int warp = thread / 32;
    const int segment_warps = segment_threads / 32;
    state later = operation.identity();
    for (int other = (warp & -segment_warps) + segment_warps - 1; other > warp; --other)
      later = operation.combine(of_warps[other], later);
    return later;
  }

  // The thread's results, of its suffixes a window before, its own `values`, and what lies between.
  __device__ void join(made (&results)[per_thread], const state (&suffix)[per_thread], const state& middle,
                       const double* values, const place& where) const {
    const std::int64_t oldest = where.start + first - (window - 1);
    state prefix = operation.lift(values[0]);
    const auto joined = [&](int v) {
      const state earlier = operation.combine(with_count(suffix[v], v, oldest), middle);
      return result(operation.combine(earlier, prefix), v, where);
    };
    results[0] = joined(0);
    each_further([&]<int v>() {
      prefix = operation.combine(prefix, operation.lift(values[v]));
      results[v] = joined(v);
    });
  }

  // Suffix v, and how many values it holds: registers need not keep that from tile to tile's end.
  __device__ state with_count(const state& suffix, int v, std::int64_t oldest) const {
    if constexpr (requires { operation.counted(suffix, 1); }) {
      const std::int64_t inside = oldest + per_thread;
      return operation.counted(suffix, inside >= per_thread - v ? per_thread - v
                                       : inside > 0             ? static_cast<int>(inside)
                                                                : 0);
    } else {
      return suffix;
    }
  }

  // Windows of at most per_thread values, one value after another; the tile begins at `base` in the ring.
  __device__ void short_windows(made (&results)[per_thread], const double* ring, int ring_values, int base,
                                const place& where) const {
    state own[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v) own[v] = operation.identity();
    // Neither the ring's end nor the array's beginning lies among the values.
    const bool plain = base + first >= window - 1 && where.start + first >= window - 1;
#pragma unroll 1
    for (int back = window - 1; back >= 0; --back) {
      const int from = base + first - back;
      const std::int64_t index = where.start + first - back;
      if (plain) {
#pragma unroll
        for (int v = 0; v < per_thread; ++v)
          own[v] = operation.combine(own[v], operation.lift(ring[from + v]));
      } else {
#pragma unroll
        for (int v = 0; v < per_thread; ++v) {
          const int place = from + v >= 0 ? from + v : from + v + ring_values;
          own[v] = operation.combine(own[v], lifted(ring[place], index + v));
        }
      }
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) results[v] = result(own[v], v, where);
  }

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

  // Suffixes of the values from `place` on in the ring, of which the first is input `oldest` < 0.
  __device__ void suffixes_at_beginning(state (&all)[per_thread], const double* ring, int place,
                                        int ring_values, std::int64_t oldest) const {
    state run = operation.identity();
#pragma unroll
    for (int v = per_thread - 1; v >= 0; --v) {
      const double value = ring[place + v < ring_values ? place + v : place + v - ring_values];
      run = operation.combine(lifted(value, oldest + v), run);
      all[v] = run;
    }
  }

  // Of two lanes that lie `distance` apart, where the lane with that bit holds the later run. Both lanes
  // call; the lower one with its own run as `lower`, the other the other way round.
  __device__ state ordered(const state& lower, const state& higher, int lane, int distance) const {
    if constexpr (Operation::commutes) return operation.combine(lower, higher);
    return (lane & distance) != 0 ? operation.combine(higher, lower) : operation.combine(lower, higher);
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
  __device__ state before_segment(const state* last_of_warps, const state& last) const {
    const int lane = thread % 32;
    const int place = place_in_segment();
    const state neighbour = shuffle(last, lane > place ? lane - place - 1 : 0);
    if (lane >= width()) return neighbour;
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
