// var and std of windows from a ring that keeps the values, as two_scans.hpp makes any operation's, and in
// the same pieces:
//
//   a window       [suffix of a thread][after ][   rest   ][tile totals][before][prefix of a thread]
//   lies in        a segment that leaves       a segment    whole tiles   a segment that enters
//
// How many values each piece holds depends on the window and the thread alone. So no state carries a count,
// and two runs are merged with weights from tables that are filled once (Chan, Golub, LeVeque 1979).
//
// What lies between a thread's suffix and its prefix, the middle, is the same for all of the thread's
// outputs. They are sums of deviations d from the middle's mean m and of their squares: with w values in all
// and the middle's squared deviations q,
//
//     squared deviations of a window = q + sum d^2 - (sum d)^2 / w
//
// At most per_thread + 1 of the w deviations are not the middle's, so the last term takes at most
// (per_thread + 1) / w of the one before: nothing cancels, and no result is negative. Where values are equal,
// every d is exactly 0.
#pragma once

#include <cfloat>

#include "common/windows/suffix_prefix.hpp"

#if LAB_EMULATED
#define LAB_OUT_OF_LINE
#else
#define LAB_OUT_OF_LINE __noinline__
#endif

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED

// Of a run whose number of values is known: mean, and squared deviations from it.
struct alignas(16) spread {
  double mean;
  double squares;
};

// What merging a run of `mine` values with another of `others` needs to know of their numbers.
struct alignas(16) merge_weights {
  double share;  // of the other run in both
  double cross;  // of the squared distance between the means

  static __device__ merge_weights of(double mine, double others) {
    if (!(others > 0)) return {0, 0};
    const double share = others / (mine + others);
    return {share, mine * share};
  }
};

// In this order a large distance from a run of no values adds 0, and not Inf * 0.
__device__ inline spread merge(const spread& mine, const spread& other, const merge_weights& known) {
  const double apart = other.mean - mine.mean;
  return {mine.mean + apart * known.share, mine.squares + other.squares + apart * (apart * known.cross)};
}

template <int group_threads_, int per_thread_>
struct moment_scans {
  // Chooses segments.
  using scans = suffix_prefix<moments, group_threads_, per_thread_>;
  static constexpr int group_threads = group_threads_;
  static constexpr int per_thread = per_thread_;
  static constexpr bool reads_again = true;  // what leaves, from the ring, for results that take care
  static constexpr int warps = group_threads / 32;
  static constexpr int tile = scans::tile;
  static constexpr int steps = 5;  // of a scan in a warp: distances 1 to 16
  static constexpr int warp_values = 32 * per_thread;
  static_assert(per_thread <= 32, "a bit tells of each of a thread's results whether it is made again");
  static_assert(warps <= 4, "totals of four warps are merged one after another");

  // Weights, the same for every tile.
  struct weight_tables {
    merge_weights in_warp[steps][32];           // a scan, by place from the side where the scan begins
    merge_weights of_rest[steps][32];           // all lanes of the warp in which the rest begins
    merge_weights of_tiles[steps - 1][16];      // all lanes, each with a whole tile or none
    merge_weights with_warps[group_threads];    // by place: what is before in the warp, and the earlier warps
    merge_weights with_between[group_threads];  // what is after, and what lies between the segments
    merge_weights with_before[group_threads];   // these two, and what is before
    merge_weights rest_with_warp[warps];        // the rest's part in so many warps, and one more
    merge_weights rest_with_tiles;
    double per_part;  // 1 / values of the rest in the thread in which it begins
  };

  template <int groups, int slots>
  struct shared_state {
    weight_tables weights;
    // Of a group's warps: what they enter, leave, and hold of the last values of their segment.
    spread entering[groups][warps];
    spread leaving[groups][warps];
    spread last[groups][warps];
    // Of a tile in the ring: all of it, and its last segment's last values.
    spread total[slots];
    spread rest[slots];
  };

  moments operation;
  int window;
  int segment_threads;
  int thread;   // in the group
  int first;    // of the thread's values, in the tile
  int segment;  // values
  int between;  // values between the segment that leaves and the one that enters
  int rest;     // of them, those before the first whole tile
  double per_window;

  __device__ moment_scans(moments operation_, int window_, int segment_threads_, int thread_)
      : operation(operation_),
        window(window_),
        segment_threads(segment_threads_),
        thread(thread_),
        first(thread_ * per_thread),
        segment(segment_threads_ * per_thread),
        between(window_ - 1 - segment),
        rest(between > 0 ? between % segment : 0),
        per_window(1.0 / window_) {}

  // Fills the tables; the block waits before it uses them.
  template <class Shared>
  __device__ void initialise(Shared& shared, int block_threads) const {
    weight_tables& weights = shared.weights;
    for (int i = static_cast<int>(threadIdx.x); i < steps * 32; i += block_threads) {
      const int distance = 1 << (i / 32);
      const int lane = i % 32;
      weights.in_warp[i / 32][lane] =
          merge_weights::of(values_of(distance), values_of(min(distance, max(lane - distance + 1, 0))));
      weights.of_rest[i / 32][lane] = weigh_lanes(lane, distance, [this](int from, int to) {
        return rest_values(rest_warp() * 32 + (from & (width() - 1)),
                           rest_warp() * 32 + (from & (width() - 1)) + to - from);
      });
      if (i / 32 < steps - 1 && lane < 16) {
        weights.of_tiles[i / 32][lane] = weigh_lanes(lane, distance, [this](int from, int to) {
          return tile * (min(to, whole_tiles()) - min(from, whole_tiles()));
        });
      }
    }
    for (int place = static_cast<int>(threadIdx.x); place < group_threads; place += block_threads) {
      const double before = values_of(place);
      const double after = values_of(max(segment_threads - 1 - place, 0));
      weights.with_warps[place] = merge_weights::of(values_of(place % 32), values_of(place - place % 32));
      weights.with_between[place] = merge_weights::of(after, between);
      weights.with_before[place] = merge_weights::of(after + between, before);
    }
    if (threadIdx.x == 0) {
      const int of_first = rest_values(0, (rest_warp() + 1) * 32);
      for (int more = 0; more < warps; ++more)
        weights.rest_with_warp[more] = merge_weights::of(of_first + more * warp_values, warp_values);
      weights.rest_with_tiles = merge_weights::of(rest, between - rest);
      weights.per_part = 1.0 / (per_thread - (segment - rest) % per_thread);
    }
  }

  // What make() leaves of a window: its result.
  using made = double;
  __device__ double whole(made result) const { return result; }
  __device__ double at(made result, std::int64_t /*i*/, int /*min_periods*/) const { return result; }

  // The windows that end in the tile at `slot`; of a halo's tile the totals alone. `ring` is a ring of
  // `slots` tiles. Windows that hold all their values depend on none before the array: those places may hold
  // anything.
  template <int groups, int slots, class Barrier, class WaitForValues, class WaitForScans>
  __device__ void make(made (&results)[per_thread], double* ring, shared_state<groups, slots>& shared,
                       int group, int slot, const place& where, bool wants_results, const Barrier& barrier,
                       const WaitForValues& wait_for_values, const WaitForScans& wait_for_scans) const {
    const double* const values = ring + slot * tile;
    if (window <= per_thread) {
      wait_for_values();
      short_windows(results, ring, slots * tile, slot * tile);
      if (wants_results && where.start < window - 1) begin(results, values, spread{}, spread{}, where);
      return;
    }
    double leaving[per_thread] = {};
    double entering[per_thread];
    if (wants_results) {
      wait_for_values();
      read_leaving(leaving, ring, slot, slots);
    }
    read(entering, values + first);
    run_of_segment scanned;
    scanned.up = total_of(entering);
    scanned.down = total_of(leaving);
    scanned.last = last_values(scanned.up, entering, shared.weights.per_part);
    scan(scanned, shared.weights);
    if (thread % 32 == 31) {
      shared.entering[group][thread / 32] = scanned.up;
      shared.last[group][thread / 32] = scanned.last;
    }
    if (thread % 32 == 0) shared.leaving[group][thread / 32] = scanned.down;
    spread before = shuffle_up(scanned.up, 1);
    spread after = shuffle_down(scanned.down, 1);
    if (place_in_warp() == 0) before = {};
    if (place_in_warp() == width() - 1) after = {};
    barrier();
    if (segment_threads > 32) {
      before =
          merge(before, earlier_warps(shared.entering[group]), shared.weights.with_warps[place_in_segment()]);
      after = merge(after, later_warps(shared.leaving[group]),
                    shared.weights.with_warps[segment_threads - 1 - place_in_segment()]);
    }
    if (thread == group_threads - 1) {
      if (segment_threads == group_threads) shared.total[slot] = all_warps(shared.entering[group]);
      shared.rest[slot] = rest_of_segment(shared.last[group], warps - segment_warps(), shared.weights);
    }
    // Read before anybody goes on to the next tile.
    spread middle = segment_threads < group_threads
                        ? before_segment(shared.last[group], scanned.last, shared.weights)
                        : spread{};
    wait_for_scans();
    if (!wants_results) return;
    middle = between_segments(shared, slot, middle);
    middle = merge(after, middle, shared.weights.with_between[place_in_segment()]);
    middle = merge(middle, before, shared.weights.with_before[place_in_segment()]);
    if (window == per_thread + 1) middle.mean = values[first];  // of no values: any value of every window
    join(results, leaving, middle, values + first);
    if (const unsigned rare = take_roots(results); rare != 0) {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) {
        if ((rare >> v & 1) == 0) continue;
        results[v] = careful_result(operation, per_window, middle.mean, middle.squares, ring, slots * tile,
                                    {slot * tile + first - (window - 1) + v, per_thread - v},
                                    {slot * tile + first, v + 1});
      }
    }
    if (where.start < window - 1)
      begin(results, values, tiles_before(shared.total, slot, slots, static_cast<int>(where.start / tile)),
            before, where);
  }

 private:
  // Of the thread's segment in the warp: all values up to the thread's last; all from its first on, of the
  // segment that leaves; and the last `rest` values.
  struct run_of_segment {
    spread up;
    spread down;
    spread last;
  };

  static __device__ double values_of(int threads) {
    return static_cast<double>(threads * per_thread);
  }

  // Lanes of a warp that hold one segment, or a part of one; warps of a segment; the thread's places.
  __device__ int width() const {
    return segment_threads < 32 ? segment_threads : 32;
  }
  __device__ int segment_warps() const {
    return segment_threads < 32 ? 1 : segment_threads / 32;
  }
  __device__ int place_in_warp() const {
    return thread % 32 & (width() - 1);
  }
  __device__ int place_in_segment() const {
    return thread & (segment_threads - 1);
  }
  __device__ int whole_tiles() const {
    return segment_threads == group_threads ? between / tile : 0;
  }

  // Of the rest's values those of a segment's threads `from` to `to` - 1.
  __device__ int rest_values(int from, int to) const {
    const int begin = segment - rest;
    return max(to * per_thread - begin, 0) - max(from * per_thread - begin, 0);
  }
  // The warp of a segment in which its rest begins.
  __device__ int rest_warp() const {
    return rest == 0 ? 0 : (segment - rest) / per_thread / 32;
  }

  // Two lanes that lie `distance` apart, each with all of its neighbours at smaller distances; `count(from,
  // to)` values are those of lanes `from` to `to` - 1.
  template <class Count>
  static __device__ merge_weights weigh_lanes(int lane, int distance, const Count& count) {
    const int mine = lane & -distance;
    const int others = mine ^ distance;
    return merge_weights::of(count(mine, mine + distance), count(others, others + distance));
  }

  static __device__ void read(double (&all)[per_thread], const double* values) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) all[v] = values[v];
  }
  // The values that leave as the tile at `slot` enters.
  __device__ void read_leaving(double (&all)[per_thread], const double* ring, int slot, int slots) const {
    const int ring_values = slots * tile;
    const int oldest = slot * tile + first - (window - 1);
    const int place = oldest >= 0 ? oldest : oldest + ring_values;
    if (place + per_thread <= ring_values) return read(all, ring + place);
#pragma unroll
    for (int v = 0; v < per_thread; ++v)
      all[v] = ring[place + v < ring_values ? place + v : place + v - ring_values];
  }

  // Deviations from the run's first value, which is one of so few that hardly anything cancels.
  static __device__ spread total_of(const double (&run)[per_thread]) {
    double sum[2] = {};
    double squares[2] = {};
#pragma unroll
    for (int v = 1; v < per_thread; ++v) {
      const double apart = run[v] - run[0];
      sum[v % 2] += apart;
      squares[v % 2] = fma(apart, apart, squares[v % 2]);
    }
    return shifted(run[0], sum[0] + sum[1], squares[0] + squares[1], 1.0 / per_thread);
  }
  // Of a run, given the sums of its deviations from `origin` and of their squares.
  static __device__ spread shifted(double origin, double sum, double squares, double per_count) {
    const double mean = sum * per_count;
    const double common = mean * sum;
    // Squares beyond the largest number stay so; of such as are too small for a double less may be left than
    // none.
    const double rest = squares - (common > DBL_MAX ? DBL_MAX : common);
    return {origin + mean, rest < 0 ? 0 : rest};
  }

  // Of the thread's values those among the last `rest` of its segment.
  __device__ spread last_values(const spread& total, const double (&run)[per_thread], double per_part) const {
    const int from = segment - rest - place_in_segment() * per_thread;
    // No lane of the warp holds a part of its values.
    if (!__any_sync(~0U, from > 0 && from < per_thread)) return from <= 0 ? total : spread{};
    const double origin = run[per_thread - 1];
    double sum = 0;
    double squares = 0;
#pragma unroll
    for (int v = per_thread - 2; v >= 0; --v) {
      const double apart = v >= from ? run[v] - origin : 0;
      sum += apart;
      squares = fma(apart, apart, squares);
    }
    if (from <= 0) return total;
    return from >= per_thread ? spread{} : shifted(origin, sum, squares, per_part);
  }

  // The three scans of a warp, side by side.
  __device__ void scan(run_of_segment& all, const weight_tables& weights) const {
    const int place = place_in_warp();
    const int lane = thread % 32;
    const int rest_begins = rest_warp() - place_in_segment() / 32;  // so many warps later
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const int distance = 1 << step;
      if (distance >= width()) break;
      const spread lower = shuffle_up(all.up, distance);
      const spread higher = shuffle_down(all.down, distance);
      if (place >= distance) all.up = merge(all.up, lower, weights.in_warp[step][place]);
      if (place + distance < width())
        all.down = merge(all.down, higher, weights.in_warp[step][width() - 1 - place]);
      if (rest_begins > 0) continue;
      const merge_weights halves = {0.5, 0.5 * values_of(distance)};
      all.last = merge(all.last, shuffle_xor(all.last, distance),
                       rest_begins == 0 ? weights.of_rest[step][lane] : halves);
    }
  }

  // Totals of a run of whole warps, `count` of them at most three.
  __device__ spread totals_of_warps(const spread* of_warps, int count) const {
    if (count == 0) return {};
    spread all = of_warps[0];
    if (count > 1) all = merge(all, of_warps[1], {1.0 / 2, warp_values / 2.0});
    if (count > 2) all = merge(all, of_warps[2], {1.0 / 3, warp_values * (2.0 / 3)});
    return all;
  }
  __device__ spread earlier_warps(const spread* of_warps) const {
    const int warp = thread / 32;
    const int begin = warp & -segment_warps();
    return totals_of_warps(of_warps + begin, warp - begin);
  }
  __device__ spread later_warps(const spread* of_warps) const {
    const int warp = thread / 32;
    return totals_of_warps(of_warps + warp + 1, (warp & -segment_warps()) + segment_warps() - 1 - warp);
  }
  __device__ spread all_warps(const spread* of_warps) const {
    if constexpr (warps == 4)
      return merge(totals_of_warps(of_warps, 3), of_warps[3], {1.0 / 4, warp_values * (3.0 / 4)});
    return totals_of_warps(of_warps, warps);
  }

  // The rest of the segment that begins with warp `begin`.
  __device__ spread rest_of_segment(const spread* last, int begin, const weight_tables& weights) const {
    spread all = last[begin + rest_warp()];
    for (int more = 0; more + rest_warp() + 1 < segment_warps(); ++more)
      all = merge(all, last[begin + rest_warp() + more + 1], weights.rest_with_warp[more]);
    return all;
  }

  // The rest of the segment before, if that lies in this tile. All lanes take part in the shuffle.
  __device__ spread before_segment(const spread* last_of_warps, const spread& last,
                                   const weight_tables& weights) const {
    const int lane = thread % 32;
    const int place = place_in_warp();
    const spread neighbour = shuffle(last, lane > place ? lane - place - 1 : 0);
    if (lane >= width()) return neighbour;
    const int first_warp = (thread & -segment_threads) / 32;
    return first_warp == 0 ? spread{} : rest_of_segment(last_of_warps, first_warp - segment_warps(), weights);
  }

  // What lies between the segment that leaves and the one that enters: `here`, if that is in this tile.
  template <int groups, int slots>
  __device__ spread between_segments(const shared_state<groups, slots>& shared, int slot,
                                     const spread& here) const {
    const auto behind = [slot](int tiles) { return slot >= tiles ? slot - tiles : slot - tiles + slots; };
    if (segment_threads < group_threads) return thread < segment_threads ? shared.rest[behind(1)] : here;
    const int whole = whole_tiles();
    const spread of_rest = shared.rest[behind(whole + 1)];
    if (whole == 0) return of_rest;
    int lanes = 1;  // that share the tiles
    while (lanes < whole) lanes *= 2;
    const int lane = thread & (lanes - 1);
    spread all = lane < whole ? shared.total[behind(lane + 1)] : spread{};
    for (int step = 0; 1 << step < lanes; ++step)
      all = merge(all, shuffle_xor(all, 1 << step), shared.weights.of_tiles[step][lane]);
    return merge(of_rest, all, shared.weights.rest_with_tiles);
  }

  // The variances of the thread's windows, of the values that leave, its own, and what lies between.
  __device__ void join(made (&variances)[per_thread], const double (&leaving)[per_thread],
                       const spread& middle, const double* values) const {
    double sum[per_thread];  // of the suffixes' deviations
    double squares[per_thread];
    double all = 0;
    double all_squares = middle.squares;
#pragma unroll
    for (int v = per_thread - 1; v >= 0; --v) {
      const double apart = leaving[v] - middle.mean;
      sum[v] = all += apart;
      squares[v] = all_squares = fma(apart, apart, all_squares);
    }
    all = 0;
    all_squares = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const double apart = values[v] - middle.mean;
      all += apart;
      all_squares = fma(apart, apart, all_squares);
      variances[v] = variance(all + sum[v], all_squares + squares[v]);
    }
  }

  // Of a window, given the sums of deviations and of their squares. NaN where these are beyond the largest
  // number.
  __device__ double variance(double sum, double squares) const {
    return fma(-(sum * per_window), sum, squares) * operation.scale;
  }

  // Takes the roots, if asked for. Bit v is set where variance v is no number, or its root takes care: these,
  // and no others, are made again. What lies beside the array may be anything, and must not change how a
  // result is rounded.
  __device__ unsigned take_roots(made (&results)[per_thread]) const {
    const unsigned least = operation.takes_root ? least_usual_root : 0;
    unsigned farthest = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) farthest = max(farthest, high_word(results[v]) - least);
    if (farthest < infinite_high_word - least) {
      if (operation.takes_root) {
#pragma unroll
        for (int v = 0; v < per_thread; ++v) results[v] = usual_root(results[v]);
      }
      return 0;
    }
    unsigned rare = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      if (results[v] == 0) {
        results[v] = 0;  // squares too small for a double leave -0
      } else if (is_usual(results[v], operation.takes_root)) {
        if (operation.takes_root) results[v] = usual_root(results[v]);
      } else {
        rare |= 1U << v;
      }
    }
    return rare;
  }

  // A run of `count` neighbouring values in the ring.
  struct part_of_ring {
    int place;  // before 0: from the ring's end
    int count;
  };
  // The result of a window of these two runs, and of values whose squared deviations from `origin` are known,
  // where numbers may be beyond the largest. Out of line, and with arguments by value, as all that is rare:
  // then it takes no registers from what is not.
  static __device__ LAB_OUT_OF_LINE double careful_result(moments operation, double per_window, double origin,
                                                          double squares, const double* ring, int ring_values,
                                                          part_of_ring earlier, part_of_ring later) {
    double sum = 0;
    const auto add = [&](const part_of_ring& run) {
      for (int k = 0; k < run.count; ++k) {
        const int place = run.place + k;
        const double apart = ring[place >= 0 ? place : place + ring_values] - origin;
        sum += apart;
        squares += apart * apart;
      }
    };
    add(earlier);
    add(later);
    if (per_window == 1) return NAN;  // of one value
    double found = (squares - sum * per_window * sum) * operation.scale;
    if (squares == INFINITY && fabs(sum) < INFINITY) found = INFINITY;
    if (found <= 0) found = 0;  // of squares too small for a double
    return operation.takes_root ? sqrt(found) : found;
  }

  // Windows of at most per_thread values, by deviations from their newest; the tile begins at `base`.
  __device__ void short_windows(made (&results)[per_thread], const double* ring, int ring_values,
                                int base) const {
    double newest[per_thread];
    double sum[per_thread] = {};
    double squares[per_thread] = {};
    read(newest, ring + base + first);
    const bool wraps = base + first < window - 1;
#pragma unroll 1
    for (int back = 1; back < window; ++back) {
      const int from = base + first - back;
      const auto add = [&](int v, int place) {
        const double apart = ring[place] - newest[v];
        sum[v] += apart;
        squares[v] = fma(apart, apart, squares[v]);
      };
      if (wraps) {
#pragma unroll
        for (int v = 0; v < per_thread; ++v) add(v, from + v >= 0 ? from + v : from + v + ring_values);
      } else {
#pragma unroll
        for (int v = 0; v < per_thread; ++v) add(v, from + v);
      }
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) results[v] = variance(sum[v], squares[v]);
    const unsigned rare = window > 1 ? take_roots(results) : ~0U;
    if (rare == 0) return;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      if ((rare >> v & 1) == 0) continue;
      const int place = base + first + v;
      results[v] = careful_result(operation, per_window, ring[place], 0, ring, ring_values,
                                  {place - (window - 1), window}, {});
    }
  }

  // Of the `tiles` tiles between the array's beginning and the current one.
  static __device__ LAB_OUT_OF_LINE spread tiles_before(const spread* total, int slot, int slots, int tiles) {
    spread all = {};
    for (int k = 0; k < tiles; ++k) {
      const int back = tiles - k;
      all = merge(all, total[slot >= back ? slot - back : slot - back + slots],
                  merge_weights::of(k * static_cast<double>(tile), tile));
    }
    return all;
  }

  // The windows at the array's beginning hold the tiles before the current one, what is before the thread's
  // values in it, and these.
  __device__ void begin(made (&results)[per_thread], const double* values, const spread& tiles,
                        const spread& before, const place& where) const {
    // Within a tile what is before the thread's segment has not been put together.
    const bool scanned = segment_threads == group_threads;
    moments::state run = {static_cast<double>(where.start), tiles.mean, tiles.squares};
    if (scanned) run = operation.combine(run, {values_of(thread), before.mean, before.squares});
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const std::int64_t i = where.start + first + v;
      if (i >= window - 1) break;
      results[v] = i + 1 < where.min_periods
                       ? incomplete
                       : result_at_beginning(operation, run, values, scanned ? first : 0, first + v);
    }
  }
  // Of a run, and the values `from` to `last` behind it.
  static __device__ LAB_OUT_OF_LINE double result_at_beginning(moments operation, moments::state run,
                                                               const double* values, int from, int last) {
    for (int k = from; k <= last; ++k) run = operation.combine(run, operation.lift(values[k]));
    return operation.finish(run, 0);
  }
};

#endif

}  // namespace lab::windows

#undef LAB_OUT_OF_LINE
