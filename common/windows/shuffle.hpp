// Warp shuffles of a state of any number of 8-byte words. All lanes of the warp take part.
#pragma once

#include <type_traits>

#include "common/cuda.hpp"

#if defined(__CUDACC__) || LAB_EMULATED

namespace lab::windows {

// Calls `exchange` with each word of `state`.
template <class State, class Exchange>
__device__ __forceinline__ State shuffle_words(const State& state, const Exchange& exchange) {
  if constexpr (std::is_same_v<State, double>) {
    return exchange(state);
  } else {
    constexpr int words = sizeof(State) / sizeof(double);
    struct as_words {
      double word[words];
    };
    auto moved = __builtin_bit_cast(as_words, state);
#pragma unroll
    for (int k = 0; k < words; ++k) moved.word[k] = exchange(moved.word[k]);
    return __builtin_bit_cast(State, moved);
  }
}

template <class State>
__device__ __forceinline__ State shuffle(const State& state, int lane) {
  return shuffle_words(state, [lane](double word) { return __shfl_sync(~0U, word, lane); });
}
template <class State>
__device__ __forceinline__ State shuffle_up(const State& state, int distance) {
  return shuffle_words(state, [distance](double word) { return __shfl_up_sync(~0U, word, distance); });
}
template <class State>
__device__ __forceinline__ State shuffle_down(const State& state, int distance) {
  return shuffle_words(state, [distance](double word) { return __shfl_down_sync(~0U, word, distance); });
}
template <class State>
__device__ __forceinline__ State shuffle_xor(const State& state, int lanes) {
  return shuffle_words(state, [lanes](double word) { return __shfl_xor_sync(~0U, word, lanes); });
}

}  // namespace lab::windows

#endif
