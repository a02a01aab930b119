// One row by several threads, from global memory: for rows too long to be staged.
#pragma once

#include "common/cuda.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact {

// The first space of [begin, end) in the chunk (16 bytes) at `at`, a multiple of 16; `end` when it has none.
// `total` bytes of `names` may be read.
template <class Offset>
__device__ __forceinline__ Offset find_space_in_chunk(const char* names, Offset at, Offset begin, Offset end,
                                                      Offset total) {
  if (at >= end) return end;
  if (at + 16 > total) {
    for (Offset k = at < begin ? begin : at; k < end; ++k) {
      if (names[k] == ' ') return k;
    }
    return end;
  }
  const uint4 chunk = *reinterpret_cast<const uint4*>(names + at);
  const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const Offset from = at + 4 * word;
    if (from + 4 <= begin) continue;
    const int skipped = from < begin ? static_cast<int>(begin - from) : 0;
    const unsigned spaces = space_flags(words[word] | ~(0xffffffffu << 8 * skipped));
    if (spaces == 0) continue;
    const Offset found = from + (__ffs(static_cast<int>(spaces)) - 1) / 8;
    return found < end ? found : end;
  }
  return end;
}

// The same by a whole warp, 512 bytes at a time.
template <class Offset>
__device__ __forceinline__ Offset warp_find_space(const char* names, Offset begin, Offset end, Offset total) {
  const auto lane = static_cast<Offset>(threadIdx.x % 32);
  for (Offset base = begin / 16 * 16; base < end; base += 512) {
    const Offset mine = find_space_in_chunk<Offset>(names, base + 16 * lane, begin, end, total);
    const unsigned found = __ballot_sync(0xffffffffu, mine < end);
    if (found != 0) return __shfl_sync(0xffffffffu, mine, __ffs(static_cast<int>(found)) - 1);
  }
  return end;
}

// The parts of the name [begin, end), whose first space (or end) is at `space`.
template <class Offset>
__device__ __forceinline__ name_parts<Offset> parts_at(const char* names, Offset begin, Offset end,
                                                       Offset space) {
  if (space + 1 >= end) return {space - begin, space - begin, 0};
  return {space - begin, space + 1 - begin, static_cast<Offset>(character_bytes(names[space + 1]))};
}

// Copies `bytes` characters; `threads` threads call, and `thread` is which of them this is.
__device__ __forceinline__ void copy_characters(char* to, const char* from, std::int64_t bytes, int thread,
                                                int threads) {
  const auto to_boundary = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % 16);
  const std::int64_t head = to_boundary < bytes ? to_boundary : bytes;
  for (std::int64_t k = thread; k < head; k += threads) to[k] = from[k];
  // 16 bytes a store, from five words that hold them at any alignment. The fifth ends at most 3 bytes behind.
  const std::int64_t whole = bytes - head >= 19 ? (bytes - head - 3) / 16 : 0;
  const auto misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(from + head) % 4);
  const auto* words = reinterpret_cast<const unsigned*>(from + head - misaligned);
  auto* chunks = reinterpret_cast<uint4*>(to + head);
  for (std::int64_t chunk = thread; chunk < whole; chunk += threads) {
    const unsigned* w = words + 4 * chunk;
    const int shift = 8 * misaligned;
    const unsigned last = misaligned == 0 ? 0 : w[4];
    chunks[chunk] = {__funnelshift_r(w[0], w[1], shift), __funnelshift_r(w[1], w[2], shift),
                     __funnelshift_r(w[2], w[3], shift), __funnelshift_r(w[3], last, shift)};
  }
  for (std::int64_t k = head + 16 * whole + thread; k < bytes; k += threads) to[k] = from[k];
}

// How long a row gets, and where its first name ends: -1 for a private row.
template <class Offset>
struct wide_row {
  Offset bytes;
  Offset first_bytes;
};

// A whole warp calls; every lane gets the result.
template <class Offset>
__device__ __forceinline__ wide_row<Offset> measure_wide_row(const columns<Offset>& in, std::int64_t row) {
  const Offset visibility = in.visibility_offsets[row];
  if (!redact::is_public(in.visibilities + visibility, in.visibility_offsets[row + 1] - visibility))
    return {private_bytes, -1};
  const Offset begin = in.name_offsets[row];
  const Offset end = in.name_offsets[row + 1];
  // In 64 bits: what lies ahead of the last characters may be beyond 2^31.
  const auto space = static_cast<Offset>(warp_find_space<std::int64_t>(in.names, begin, end, in.names_bytes));
  const auto parts = parts_at(in.names, begin, end, space);
  return {parts.redacted_bytes(), parts.first_bytes};
}

// All of a row but the first name, which goes to the address that is returned. One thread calls.
template <class Offset>
__device__ __forceinline__ char* write_wide_head(const columns<Offset>& in, std::int64_t row,
                                                 Offset first_bytes, char* out) {
  if (first_bytes < 0) {
    write_private(out);
    return out + private_bytes;
  }
  const Offset begin = in.name_offsets[row];
  const Offset end = in.name_offsets[row + 1];
  const auto parts = parts_at<Offset>(in.names, begin, end, begin + first_bytes);
  for (Offset k = 0; k < parts.initial_bytes; ++k) *out++ = in.names[begin + parts.initial_at + k];
  *out++ = ' ';
  return out;
}

// A whole warp calls.
template <class Offset>
__device__ __forceinline__ void write_wide_row(const columns<Offset>& in, std::int64_t row,
                                               const wide_row<Offset>& as, char* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (lane == 0) write_wide_head(in, row, as.first_bytes, out);
  if (as.first_bytes > 0)
    copy_characters(out + (as.bytes - as.first_bytes), in.names + in.name_offsets[row], as.first_bytes, lane,
                    32);
}

}  // namespace lab::redact
