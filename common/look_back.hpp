// Decoupled look-back: a running total over the blocks of a grid while they run (Merrill and Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
//
// A block publishes its own sum, then adds up what its predecessors have published, until it meets one that
// knows its whole prefix. It therefore waits only for blocks with lower indices, which must have been started
// before it: a GPU starts blocks in the order of their indices, as CUB's scan relies on too, and so does the
// emulator, whose OS threads take them in ascending order and run each to its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/block_reduce.hpp"
#include "common/cuda.hpp"
#include "common/operations.hpp"
#include "common/relaxed_read.hpp"

namespace lab {

// What a block has published: two bits that say what, and the value. One word, so that both arrive together.
using look_back_word = unsigned long long;

// All words are 0 before the kernel starts.
inline std::size_t look_back_bytes(std::int64_t blocks) {
  return static_cast<std::size_t>(blocks) * sizeof(look_back_word);
}

namespace look_back_detail {

inline constexpr look_back_word aggregate = look_back_word{1} << 62;  // the block's own sum
inline constexpr look_back_word inclusive_prefix = look_back_word{1}
                                                   << 63;  // that of all blocks up to this one
inline constexpr look_back_word value_bits = aggregate - 1;

__device__ __forceinline__ void write(look_back_word* word, look_back_word value) {
#if LAB_EMULATED
  atomicExch(word, value);
#else
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#endif
}

}  // namespace look_back_detail

// Tells the blocks behind what this block adds. One thread of each block calls, as soon as it knows.
__device__ __forceinline__ void publish_aggregate(look_back_word* words, std::int64_t block,
                                                  std::int64_t sum) {
  using namespace look_back_detail;
  write(words + block, (block == 0 ? inclusive_prefix : aggregate) | static_cast<look_back_word>(sum));
}

// The sum of what all blocks before `block` have published (each 0 or more, the total below 2^62); `sum` is
// what this block published itself. One whole warp of each block calls, with the same arguments in every
// lane, and every lane gets the result.
__device__ __forceinline__ std::int64_t look_back(look_back_word* words, std::int64_t block,
                                                  std::int64_t sum) {
  using namespace look_back_detail;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto own = static_cast<look_back_word>(sum);
  if (block == 0) return 0;
  look_back_word prefix = 0;
  for (std::int64_t nearest = block - 1;; nearest -= 32) {
    const std::int64_t mine = nearest - lane;
    // Before the first block there is nothing to add.
    look_back_word seen = mine >= 0 ? relaxed_read(words + mine) : inclusive_prefix;
    unsigned whole = 0;  // lanes whose block knows its prefix
    for (;;) {
      const unsigned published = __ballot_sync(0xffffffffu, seen > value_bits);
      whole = __ballot_sync(0xffffffffu, (seen & inclusive_prefix) != 0);
      const unsigned needed = whole == 0 ? 0xffffffffu : whole ^ (whole - 1);
      if ((published & needed) == needed) break;
      if (mine >= 0) seen = relaxed_read(words + mine);
    }
    const bool counts = whole == 0 || lane < __ffs(static_cast<int>(whole));
    prefix += warp_reduce(counts ? seen & value_bits : 0, lab::sum<look_back_word>{});
    if (whole != 0) {
      if (lane == 0) write(words + block, inclusive_prefix | (prefix + own));
      return static_cast<std::int64_t>(prefix);
    }
  }
}

}  // namespace lab
