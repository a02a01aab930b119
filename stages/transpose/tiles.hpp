// Square tiles of a matrix: a block for each, its corner, and which outputs it writes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "stages/transpose/problem.hpp"

namespace lab::transpose {

// One block for each tile of height x width values, in one dimension, because the others end at 65535 blocks.
// Throws where CUDA has no grid so large.
inline dim3 grid_of_tiles(const input& in, std::int64_t height, std::int64_t width) {
  const std::int64_t tiles = parts(in.rows, height) * parts(in.columns, width);
  if (tiles > 0x7fffffff) throw std::length_error("more blocks than a grid can have");
  return dim3(static_cast<unsigned>(tiles));
}
// Of squares.
inline dim3 grid_of_tiles(const input& in, std::int64_t side) {
  return grid_of_tiles(in, side, side);
}

// The first row and column of a block's tile, where they come one after another along the rows.
struct corner {
  std::int64_t row;
  std::int64_t column;
};
__device__ inline corner corner_of_tile(std::int64_t columns, int side) {
  const auto across = static_cast<unsigned>(parts(columns, side));
  return {static_cast<std::int64_t>(blockIdx.x / across) * side,
          static_cast<std::int64_t>(blockIdx.x % across) * side};
}

// The block that writes output i.
template <std::int64_t side>
owner block_of_tile(const problem::parameters& p, std::int64_t i) {
  return {std::to_string(i % p.rows / side * parts(p.columns, side) + i / p.rows / side), ""};
}

// And its thread (x, y), of 32 x 8: the lanes of a warp write 32 neighbours.
inline owner neighbours_owner(const problem::parameters& p, std::int64_t i) {
  owner found = block_of_tile<32>(p, i);
  found.thread = std::to_string(i % p.rows % 32) + "," + std::to_string(i / p.rows % 8);
  return found;
}

}  // namespace lab::transpose
