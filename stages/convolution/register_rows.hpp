// Four rows of four outputs for each thread, from a tile with its halo in shared memory.
#pragma once

#include <cstdint>

#include "common/store_four.hpp"
#include "stages/convolution/filter.hpp"
#include "stages/convolution/halo_tile.hpp"
#include "stages/convolution/pieces.hpp"

namespace lab::convolution {

constexpr int block_rows = tile_rows / side;  // of threads

// The 4 x 4 outputs whose first value, with its halo, is `shift` values behind `from`: row i of the filter
// needs rows i to i + 3 of the tile, of which three are still in registers, since four of them take turns.
template <int radius, int shift = 0>
__device__ __forceinline__ void filter_rows(float (&sum)[side][side], const float* from) {
  constexpr int taps = 2 * radius + 1;
  constexpr int pitch = pitch_of(wide_tile, radius, shift);
  float piece[side][pitch_of(side, radius, shift)];
#pragma unroll
  for (int k = 0; k < side - 1; ++k) load_piece(piece[k], from + k * pitch);
  const auto add_row = [&](int i, int turn) {
    load_piece(piece[(turn + side - 1) % side], from + (i + side - 1) * pitch);
#pragma unroll
    for (int j = 0; j < taps; ++j) {
#pragma unroll
      for (int k = 0; k < side; ++k) {
#pragma unroll
        for (int c = 0; c < side; ++c)
          sum[k][c] += constant_filter[i * taps + j] * piece[(turn + k) % side][shift + j + c];
      }
    }
  };
  // Whole filters of radius 2 to 4; of larger ones no more instructions than caches hold.
#pragma unroll(radius > 1 && radius <= 4 ? taps / side : 1)
  for (int i = 0; i + side <= taps; i += side) {
#pragma unroll
    for (int turn = 0; turn < side; ++turn) add_row(i + turn, turn);
  }
#pragma unroll
  for (int turn = 0; turn < taps % side; ++turn) add_row(taps / side * side + turn, turn);
}

// Those of them that the image has.
__device__ __forceinline__ void store_rows(float* __restrict__ filtered, std::int64_t row,
                                           std::int64_t column, std::int64_t rows, std::int64_t columns,
                                           const float (&sum)[side][side]) {
#pragma unroll
  for (int k = 0; k < side; ++k) {
    if (row + k < rows) store_four(filtered + (row + k) * columns, column, columns, sum[k]);
  }
}

}  // namespace lab::convolution
