// A block for each tile of C, one tile row after another: what every stage of the track launches.
#pragma once

#include <cstdint>
#include <string>

#include "stages/matrix_product/problem.hpp"

namespace lab::matrix_product {

// A grid in one dimension has 2^31 - 1 blocks, in y it would have 65535.
template <int rows, int columns>
dim3 grid_of(const input& in) {
  return dim3(static_cast<unsigned>(parts(in.m, rows) * parts(in.n, columns)));
}

template <int rows, int columns>
std::string unsupported(const problem::parameters& p) {
  constexpr std::int64_t most = 2'147'483'647;
  const std::int64_t across = parts(p.n, columns);
  if (across == 0 || parts(p.m, rows) <= most / across) return "";
  return "C has more than 2147483647 tiles of " + std::to_string(rows) + " x " + std::to_string(columns) +
         ", the blocks of a grid";
}

struct position {
  std::int64_t row, column;
};

// The first row and column of the block's tile.
template <int rows, int columns>
__device__ __forceinline__ position block_tile(std::int64_t n) {
  const auto across = static_cast<unsigned>(parts(n, columns));
  return {static_cast<std::int64_t>(blockIdx.x / across) * rows,
          static_cast<std::int64_t>(blockIdx.x % across) * columns};
}

// The block that computes output `index`; not which of its threads.
template <int rows, int columns>
owner block_of(const problem::parameters& p, std::int64_t index) {
  return {std::to_string(index / p.n / rows * parts(p.n, columns) + index % p.n / columns), ""};
}

}  // namespace lab::matrix_product
