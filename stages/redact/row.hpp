// One row, by one thread: what most stages do alike, whatever memory they write to.
#pragma once

#include "common/cuda.hpp"

namespace lab::redact {

inline constexpr int private_bytes = 3;  // "X X"

// Bytes of the UTF-8 character that begins with `lead`.
__device__ __forceinline__ int character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// The highest bit of each byte that is a space. The lowest of the bits that are set is right, others may not
// be.
__device__ __forceinline__ unsigned space_flags(unsigned word) {
  const unsigned other = word ^ 0x20202020u;
  return (other - 0x01010101u) & ~other & 0x80808080u;
}

template <class Offset>
__device__ __forceinline__ bool is_public(const char* visibility, Offset bytes) {
  constexpr char wanted[] = {'p', 'u', 'b', 'l', 'i', 'c'};
  if (bytes != 6) return false;
  for (int k = 0; k < 6; ++k) {
    if (visibility[k] != wanted[k]) return false;
  }
  return true;
}

// Where the parts of a name lie in it: the first name ends at the first space, and the last name is all that
// follows that space. A name without a space is a first name alone, and has no last name.
template <class Offset>
struct name_parts {
  Offset first_bytes;  // the first name is [0, first_bytes)
  Offset initial_at;   // the last name's first character, of `initial_bytes` (0 when there is none)
  Offset initial_bytes;

  // Of the redacted name: initial, space, first name.
  [[nodiscard]] __device__ __forceinline__ Offset redacted_bytes() const {
    return initial_bytes + 1 + first_bytes;
  }
};

template <class Offset>
__device__ __forceinline__ name_parts<Offset> split(const char* name, Offset bytes) {
  Offset space = 0;
  while (space < bytes && name[space] != ' ') ++space;
  const Offset initial_at = space + 1;
  if (initial_at >= bytes) return {space, space, 0};
  const auto length = static_cast<Offset>(character_bytes(name[initial_at]));
  return {space, initial_at, length};
}

template <class Offset>
__device__ __forceinline__ void write_public(char* out, const char* name, const name_parts<Offset>& parts) {
  for (Offset k = 0; k < parts.initial_bytes; ++k) *out++ = name[parts.initial_at + k];
  *out++ = ' ';
  for (Offset k = 0; k < parts.first_bytes; ++k) *out++ = name[k];
}

__device__ __forceinline__ void write_private(char* out) {
  out[0] = 'X';
  out[1] = ' ';
  out[2] = 'X';
}

// A block for each `threads` rows.
inline dim3 blocks_for_rows(std::int64_t rows, int threads) {
  return dim3(static_cast<unsigned>((rows + threads - 1) / threads));
}

}  // namespace lab::redact
