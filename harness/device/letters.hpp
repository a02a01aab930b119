// Other strings of the same shape, made in place: what was a small letter stays one, and nothing else
// changes.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/random.hpp"

namespace lab {

// Letters are turned along the alphabet, by as much for each 16 bytes as the seed says; with seed 0 by
// nothing.
inline constexpr std::int64_t varied_bytes = 16;

__host__ __device__ inline int turn_of(std::uint64_t seed, std::int64_t word) {
  return seed == 0 ? 0 : static_cast<int>(random_bits(seed, static_cast<std::uint64_t>(word)) % 26);
}

// By less than once round.
__host__ __device__ inline char turned(char letter, int turn) {
  const int moved = letter + turn;
  return static_cast<char>(letter < 'a' || letter > 'z' ? letter : moved > 'z' ? moved - 26 : moved);
}

// Turns chars[0 .. bytes) in device memory, aligned to 16 bytes, which hold what `from` made of them, into
// what `to` makes of them.
void vary_letters(char* chars, std::int64_t bytes, std::uint64_t from, std::uint64_t to, cudaStream_t stream);

}  // namespace lab
