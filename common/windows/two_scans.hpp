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

#include <type_traits>
#include <utility>

#include "common/windows/suffix_prefix.hpp"

#if LAB_EMULATED
#define LAB_OUT_OF_LINE
#else
#define LAB_OUT_OF_LINE __noinline__
#endif

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
  // An operation that does not count its values has no min_periods of its own, which are asked for elsewhere.
  static constexpr bool by_deviations = has_deviations<Operation> && requires { Operation::is_counted(0.0); };
  static_assert(per_thread <= 32, "a bit tells of each of a thread's values whether it counts");
  // Whether results that take care read from the ring again what leaves.
  static constexpr bool reads_again = by_deviations;

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
    kept leaving[per_thread] = {};
    unsigned counted = 0;
    run_of_segment scanned;
    if (wants_results) {
      wait_for_values();
      const int oldest = slot * tile + first - (window - 1);
      const int place = oldest >= 0 ? oldest : oldest + slots * tile;
      if constexpr (by_deviations) {
        scanned = own_deviations(values, where.start);
        read_leaving(leaving, ring, place, slots * tile);
        counted = counted_of(leaving, where.start + first - (window - 1));
        scanned.down = state_of(leaving, counted);
      } else {
        scanned = totals_and_suffixes(leaving, counted, values, ring, place, slots * tile, where.start);
      }
    } else if constexpr (by_deviations) {
      scanned = own_deviations(values, where.start);
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
    if constexpr (by_deviations) {
      const unsigned rare = join_deviations(results, leaving, counted, middle, values + first);
      if (rare == 0) return;
      double careful[per_thread];
      const int oldest = slot * tile + first - (window - 1);
      careful_results(careful, operation, middle, ring, slots * tile, oldest, counted, slot * tile + first);
      replace_rare(results, rare, careful);
    } else {
      join(results, leaving, counted, middle, values + first, where);
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

  // make() in two turns, of which the first asks for nothing but the tile itself, so that its total is known
  // early. `publish(total, rest)` is called by one thread; with windows shorter than a tile `total` is that
  // of the last segment alone, and nobody asks for it.
  struct entered {
    state before;  // of the thread's segment, the values before the thread's own
    state middle;  // the last values of the segment before, where that lies in this tile
  };
  template <int groups, int slots, class Barrier, class Publish>
  __device__ entered enter(const double* values, shared_state<groups, slots>& shared, int group,
                           std::int64_t start, const Barrier& barrier, const Publish& publish) const {
    const int warp = thread / 32;
    run_of_segment own;
    if constexpr (by_deviations) {
      own = own_deviations(values, start);
    } else {
      own = own_totals(values, start);
    }
    scan_entering(own);
    if (thread % 32 == 31) {
      shared.entering[group][warp] = own.up;
      shared.last[group][warp] = own.last;
    }
    entered found = {shuffle_up(own.up, 1), operation.identity()};
    if (place_in_segment() == 0) found.before = operation.identity();
    barrier();
    if (segment_threads > 32) {
      const state earlier = earlier_warps(shared.entering[group]);
      found.before = operation.combine(earlier, found.before);
      own.up = operation.combine(earlier, own.up);
    }
    if (thread == group_threads - 1) publish(own.up, last_of_segment(shared.last[group], warps - 1));
    if (segment_threads < group_threads) found.middle = before_segment(shared.last[group], own.last);
    return found;
  }
  // The windows of more than per_thread values that end in the tile `own`, whose first values leave at
  // `leaving`. `wait_for_others()` is a barrier of the group and returns what lies between the first tile and
  // the segment that leaves.
  template <int groups, int slots, class WaitForOthers>
  __device__ void finish(made (&results)[per_thread], const entered& found, const double* own,
                         const double* leaving, shared_state<groups, slots>& shared, int group,
                         const place& where, const WaitForOthers& wait_for_others) const {
    kept suffix[per_thread] = {};
    unsigned counted = 0;
    state down;
    const std::int64_t oldest = where.start + first - (window - 1);
    if constexpr (by_deviations) {
      read_leaving(suffix, leaving, first, tile);
      counted = counted_of(suffix, oldest);
      down = state_of(suffix, counted);
    } else {
      down = suffixes(suffix, counted, leaving, oldest);
    }
    scan_leaving(down);
    if (thread % 32 == 0) shared.leaving[group][thread / 32] = down;
    state after = shuffle_down(down, 1);
    if (place_in_segment() == width() - 1) after = operation.identity();
    state middle = wait_for_others();
    if (segment_threads > 32) after = operation.combine(after, later_warps(shared.leaving[group]));
    if (thread >= segment_threads) middle = found.middle;
    middle = operation.combine(operation.combine(after, middle), found.before);
    if constexpr (by_deviations) {
      const unsigned rare = join_deviations(results, suffix, counted, middle, own + first);
      if (rare == 0) return;
      double careful[per_thread];
      careful_results(careful, operation, middle, leaving, tile, first, counted,
                      static_cast<int>(own - leaving) + first);
      replace_rare(results, rare, careful);
    } else {
      join(results, suffix, counted, middle, own + first, where);
    }
  }

 private:
  // Of the values that leave a thread keeps each one's suffix, or itself.
  using kept = std::conditional_t<by_deviations, double, state>;

  // Of the thread's segment in the warp: all values up to the thread's last; all from its first on, of the
  // segment that leaves; and the last `rest` values.
  struct run_of_segment {
    state up;
    state down;
    state last;
  };

  // Lanes of a warp that hold one segment, or a part of one; and the lane's place among them.
  __device__ int width() const {
    return segment_threads < 32 ? segment_threads : 32;
  }
  __device__ int place_in_segment() const {
    return thread % 32 & (width() - 1);
  }

  // The thread's own values: all of them, and those among the last `rest` of its segment.
  __device__ run_of_segment own_totals(const double* values, std::int64_t start) const {
    constexpr int newest = per_thread - 1;
    const double* const own = values + first;
    run_of_segment all = {lifted(own[newest], start + first + newest), operation.identity(),
                          operation.identity()};
    note_rest(all, newest);
    if (start >= 0) {
      each_further([&]<int k>() {
        all.up = operation.combine(operation.lift(own[newest - k]), all.up);
        note_rest(all, newest - k);
      });
    } else {
#pragma unroll 1
      for (int v = newest - 1; v >= 0; --v) {
        all.up = operation.combine(lifted(own[v], start + first + v), all.up);
        note_rest(all, v);
      }
    }
    share_rest(all, values, start);
    return all;
  }

  // The values that leave, from `place` on in the ring.
  __device__ void read_leaving(double (&all)[per_thread], const double* ring, int place,
                               int ring_values) const {
    if (place + per_thread <= ring_values) {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) all[v] = ring[place + v];
      return;
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v)
      all[v] = ring[place + v >= ring_values ? place + v - ring_values : place + v];
  }
  // Bit v is set where value v counts, which is value `index` + v of the array.
  static __device__ unsigned counted_of(const double (&all)[per_thread], std::int64_t index) {
    unsigned counted = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) counted |= is_counted(all[v]) ? 1U << v : 0;
    if (index < 0) counted &= index > -per_thread ? ~0U << -index : 0;
    return counted;
  }

  // The totals, and suffixes of the values that leave; the one loop has two chains of dependent operations.
  // The thread's own values are read again at the end, which costs less than registers for their prefixes.
  __device__ run_of_segment totals_and_suffixes(kept (&suffix)[per_thread], unsigned& counted,
                                                const double* values, const double* ring, int place,
                                                int ring_values, std::int64_t start) const {
    constexpr int newest = per_thread - 1;
    const std::int64_t oldest = start + first - (window - 1);
    if (oldest < 0) {
      suffixes_at_beginning(suffix, counted, ring, place, ring_values, oldest);
      run_of_segment all = own_totals(values, start);
      all.down = suffix[0];
      return all;
    }
    const double* const own = values + first;
    run_of_segment all;
    double leaving[per_thread];
    read_leaving(leaving, ring, place, ring_values);
    if constexpr (forgets_counts) counted = counted_of(leaving, 0);
    all.up = operation.lift(own[newest]);
    all.last = operation.identity();
    note_rest(all, newest);
    suffix[newest] = operation.lift(leaving[newest]);
    each_further([&]<int k>() {
      all.up = operation.combine(operation.lift(own[newest - k]), all.up);
      suffix[newest - k] = operation.combine(operation.lift(leaving[newest - k]), suffix[newest - k + 1]);
      note_rest(all, newest - k);
    });
    all.down = with_count(suffix[0], counted, 0);
    if constexpr (forgets_counts && Operation::commutes) {
      double entering[per_thread];
#pragma unroll
      for (int v = 0; v < per_thread; ++v) entering[v] = own[v];
      all.up = with_count(all.up, counted_of(entering, 0), 0);
    }
    share_rest(all, values, start);
    return all;
  }

  // The last `rest` values of a segment begin among those of one thread. Where the order matters, that thread
  // notes what it has when it comes by, which costs everybody a move for each value; where it does not, the
  // segment's threads take that thread's values one each, beside their own.
  __device__ void note_rest(run_of_segment& all, int v) const {
    if constexpr (!Operation::commutes) {
      if (segment - rest - (thread & (segment_threads - 1)) * per_thread <= v) all.last = all.up;
    }
  }
  // `all.up` is complete; `values` are the tile's, of which the first is input `start`.
  __device__ void share_rest(run_of_segment& all, const double* values, std::int64_t start) const {
    if constexpr (Operation::commutes) {
      const int place = thread & (segment_threads - 1);
      all.last = place >= segment_threads - rest / per_thread ? all.up : operation.identity();
      const int begin = (thread & -segment_threads) * per_thread + segment - rest;
      for (int k = place; k < rest % per_thread; k += segment_threads)
        all.last = operation.combine(all.last, lifted(values[begin + k], start + begin + k));
    }
  }

  // Of the tile `leaving`, of which the thread's first value is input `oldest`: its total.
  __device__ state suffixes(state (&suffix)[per_thread], unsigned& counted, const double* leaving,
                            std::int64_t oldest) const {
    if (oldest < 0) {
      suffixes_at_beginning(suffix, counted, leaving, first, tile, oldest);
      return suffix[0];
    }
    constexpr int newest = per_thread - 1;
    double values[per_thread];
    read_leaving(values, leaving, first, tile);
    if constexpr (forgets_counts) counted = counted_of(values, 0);
    suffix[newest] = operation.lift(values[newest]);
    each_further([&]<int k>() {
      suffix[newest - k] = operation.combine(operation.lift(values[newest - k]), suffix[newest - k + 1]);
    });
    return suffix[0];
  }

  // A warp's scans, on their own.
  __device__ void scan_entering(run_of_segment& all) const {
    const int lane = thread % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width()) break;
      const state lower = shuffle_up(all.up, distance);
      const state other = shuffle_xor(all.last, distance);
      if (place_in_segment() >= distance) all.up = operation.combine(lower, all.up);
      all.last = ordered(all.last, other, lane, distance);
    }
  }
  __device__ void scan_leaving(state& down) const {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance >= width()) break;
      const state higher = shuffle_down(down, distance);
      if (place_in_segment() + distance < width()) down = operation.combine(down, higher);
    }
  }
  // The three of them, side by side.
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

  // Registers need not keep from tile to tile's end how many values each suffix holds.
  static constexpr bool forgets_counts = requires(const state& all) {
    Operation::counted(all, 1);
  };
  static __device__ bool is_counted(double value) {
    if constexpr (requires { Operation::is_counted(value); }) return Operation::is_counted(value);
    return true;
  }
  static __device__ state with_count(const state& suffix, unsigned counted, int v) {
    if constexpr (forgets_counts) return Operation::counted(suffix, __popc(counted >> v));
    return suffix;
  }

  // The thread's results, of its suffixes a window before, its own `values`, and what lies between.
  __device__ void join(made (&results)[per_thread], const state (&suffix)[per_thread], unsigned counted,
                       const state& middle, const double* values, const place& where) const {
    if (where.at_an_end) {
      join_each(results, suffix, counted, middle, values, [&](const state& all, int v) {
        return window_result(operation, all, where.start + first + v, window, where.min_periods);
      });
    } else {
      join_each(results, suffix, counted, middle, values,
                [&](const state& all, int /*v*/) { return whole_window_result(operation, all, window); });
    }
  }
  template <class Finish>
  __device__ __forceinline__ void join_each(made (&results)[per_thread], const state (&suffix)[per_thread],
                                            unsigned counted, const state& middle, const double* values,
                                            const Finish& finish) const {
    if constexpr (forgets_counts && requires { middle.count; }) {
      int count = static_cast<int>(middle.count) + __popc(counted);
      state behind = middle;  // the suffix
#pragma unroll
      for (int v = 0; v < per_thread; ++v) {
        behind = operation.combine(behind, operation.lift(values[v]));
        count += is_counted(values[v]) ? 1 : 0;
        results[v] = finish(Operation::counted(operation.combine(suffix[v], behind), count), v);
        count -= static_cast<int>(counted >> v & 1);
      }
    } else {
      state behind = operation.combine(middle, operation.lift(values[0]));
      results[0] = finish(operation.combine(with_count(suffix[0], counted, 0), behind), 0);
      each_further([&]<int v>() {
        behind = operation.combine(behind, operation.lift(values[v]));
        results[v] = finish(operation.combine(with_count(suffix[v], counted, v), behind), v);
      });
    }
  }

  // Deviations: nothing waits from one value to the next, and no state is merged but one for a thread.

  // Of those values that count.
  __device__ state state_of(const double (&all)[per_thread], unsigned counted) const {
    double origin = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) origin = counted >> v & 1 ? all[v] : origin;
    double sum[2] = {};
    double squares[2] = {};
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const double apart = counted >> v & 1 ? all[v] - origin : 0;
      sum[v % 2] += apart;
      squares[v % 2] = fma(apart, apart, squares[v % 2]);
    }
    if (!(squares[0] + squares[1] < INFINITY)) {
      some_values some;
#pragma unroll
      for (int v = 0; v < per_thread; ++v) some.value[v] = all[v];
      return merged(operation, some, counted);
    }
    return Operation::of_deviations(origin, sum[0] + sum[1], squares[0] + squares[1], __popc(counted));
  }
  // One after another: the origin may have been the one that is far from all others.
  struct some_values {
    double value[per_thread];
  };
  static __device__ LAB_OUT_OF_LINE state merged(Operation operation, some_values all, unsigned counted) {
    state run = operation.identity();
#pragma unroll 1
    for (int v = 0; v < per_thread; ++v) {
      if (counted >> v & 1) run = operation.combine(run, operation.lift(all.value[v]));
    }
    return run;
  }
  __device__ run_of_segment own_deviations(const double* values, std::int64_t start) const {
    double own[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v) own[v] = values[first + v];
    const unsigned counted = counted_of(own, start + first);
    run_of_segment all = {state_of(own, counted), operation.identity(), operation.identity()};
    share_rest(all, values, start);
    return all;
  }

  // The thread's results, of the values that leave, its own, and what lies between. Bit v is set where result
  // v takes more care. What lies behind the array may be anything, and must not change how another is
  // rounded.
  __device__ unsigned join_deviations(made (&results)[per_thread], const double (&leaving)[per_thread],
                                      unsigned counted, const state& middle, const double* values) const {
    double sum[per_thread];  // of the suffixes' deviations
    double squares[per_thread];
    double all = 0;
    double all_squares = 0;
#pragma unroll
    for (int v = per_thread - 1; v >= 0; --v) {
      const double apart = counted >> v & 1 ? leaving[v] - middle.mean : 0;
      sum[v] = all += apart;
      squares[v] = all_squares = fma(apart, apart, all_squares);
    }
    all = 0;
    all_squares = 0;
    int prefix = 0;
    unsigned rare = middle.count > 0 ? 0 : ~0U;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const bool counts = is_counted(values[v]);
      const double apart = counts ? values[v] - middle.mean : 0;
      prefix += counts ? 1 : 0;
      all += apart;
      all_squares = fma(apart, apart, all_squares);
      const bool sure = operation.finish_deviations(results[v], middle, all + sum[v],
                                                    all_squares + squares[v], prefix + __popc(counted >> v));
      rare |= sure ? 0 : 1U << v;
    }
    if (operation.takes_roots()) {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) results[v] = Operation::root_of(results[v]);
    }
    return rare;
  }
  // Those of which bit v is set.
  static __device__ void replace_rare(double (&results)[per_thread], unsigned rare,
                                      const double (&careful)[per_thread]) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) results[v] = (rare >> v & 1) != 0 ? careful[v] : results[v];
  }
  // With states: where the middle is empty, and where numbers are none, or beyond the largest. The values
  // that leave lie from `oldest` on in the ring, the thread's own from `newest` on.
  static __device__ LAB_OUT_OF_LINE void careful_results(double* results, Operation operation, state middle,
                                                         const double* ring, int ring_values, int oldest,
                                                         unsigned counted, int newest) {
    state suffix[per_thread];
    state run = operation.identity();
#pragma unroll 1
    for (int v = per_thread - 1; v >= 0; --v) {
      const int from = oldest + v >= 0 ? oldest + v : oldest + v + ring_values;
      if (counted >> v & 1) run = operation.combine(operation.lift(ring[from]), run);
      suffix[v] = run;
    }
    run = operation.identity();
#pragma unroll 1
    for (int v = 0; v < per_thread; ++v) {
      run = operation.combine(run, operation.lift(ring[newest + v]));
      results[v] = operation.finish(operation.combine(operation.combine(suffix[v], middle), run), 0);
    }
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
  __device__ void suffixes_at_beginning(state (&all)[per_thread], unsigned& counted, const double* ring,
                                        int place, int ring_values, std::int64_t oldest) const {
    state run = operation.identity();
#pragma unroll
    for (int v = per_thread - 1; v >= 0; --v) {
      const double value = ring[place + v < ring_values ? place + v : place + v - ring_values];
      run = operation.combine(lifted(value, oldest + v), run);
      all[v] = run;
      if constexpr (forgets_counts) counted |= oldest + v >= 0 && is_counted(value) ? 1U << v : 0;
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

#undef LAB_OUT_OF_LINE
