// What the blocks of a grid tell each other about a tile each: its total, and the total of its last values,
// the rest. A block publishes both as soon as it knows them, and waits for those that it needs. No message
// depends on another one, so nobody waits longer than for a block to read its values.
//
// A message's words are their own flags, and nobody needs a fence: before they are written all their bits are
// set. A word that is like that itself is written as another, and one more word of the message tells of it;
// a number needs none, since only a NaN could be meant, of which there are others.
//
// Who waits, waits for blocks with lower indices alone, which have been started before.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/cuda.hpp"
#include "common/memory.hpp"
#include "common/relaxed_read.hpp"

namespace lab::windows {

// Messages in scratch memory: word k of tile t's lies at k * tiles + t.
template <class State>
struct tile_messages {
  using word = unsigned long long;
  static constexpr word nothing = ~word{0};
  static_assert(sizeof(State) % sizeof(word) == 0, "a state consists of words of 8 bytes");
  static constexpr int state_words = sizeof(State) / sizeof(word);
  static constexpr bool is_number = std::is_same_v<State, double>;
  static constexpr int words = is_number ? 1 : state_words + 1;
  static_assert(state_words < 64, "a bit for each word, and never all of them");

  word* total;
  word* rest;
  std::int64_t tiles;

  static std::size_t bytes(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles) * 2 * words * sizeof(word);
  }
  // Before the kernel starts.
  static tile_messages cleared(void* scratch, std::int64_t tiles, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(scratch, 0xff, bytes(tiles), stream));
    auto* const begin = static_cast<word*>(scratch);
    return {begin, begin + tiles * words, tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  // One thread calls.
  __device__ void publish(std::int64_t which, const State& all, const State& last) const {
    write(total + which, all);
    write(rest + which, last);
  }
  // Of tile `first` + 32 k + the lane message found[k], for those before `end`: the total, or of tile
  // `with_rest` the rest. All are asked for at once.
  template <int count>
  __device__ void read(State (&found)[count], std::int64_t first, std::int64_t end,
                       std::int64_t with_rest) const {
    const std::int64_t mine = first + threadIdx.x % 32;
    message all[count];
    const auto each = [&](const auto& visit) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        const std::int64_t which = mine + 32 * k;
        if (which >= end) continue;
        word* const from = (which == with_rest ? rest : total) + which;
#pragma unroll
        for (int part = 0; part < words; ++part) visit(all[k].part[part], from + part * tiles);
      }
    };
    each([](word& part, word* from) { part = relaxed_read(from); });
    each([](word& part, word* from) {
      while (part == nothing) part = relaxed_read(from);
    });
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (mine + 32 * k < end) found[k] = state_of(all[k]);
    }
  }

 private:
  struct message {
    word part[words];
  };
  struct state_parts {
    word part[state_words];
  };

  __device__ void write(word* to, const State& state) const {
    auto parts = __builtin_bit_cast(state_parts, state);
    if constexpr (is_number) {
      const double canonical = NAN;
      atomicExch(to, state == state ? parts.part[0] : __builtin_bit_cast(word, canonical));
    } else {
      word replaced = 0;
#pragma unroll
      for (int k = 0; k < state_words; ++k) {
        if (parts.part[k] == nothing) replaced |= word{1} << k;
        atomicExch(to + k * tiles, parts.part[k] == nothing ? 0 : parts.part[k]);
      }
      atomicExch(to + state_words * tiles, replaced);
    }
  }
  static __device__ State state_of(const message& all) {
    state_parts parts;
#pragma unroll
    for (int k = 0; k < state_words; ++k) {
      parts.part[k] = all.part[k];
      if constexpr (!is_number) parts.part[k] |= (all.part[state_words] >> k & 1) != 0 ? nothing : 0;
    }
    return __builtin_bit_cast(State, parts);
  }
#endif
};

}  // namespace lab::windows
