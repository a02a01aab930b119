// Words that the block may read again without making a difference to the search for races: most loads are of
// such a word, and need not be noted. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lab::emulator {

// A direct-mapped table of addresses. An entry that another word has pushed out costs time and nothing else.
// What is known holds until the block's next barrier (an epoch) or, if it is known of the running warp alone,
// until its next __syncwarp() or another warp's turn.
class known_reads {
 public:
  void begin_epoch() { issue(true); }
  void begin_turn() { issue(false); }

  // `word` is an address, a multiple of 4.
  void add_for_block(std::uintptr_t word) { entry(word) = word << stamp_bits | block_stamp_; }
  void add_for_warp(std::uintptr_t word) { entry(word) = word << stamp_bits | warp_stamp_; }
  void remove(std::uintptr_t word) {
    if (entry(word) >> stamp_bits == word) entry(word) = 0;
  }

  // Whether all words of [address, address + bytes) are known. A part of a word is known if the word is.
  template <unsigned bytes>
  [[gnu::always_inline]] bool contains(std::uintptr_t address) const {
    bool all = (address & ((bytes < 4 ? bytes : 4) - 1)) == 0;
    const std::uintptr_t first = bytes < 4 ? address & ~std::uintptr_t{3} : address;
    for (unsigned offset = 0; offset < bytes; offset += 4) {
      const std::uint64_t stamp = entries_[index_of(first + offset)] ^ (first + offset) << stamp_bits;
      all = all && (stamp == block_stamp_ || stamp == warp_stamp_);
    }
    return all;
  }

 private:
  // An address has 47 bits.
  static constexpr unsigned stamp_bits = 16;
  static constexpr std::size_t size = 8192;

  static std::size_t index_of(std::uintptr_t word) { return word / 4 % size; }
  std::uint64_t& entry(std::uintptr_t word) { return entries_[index_of(word)]; }

  void issue(bool for_block) {
    if (last_ + 2 >= 1u << stamp_bits) {
      entries_.fill(0);
      last_ = 0;
      for_block = true;  // the old stamp comes round again
    }
    if (for_block) block_stamp_ = ++last_;
    warp_stamp_ = ++last_;
  }

  std::array<std::uint64_t, size> entries_{};
  std::uint64_t block_stamp_ = 1, warp_stamp_ = 2;
  std::uint64_t last_ = 2;
};

// Not thread_local: an observed launch uses one OS thread.
inline constinit known_reads the_known_reads{};

}  // namespace lab::emulator
