// A tile of 32 rows with its halo in shared memory: `radius` more rows and columns on each side.
#pragma once

#include <cstdint>

#include "stages/convolution/edges.hpp"

namespace lab::convolution {

constexpr int tile_rows = 32;

// Values from the beginning of a row of the tile to that of the next one: with the halo, and `shift` values
// before it, a multiple of 16 bytes.
__host__ __device__ constexpr int pitch_of(int tile_columns, int radius, int shift = 0) {
  return (tile_columns + 2 * radius + shift + 3) / 4 * 4;
}
__host__ __device__ constexpr int tile_values(int tile_columns, int radius, int shift = 0) {
  return (tile_rows + 2 * radius) * pitch_of(tile_columns, radius, shift);
}

// The block, 32 threads wide and `height` high, reads the tile whose first output is (row, column). A barrier
// follows.
__device__ __forceinline__ void load_tile(float* tile, const float* __restrict__ image, std::int64_t row,
                                          std::int64_t column, std::int64_t rows, std::int64_t columns,
                                          edge kind, int tile_columns, int radius, int height) {
  const int pitch = pitch_of(tile_columns, radius);
  const int tile_height = tile_rows + 2 * radius;
  const auto first_x = static_cast<int>(threadIdx.x), first_y = static_cast<int>(threadIdx.y);
  row -= radius;
  column -= radius;
  if (row >= 0 && column >= 0 && row + tile_height <= rows && column + pitch <= columns) {
    for (int y = first_y; y < tile_height; y += height) {
      const float* const from = image + (row + y) * columns + column;
#pragma unroll 8
      for (int x = first_x; x < pitch; x += 32) tile[y * pitch + x] = from[x];
    }
  } else {
    for (int y = first_y; y < tile_height; y += height) {
#pragma unroll 1
      for (int x = first_x; x < pitch; x += 32)
        tile[y * pitch + x] = value_at(image, row + y, column + x, rows, columns, kind);
    }
  }
  __syncthreads();
}

}  // namespace lab::convolution
