// Characters that a block brings into shared memory, with a bit for each space among them. A load takes a
// chunk, 16 bytes that begin at a multiple of 16, and all loads of a thread are under way at once.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/tile_size.hpp"

namespace lab::redact {

// Characters in shared memory, read as words. Up to 15 characters of a neighbour's stand before the first,
// and whole chunks of zeros before and behind: a word may begin up to three characters too early or too late.
template <int capacity>
struct staged_characters {
  static constexpr int max_chunks = capacity / 16 + 1;
  uint4 chunks[max_chunks + 3];

  __device__ __forceinline__ const unsigned* words() const {
    return reinterpret_cast<const unsigned*>(chunks + 1);
  }
  __device__ __forceinline__ const unsigned char* characters() const {
    return reinterpret_cast<const unsigned char*>(chunks + 1);
  }
};

// Bits for spaces, 16 a word: those of the chunks, and more that are read behind them.
inline constexpr int space_words = (names_capacity / 16 + 1 + 5) / 2 * 2;

// One bit for each of 16 characters, set for a space.
__device__ __forceinline__ unsigned spaces_of(const uint4& chunk) {
  // The top bit of each byte that is a space, and no other: the sum has it clear where the lower bits are
  // those of a space.
  const auto flags = [](unsigned word) {
    const unsigned sum = ((word ^ 0x20202020u) & 0x7f7f7f7fu) + 0x7f7f7f7fu;
    return ~(sum | word) & 0x80808080u;
  };
  // A dot product with powers of two puts the flags side by side, 128 times too large.
  const unsigned low = __dp4a(flags(chunk.y), 0x80402010u, __dp4a(flags(chunk.x), 0x08040201u, 0u));
  const unsigned high = __dp4a(flags(chunk.w), 0x80402010u, __dp4a(flags(chunk.z), 0x08040201u, 0u));
  return (low >> 7) + (high << 1);
}

// The last, incomplete chunk of an array, behind which nothing may be read: characters [begin, end), then
// zeros.
__device__ __forceinline__ uint4 last_chunk(const char* chars, std::int64_t begin, std::int64_t end) {
  unsigned long long low = 0;
  unsigned long long high = 0;
  for (std::int64_t at = end - 1; at >= begin; --at) {
    high = high << 8 | low >> 56;
    low = low << 8 | static_cast<unsigned char>(chars[at]);
  }
  return {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
          static_cast<unsigned>(high >> 32)};
}

// The characters [begin, end) of `chars`, which has `total`, into registers, and later from there into shared
// memory: between the two, everything is under way.
template <int capacity, int threads = tile_threads>
struct chunk_loads {
  static constexpr int count = (capacity / 16 + 1 + threads - 1) / threads;
  uint4 loaded[count];
  int whole;  // chunks, but for the array's last one where that is incomplete

  __device__ __forceinline__ void load(const char* chars, std::int64_t begin, std::int64_t end,
                                       std::int64_t total) {
    const std::int64_t base = begin & ~std::int64_t{15};
    const int thread = static_cast<int>(threadIdx.x);
    const int chunks = static_cast<int>((end - base + 15) / 16);
    whole = base + 16 * chunks <= total ? chunks : chunks - 1;
    const auto* from = reinterpret_cast<const uint4*>(chars + base) + thread;
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (k * threads + thread < whole) loaded[k] = __ldcs(from + k * threads);
    }
  }

  // As they were loaded; with a bit for each space in `spaces` unless that is nullptr.
  __device__ __forceinline__ void store(staged_characters<capacity>& staged, unsigned short* spaces,
                                        const char* chars, std::int64_t begin, std::int64_t end,
                                        std::int64_t total) const {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int chunk = k * threads + thread;
      if (chunk >= whole) break;
      staged.chunks[chunk + 1] = loaded[k];
      if (spaces != nullptr) spaces[chunk] = static_cast<unsigned short>(spaces_of(loaded[k]));
    }
    if (thread != 0) return;
    const std::int64_t last = (begin & ~std::int64_t{15}) + 16 * whole;
    const uint4 rest = last < end ? last_chunk(chars, last, total) : uint4{0, 0, 0, 0};
    staged.chunks[0] = {0, 0, 0, 0};
    staged.chunks[whole + 1] = rest;
    staged.chunks[whole + 2] = {0, 0, 0, 0};
    if (spaces == nullptr) return;
    spaces[whole] = static_cast<unsigned short>(spaces_of(rest));
    for (int behind = 1; behind < 4; ++behind) spaces[whole + behind] = 0;
  }
};

// Which characters are a tile's, of which shared memory holds so many bytes of each column.
template <class Offset, int max_names, int max_visibilities, int threads = tile_threads>
struct tile_characters {
  Offset names_begin;
  Offset names_end;
  Offset visibilities_begin;
  Offset visibilities_end;

  // The offsets begin with the tile's first row; they may be in shared memory.
  __device__ __forceinline__ tile_characters(const Offset* name_offsets, const Offset* visibility_offsets,
                                             int rows)
      : names_begin(name_offsets[0]),
        names_end(name_offsets[rows]),
        visibilities_begin(visibility_offsets[0]),
        visibilities_end(visibility_offsets[rows]) {}

  // Whether they can be staged.
  [[nodiscard]] __device__ __forceinline__ bool fits() const {
    return names_end - names_begin <= max_names && visibilities_end - visibilities_begin <= max_visibilities;
  }

  // Brings them into shared memory, with a bit for each space of the names in `spaces` unless that is
  // nullptr. A barrier follows.
  __device__ __forceinline__ void stage(const columns<Offset>& in, staged_characters<max_names>& names,
                                        unsigned short* spaces,
                                        staged_characters<max_visibilities>& visibilities) const {
    chunk_loads<max_names, threads> of_names;
    chunk_loads<max_visibilities, threads> of_visibilities;
    of_names.load(in.names, names_begin, names_end, in.names_bytes);
    of_visibilities.load(in.visibilities, visibilities_begin, visibilities_end, in.visibilities_bytes);
    of_names.store(names, spaces, in.names, names_begin, names_end, in.names_bytes);
    of_visibilities.store(visibilities, nullptr, in.visibilities, visibilities_begin, visibilities_end,
                          in.visibilities_bytes);
  }
};

// The four characters that begin at `position`, which is -3 at least.
__device__ __forceinline__ unsigned word_at(const unsigned* words, int position) {
  const unsigned* word = words + (position >> 2);
  return __funnelshift_r(word[0], word[1], 8 * (position & 3));
}

}  // namespace lab::redact
