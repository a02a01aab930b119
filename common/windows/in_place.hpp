// Windows from a ring in which suffixes replace the values: every value is scanned once, from both sides, and
// the suffixes of the last window wait in the ring. For states as large as a value (pipeline.hpp).
#pragma once

#include "common/windows/suffix_prefix.hpp"

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED

template <class Operation, int group_threads_, int per_thread_>
struct in_place : suffix_prefix<Operation, group_threads_, per_thread_> {
  using scans = suffix_prefix<Operation, group_threads_, per_thread_>;
  using state = typename Operation::state;
  static_assert(std::is_same_v<state, double>, "a suffix takes its value's place in the ring");
  static constexpr int group_threads = group_threads_;
  static constexpr int per_thread = per_thread_;
  using scans::tile;

  template <int groups, int slots>
  struct shared_state {
    typename scans::exchange others[groups];
  };

  using scans::scans;

  template <class Shared>
  __device__ void initialise(Shared& shared, int block_threads) const {
    constexpr std::size_t state_bytes = sizeof(state);
    constexpr int states = sizeof(shared.others) / state_bytes;
    for (int i = static_cast<int>(threadIdx.x); i < states; i += block_threads)
      shared.others[0].begin()[i] = this->operation.identity();
  }

  // What make() leaves of a window, and its result: of a whole one, and of output i at the array's beginning.
  using made = state;
  __device__ double whole(const made& all) const {
    return whole_window_result(this->operation, all, this->window);
  }
  __device__ double at(const made& all, std::int64_t i, int min_periods) const {
    return window_result(this->operation, all, i, this->window, min_periods);
  }

  // The windows that end in the tile at `slot`; of a halo's tile the scans alone. `ring` is a ring of `slots`
  // tiles.
  template <int groups, int slots, class Barrier, class WaitForValues, class WaitForScans>
  __device__ void make(made (&own)[per_thread], double* ring, shared_state<groups, slots>& shared, int group,
                       int slot, const place& at, bool wants_results, const Barrier& barrier,
                       const WaitForValues& wait_for_values, const WaitForScans& wait_for_scans) const {
    double* const here = ring + slot * tile;
    if (this->is_short()) {
      wait_for_values();
      // Before the array there is nothing.
      this->combine_short(
          own,
          [&](int place, int offset) {
            return at.start > 0 || offset >= 0 ? this->operation.lift(ring[place])
                                               : this->operation.identity();
          },
          slots * tile, slot * tile);
      return;
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) own[v] = this->operation.lift(here[this->first + v]);
    if (at.start < 0) {
#pragma unroll
      for (int v = 0; v < per_thread; ++v) {
        if (at.start + this->first + v < 0) own[v] = this->operation.identity();
      }
    }
    this->scan(own, here, shared.others[group], barrier);
    wait_for_scans();
    if (wants_results) this->complete(own, ring, slots * tile, slot * tile);
  }
};

#endif

}  // namespace lab::windows
