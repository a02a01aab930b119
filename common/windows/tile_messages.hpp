// What the blocks of a grid tell each other about a tile each: its total, and the total of its last values,
// the rest. A block publishes both as soon as it knows them, and waits for those that it needs. No message
// depends on another one, so nobody waits longer than for a block to read its values.
//
// Who waits, waits for blocks with lower indices alone, which have been started before.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/cuda.hpp"
#include "common/memory.hpp"

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED
// Through the L2 cache, where all blocks meet, and past the L1 cache.
template <class Word>
__device__ __forceinline__ Word read_message(Word* word) {
#if LAB_EMULATED
  return atomicAdd(word, Word{0});
#else
  Word value;
  if constexpr (sizeof(Word) == 8) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  }
  return value;
#endif
}
#endif

// What the blocks have published, in scratch memory: of tile k its total, and that of its last values, the
// rest. A state of several words is there when there[k] is not 0, which needs a fence on both sides.
template <class State>
struct tile_messages {
  unsigned* there;
  State* total;
  State* rest;

  static std::size_t bytes(std::int64_t tiles) {
    return states_from(tiles) + static_cast<std::size_t>(tiles) * 2 * sizeof(State);
  }
  // Before the kernel starts.
  static tile_messages cleared(void* scratch, std::int64_t tiles, cudaStream_t stream) {
    auto* const begin = static_cast<unsigned char*>(scratch);
    auto* const states = reinterpret_cast<State*>(begin + states_from(tiles));
    CUDA_CHECK(cudaMemsetAsync(begin, 0, states_from(tiles), stream));
    return {reinterpret_cast<unsigned*>(begin), states, states + tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  // One thread calls.
  __device__ void publish(std::int64_t which, const State& all, const State& last) const {
    total[which] = all;
    rest[which] = last;
    __threadfence();
    atomicExch(there + which, 1U);
  }
  __device__ State total_of(std::int64_t which) const {
    return wait_for(which, total);
  }
  __device__ State rest_of(std::int64_t which) const {
    return wait_for(which, rest);
  }

 private:
  __device__ State wait_for(std::int64_t which, const State* states) const {
    while (read_message(there + which) == 0) {
    }
    __threadfence();
    struct words {
      double word[sizeof(State) / sizeof(double)];
    } all;
    const auto* from = reinterpret_cast<const double*>(states + which);
    for (std::size_t k = 0; k < sizeof(State) / sizeof(double); ++k) all.word[k] = __ldcg(from + k);
    return __builtin_bit_cast(State, all);
  }
#endif

 private:
  static std::size_t states_from(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles + 31) / 32 * 32 * sizeof(unsigned);
  }
};

// A number is one word: when it is there, all of it is, and nobody needs a fence. Before that all its bits
// are set, a NaN as which no number is published.
template <>
struct tile_messages<double> {
  using word = unsigned long long;
  static constexpr word nothing = ~word{0};

  word* total;
  word* rest;

  static std::size_t bytes(std::int64_t tiles) { return static_cast<std::size_t>(tiles) * 2 * sizeof(word); }
  static tile_messages cleared(void* scratch, std::int64_t tiles, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(scratch, 0xff, bytes(tiles), stream));
    auto* const words = static_cast<word*>(scratch);
    return {words, words + tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  __device__ void publish(std::int64_t which, double all, double last) const {
    atomicExch(total + which, word_of(all));
    atomicExch(rest + which, word_of(last));
  }
  __device__ double total_of(std::int64_t which) const {
    return wait_for(total + which);
  }
  __device__ double rest_of(std::int64_t which) const {
    return wait_for(rest + which);
  }

 private:
  static __device__ word word_of(double value) {
    return __builtin_bit_cast(word, value == value ? value : static_cast<double>(NAN));
  }
  static __device__ double wait_for(word* place) {
    word found = read_message(place);
    while (found == nothing) found = read_message(place);
    return __builtin_bit_cast(double, found);
  }
#endif
};

}  // namespace lab::windows
