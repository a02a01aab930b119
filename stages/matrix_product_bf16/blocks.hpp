// A block for each tile of C, one tile row after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "stages/matrix_product_bf16/problem.hpp"

namespace lab::matrix_product_bf16 {

// One dimension: y would end at 65535 blocks.
template <int rows, int columns>
dim3 grid_of(const input& in) {
  return dim3(static_cast<unsigned>(parts(in.m, rows) * parts(in.n, columns)));
}

struct position {
  int row, column;
};

// The first row and column of the block's tile.
template <int rows, int columns>
__device__ __forceinline__ position block_tile(std::int64_t n) {
  const auto across = static_cast<unsigned>(parts(n, columns));
  return {static_cast<int>(blockIdx.x / across) * rows, static_cast<int>(blockIdx.x % across) * columns};
}

// Rows begin at multiples of 16 bytes, and rows and columns are counted in 32 bits.
template <int rows, int columns>
std::string unsupported(const problem::parameters& p) {
  if (p.n % 8 != 0 || p.k % 8 != 0) return "n and k must be multiples of 8 (16 bytes)";
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 256;
  if (p.m > most || p.n > most || p.k > most) return "more than 2^31 rows or columns";
  return parts(p.m, rows) > most / std::max<std::int64_t>(parts(p.n, columns), 1) ? "more than 2^31 tiles"
                                                                                  : "";
}

}  // namespace lab::matrix_product_bf16
