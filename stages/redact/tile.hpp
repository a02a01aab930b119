// A tile: consecutive rows whose characters one block brings into shared memory, 16 bytes a load and all
// loads under way at once, redacts there, a word (four characters) at a time, and writes back 16 bytes a
// store.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/cuda.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact {

inline constexpr int tile_threads = 96;
inline constexpr int rows_per_thread = 8;
inline constexpr int max_tile_rows = tile_threads * rows_per_thread;
// Bytes of characters that a tile may have.
inline constexpr int names_capacity = 13 * 1024;
inline constexpr int visibilities_capacity = 6 * 1024 + 512;
inline constexpr int chars_capacity = 12 * 1024;

template <class Offset>
struct columns {
  const Offset* name_offsets;
  const char* names;
  const Offset* visibility_offsets;
  const char* visibilities;
  std::int64_t rows;
  std::int64_t names_bytes;
  std::int64_t visibilities_bytes;
};

template <class Offset>
columns<Offset> columns_of(const input& in) {
  return {static_cast<const Offset*>(in.names.offsets),
          in.names.chars,
          static_cast<const Offset*>(in.visibilities.offsets),
          in.visibilities.chars,
          in.rows,
          in.names.bytes,
          in.visibilities.bytes};
}

// Offsets are copied 16 bytes at a time; the last of them holds the one behind a tile's rows.
template <class Offset>
inline constexpr int offsets_behind = 16 / static_cast<int>(sizeof(Offset));

// Bytes of characters, in and out, and rows that a tile may have.
struct tile_room {
  int names, visibilities, chars, rows;
};
inline constexpr tile_room staged_room{names_capacity, visibilities_capacity, chars_capacity, max_tile_rows};

// So many rows that, on average, they fill at most `share` of the room, and their output finds room even if
// all are public and no name has a space. A tile with more is redacted all the same, row by row from global
// memory.
inline int tile_rows_of(const input& in, const tile_room& room = staged_room, double share = 0.8) {
  const auto rows = static_cast<double>(std::max<std::int64_t>(in.rows, 1));
  const double name = static_cast<double>(in.names.bytes) / rows;
  const double visibility = static_cast<double>(in.visibilities.bytes) / rows;
  const double fits = std::min({share * room.names / std::max(name, 1.0),
                                share * room.visibilities / std::max(visibility, 1.0),
                                room.chars / std::max(name + 1, 3.0), static_cast<double>(room.rows)});
  return std::max(32, static_cast<int>(fits) / 32 * 32);
}

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
// One word more than the output has is read.
inline constexpr int chars_chunks = chars_capacity / 16 + 1;

struct tile_memory {
  staged_characters<names_capacity> names;
  staged_characters<visibilities_capacity> visibilities;
  // Bit i of it all is set where character i of the names is a space: 16 bits for each chunk, two more
  // behind.
  alignas(16) unsigned short spaces[space_words];
  uint4 chars[chars_chunks];
};

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
template <int capacity>
struct chunk_loads {
  static constexpr int count = (capacity / 16 + 1 + tile_threads - 1) / tile_threads;
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
      if (k * tile_threads + thread < whole) loaded[k] = __ldcs(from + k * tile_threads);
    }
  }

  // As they were loaded; with a bit for each space in `spaces` unless that is nullptr.
  __device__ __forceinline__ void store(staged_characters<capacity>& staged, unsigned short* spaces,
                                        const char* chars, std::int64_t begin, std::int64_t end,
                                        std::int64_t total) const {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int chunk = k * tile_threads + thread;
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

// The four characters that begin at `position`, which is -3 at least.
__device__ __forceinline__ unsigned word_at(const unsigned* words, int position) {
  const unsigned* word = words + (position >> 2);
  return __funnelshift_r(word[0], word[1], 8 * (position & 3));
}

// The position of the first space in [begin, end); `end` when there is none.
__device__ __forceinline__ int find_space(const unsigned* spaces, int begin, int end) {
  for (int at = begin;;) {
    const unsigned* word = spaces + (at >> 5);
    const unsigned next = __funnelshift_r(word[0], word[1], at & 31);
    if (next != 0) {
      const int position = at + __ffs(static_cast<int>(next)) - 1;
      return position < end ? position : end;
    }
    at += 32;
    if (at >= end) return end;
  }
}

__device__ __forceinline__ bool is_public(const unsigned* words, int begin, int end) {
  constexpr unsigned publ = 'p' | 'u' << 8 | 'b' << 16 | 'l' << 24;
  constexpr unsigned ic = 'i' | 'c' << 8;
  const unsigned* word = words + (begin >> 2);
  const int shift = 8 * (begin & 3);
  const unsigned first = __funnelshift_r(word[0], word[1], shift);
  const unsigned second = __funnelshift_r(word[1], word[2], shift);
  return ((first ^ publ) | ((second ^ ic) & 0xffffu) | static_cast<unsigned>((end - begin) ^ 6)) == 0;
}

// What a row becomes: `head_bytes` characters (the fifth is a space, the others are in `head`), then
// `tail_bytes` from the staged name at `tail`.
struct staged_row {
  unsigned head;
  int head_bytes;
  int tail;
  int tail_bytes;

  [[nodiscard]] __device__ __forceinline__ int bytes() const { return head_bytes + tail_bytes; }
};

// The row whose name is staged at [begin, end).
__device__ __forceinline__ staged_row redact_staged(const staged_characters<names_capacity>& names,
                                                    const unsigned short* spaces, bool shown, int begin,
                                                    int end) {
  const int space = find_space(reinterpret_cast<const unsigned*>(spaces), begin, end);
  const bool has_last = space + 1 < end;
  const unsigned initial = has_last ? names.characters()[space + 1] : 0;
  staged_row row{has_last ? initial | ' ' << 8 : ' ', has_last ? 2 : 1, begin, space - begin};
  if (initial >= 0x80) {
    const int initial_bytes = character_bytes(static_cast<char>(initial));
    row.head = word_at(names.words(), space + 1);
    if (initial_bytes < 4)
      row.head = (row.head & (0xffffffffu >> (32 - 8 * initial_bytes))) | ' ' << 8 * initial_bytes;
    row.head_bytes = initial_bytes + 1;
  }
  if (!shown) row = {'X' | ' ' << 8 | 'X' << 16, private_bytes, 0, 0};
  return row;
}

// The lowest `bytes` bytes of a word: none below 1, all above 3.
__device__ __forceinline__ unsigned lowest_bytes(int bytes) {
  return __funnelshift_lc(0xffffffffu, 0u, static_cast<unsigned>(8 * (bytes > 0 ? bytes : 0)));
}

// Writes a row at byte `at` of `chars`, words that are 0 and in which neighbours write their bytes too. Up to
// four words without a branch: each is read from where its characters stand in the name, and cut to them.
__device__ __forceinline__ void write_row(unsigned* chars, int at, const staged_row& row,
                                          const unsigned* names) {
  // In bytes from the beginning of the first word: the first name is [tail, end).
  const int tail = (at & 3) + row.head_bytes;
  const int end = tail + row.tail_bytes;
  const int source = row.tail - tail;
  const unsigned* from = names + (source >> 2);
  const int shift = 8 * (source & 3);
  const unsigned in_name[5] = {from[0], from[1], from[2], from[3], from[4]};
  const auto word = [&](int k) {
    return __funnelshift_r(in_name[k], in_name[k + 1], shift) & lowest_bytes(end - 4 * k);
  };
  unsigned* to = chars + (at >> 2);
  const int head_shift = 8 * (at & 3);
  const unsigned fifth = row.head_bytes == 5 ? ' ' : 0;
  atomicOr(to, (word(0) & ~lowest_bytes(tail)) | row.head << head_shift);
  if (end > 4)
    atomicOr(to + 1, (word(1) & ~lowest_bytes(tail - 4)) | __funnelshift_l(row.head, fifth, head_shift));
  if (end > 8) atomicOr(to + 2, word(2));
  if (end > 12) atomicOr(to + 3, word(3));
  for (int k = 4; 4 * k < end; ++k)
    atomicOr(to + k, __funnelshift_r(from[k], from[k + 1], shift) & lowest_bytes(end - 4 * k));
}

// Byte 0 of `staged` to chars[begin], and so on for `bytes` characters: 16 bytes a store, whatever `begin`
// is. The neighbours write the rest of the first and the last 16 bytes. `threads` threads call, 16 at least,
// and `thread` is which of them this is.
template <int threads>
__device__ __forceinline__ void copy_out(char* chars, std::int64_t begin, const uint4* staged, int bytes,
                                         int thread) {
  const auto* const characters = reinterpret_cast<const char*>(staged);
  const auto* const words = reinterpret_cast<const unsigned*>(staged);
  const int to_boundary = static_cast<int>(-begin & 15);
  const int head = to_boundary < bytes ? to_boundary : bytes;
  const int whole = (bytes - head) / 16;
  const int shift = 8 * (head & 3);
  auto* const to = reinterpret_cast<uint4*>(chars + begin + head);
  for (int chunk = thread; chunk < whole; chunk += threads) {
    const unsigned* w = words + 4 * chunk + (head >> 2);
    // Of the fifth word, one of the staged ones or the one behind, no bit is used that is not staged.
    __stcs(to + chunk, uint4{__funnelshift_r(w[0], w[1], shift), __funnelshift_r(w[1], w[2], shift),
                             __funnelshift_r(w[2], w[3], shift), __funnelshift_r(w[3], w[4], shift)});
  }
  if (thread < head) chars[begin + thread] = characters[thread];
  const int behind = head + 16 * whole + thread;
  if (thread < 16 && behind < bytes) chars[begin + behind] = characters[behind];
}

// The threads of a block, as those that redact a tile together.
struct whole_block {
  static constexpr int threads = tile_threads;
  static __device__ __forceinline__ void sync() { __syncthreads(); }
};

template <class T>
struct block_scan_result {
  T before;
  T total;
};

// Each thread's sum of the values of all of the team's threads before it, and the sum of all. A barrier
// stands between calls.
template <class T, class Team = whole_block>
__device__ __forceinline__ block_scan_result<T> block_scan(T value) {
  constexpr int warps = Team::threads / 32;
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  T inclusive = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T below = __shfl_up_sync(0xffffffffu, inclusive, distance);
    if (lane >= distance) inclusive += below;
  }
  if (lane == 31) of_warp[warp] = inclusive;
  Team::sync();
  T before = 0;
  T total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    const T sum = of_warp[w];
    if (w < warp) before += sum;
    total += sum;
  }
  return {before + inclusive - value, total};
}

}  // namespace lab::redact
