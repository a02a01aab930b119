// One row by one thread, between two arrays in shared memory, a word (four characters) at a time.
#pragma once

#include "common/cuda.hpp"
#include "stages/redact/row.hpp"
#include "stages/redact/staged_characters.hpp"

namespace lab::redact {

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

}  // namespace lab::redact
