// A block for each tile of the image, one tile row after another, and what several stages ask of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "stages/convolution/problem.hpp"

namespace lab::convolution {

// One dimension: y would end at 65535 blocks. Throws where CUDA has no grid so large.
template <int tile_rows, int tile_columns>
dim3 grid_of(const input& in) {
  const std::int64_t tiles =
      (in.rows + tile_rows - 1) / tile_rows * ((in.columns + tile_columns - 1) / tile_columns);
  if (tiles > 0x7fffffff) throw std::length_error("more blocks than a grid can have");
  return dim3(static_cast<unsigned>(tiles));
}

struct position {
  std::int64_t row, column;
};

// The first row and column of the block's tile.
template <int tile_rows, int tile_columns>
__device__ __forceinline__ position block_tile(std::int64_t columns) {
  const auto across = static_cast<unsigned>((columns + tile_columns - 1) / tile_columns);
  return {static_cast<std::int64_t>(blockIdx.x / across) * tile_rows,
          static_cast<std::int64_t>(blockIdx.x % across) * tile_columns};
}

// The block and the thread (x, y) that compute output `i`, with tile_columns / across threads side by side.
template <int tile_rows, int tile_columns, int down, int across>
owner owner_in_tile(const problem::parameters& p, std::int64_t i) {
  const std::int64_t row = i / p.columns, column = i % p.columns;
  return {std::to_string(row / tile_rows * ((p.columns + tile_columns - 1) / tile_columns) +
                         column / tile_columns),
          std::to_string(column % tile_columns / across) + "," + std::to_string(row % tile_rows / down)};
}

inline std::string general_alone(const problem::parameters& p) {
  return problem::is_separable(p) ? "filter must be general" : "";
}

// Calls visit(std::integral_constant<int, radius>), for kernels that are compiled for a radius.
template <class Visit>
void with_radius(int radius, const Visit& visit) {
  [&]<int... k>(std::integer_sequence<int, k...>) {
    ((radius == k + 1 ? visit(std::integral_constant<int, k + 1>()) : void()), ...);
  }
  (std::make_integer_sequence<int, most_radius>());
}

}  // namespace lab::convolution
