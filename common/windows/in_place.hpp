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
    constexpr int states = sizeof(shared.others) / sizeof(state);
    for (int i = static_cast<int>(threadIdx.x); i < states; i += block_threads)
      shared.others[0].begin()[i] = this->operation.identity();
  }

  // The windows that end in the tile at `slot`, whose first value is input `start`; of a halo's tile the
  // scans alone. `ring` is a ring of `slots` tiles; finish(state, v) is the result of output v.
  template <class Finish, int groups, int slots, class Barrier, class WaitForValues, class WaitForScans>
  __device__ void make(double (&finished)[per_thread], const Finish& finish, double* ring,
                       shared_state<groups, slots>& shared, int group, int slot, std::int64_t start,
                       bool wants_results, const Barrier& barrier, const WaitForValues& wait_for_values,
                       const WaitForScans& wait_for_scans) const {
    double* const here = ring + slot * tile;
    state own[per_thread];
    // Before the array there is nothing.
    const auto lifted = [&](double value, int offset) {
      return start > 0 || start + offset >= 0 ? this->operation.lift(value) : this->operation.identity();
    };
    if (this->is_short()) {
      wait_for_values();
      this->combine_short(
          own, [&](int place, int offset) { return lifted(ring[place], offset); }, slots * tile, slot * tile);
#pragma unroll
      for (int v = 0; v < per_thread; ++v) finished[v] = finish(own[v], v);
      return;
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) own[v] = lifted(here[this->first + v], this->first + v);
    this->scan(own, here, shared.others[group], barrier);
    wait_for_scans();
    if (!wants_results) return;
    this->complete(own, ring, slots * tile, slot * tile);
#pragma unroll
    for (int v = 0; v < per_thread; ++v) finished[v] = finish(own[v], v);
  }
};

#endif

}  // namespace lab::windows
