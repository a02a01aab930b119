// A tile's output, from shared memory to its place in the column, 16 bytes a store.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"

namespace lab::redact {

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

}  // namespace lab::redact
