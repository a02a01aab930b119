// A tile of values in shared memory, each thread with neighbouring ones, and the scan of the threads' runs.
#pragma once

#include "common/windows/shuffle.hpp"
#include "stages/ewm/operations.hpp"

namespace lab::ewm {

template <class Operation, int threads, int per_thread>
class tile_scan {
 public:
  using state = typename Operation::state;
  static constexpr int tile = threads * per_thread;
  static constexpr int warps = threads / 32;
  static_assert(threads % 32 == 0, "runs are scanned in whole warps");
  static_assert(per_thread % 2 == 1,
                "neighbouring threads' values lie an odd number of doubles apart: no bank "
                "conflict");

  struct shared_state {
    double values[tile];
    state of_warp[warps];
  };
  // What came before the thread's values in the tile, and the whole tile.
  struct scanned {
    state before;
    state total;
  };

  __device__ tile_scan(shared_state& shared, const Operation& operation)
      : tile_scan(shared.values, shared.of_warp, operation) {}
  // `values` and `of_warp` in shared memory: a tile, and a state for each warp.
  __device__ tile_scan(double* values, state* of_warp, const Operation& operation)
      : values_(values), of_warp_(of_warp), operation_(operation), thread_(static_cast<int>(threadIdx.x)) {}

  // Reads values `first` and on; behind the array's end they are missing.
  __device__ void load(const double* values, std::int64_t first, std::int64_t n) {
    double next[per_thread];
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const std::int64_t j = first + v * threads + thread_;
      next[v] = j < n ? values[j] : static_cast<double>(NAN);
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) values_[v * threads + thread_] = next[v];
    __syncthreads();
  }

  // All threads of the block call.
  __device__ scanned scan() {
    const int lane = thread_ % 32;
    state run = operation_.lift(own()[0]);
#pragma unroll
    for (int v = 1; v < per_thread; ++v) operation_.append_present(run, own()[v]);
    // A NaN is still there: a value was missing, or is too large for such sums.
    is_plain_ = operation_.is_plain(run);
    if (!is_plain_) {
      run = operation_.identity();
#pragma unroll 1
      for (int v = 0; v < per_thread; ++v) operation_.append(run, own()[v]);
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const state earlier = windows::shuffle_up(run, distance);
      if (lane >= distance) run = operation_.combine(earlier, run);
    }
    if (lane == 31) of_warp_[thread_ / 32] = run;
    const state in_warp = windows::shuffle_up(run, 1);
    __syncthreads();
    scanned result{operation_.identity(), operation_.identity()};
    for (int warp = 0; warp < warps; ++warp) {
      if (warp == thread_ / 32) result.before = result.total;
      result.total = operation_.combine(result.total, of_warp_[warp]);
    }
    if (lane > 0) result.before = operation_.combine(result.before, in_warp);
    return result;
  }

  // Replaces the thread's values by the averages, given all that comes before them.
  __device__ void finish(state before) {
    if (is_plain_ && operation_.is_plain(before) && before.values + 1 >= operation_.min_periods) {
      operation_.append(before, own()[0]);
      own()[0] = operation_.finish_plain(before);
#pragma unroll
      for (int v = 1; v < per_thread; ++v) {
        operation_.append_present(before, own()[v]);
        own()[v] = operation_.finish_plain(before);
      }
    } else {
#pragma unroll 1
      for (int v = 0; v < per_thread; ++v) {
        operation_.append(before, own()[v]);
        own()[v] = operation_.finish(before);
      }
    }
  }
  // Stores what the threads have finished.
  __device__ void store(double* averages, std::int64_t first, std::int64_t n) const {
    __syncthreads();
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      const int k = v * threads + thread_;
      if (first + k < n) averages[first + k] = values_[k];
    }
  }
  __device__ void store(state before, double* averages, std::int64_t first, std::int64_t n) {
    finish(before);
    store(averages, first, n);
  }

 private:
  __device__ double* own() {
    return values_ + thread_ * per_thread;
  }

  double* values_;
  state* of_warp_;
  const Operation& operation_;
  int thread_;
  bool is_plain_ = false;  // of the thread's values none is missing, and none very large
};

}  // namespace lab::ewm
