// Other strings, made instead of those that were there: what was a small letter stays one, and the rows
// follow each other from another one on.
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

// The row with which a column begins, of `rows`, that is varied by this seed: all rows are moved round by as
// many. With seed 0 the first.
inline std::int64_t first_row_of(std::uint64_t seed, std::int64_t rows) {
  if (seed == 0 || rows == 0) return 0;
  return static_cast<std::int64_t>(random_bits(~seed, 0) % static_cast<std::uint64_t>(rows));
}

// Writes the offsets of `rows` rows and their end, moved round so that row `first_row`, which began at byte
// `begin` of `bytes`, is the first. T is std::int32_t or std::int64_t.
template <class T>
void rotate_offsets(const T* offsets, T* to, std::int64_t rows, std::int64_t first_row, std::int64_t begin,
                    std::int64_t bytes, cudaStream_t stream);

}  // namespace lab
