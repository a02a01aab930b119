// A thread computes four outputs side by side. Their 4 + 2 radius values of a row come into registers once,
// 16 bytes a load, and are used for all four: at radius 8, 5 loads for 68 multiply-adds.
#include "common/store_four.hpp"
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/filter.hpp"
#include "stages/convolution/halo_tile.hpp"
#include "stages/convolution/pieces.hpp"

namespace lab::convolution::register_row {
namespace {

constexpr int block_threads = tile_rows * 32;

template <int radius>
__global__ void __launch_bounds__(block_threads)
    convolution_kernel(const float* __restrict__ image, float* __restrict__ filtered, std::int64_t rows,
                       std::int64_t columns, edge kind) {
  constexpr int taps = 2 * radius + 1;
  constexpr int pitch = pitch_of(wide_tile, radius);
  auto* const tile = dynamic_shared<float>();
  const position first = block_tile<tile_rows, wide_tile>(columns);
  load_tile(tile, image, first.row, first.column, rows, columns, kind, wide_tile, radius, tile_rows);
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y);
  float sum[side] = {};
#pragma unroll 1
  for (int i = 0; i < taps; ++i) {
    float piece[pitch_of(side, radius)];
    load_piece(piece, tile + (y + i) * pitch + x);
#pragma unroll
    for (int j = 0; j < taps; ++j) {
#pragma unroll
      for (int c = 0; c < side; ++c) sum[c] += constant_filter[i * taps + j] * piece[j + c];
    }
  }
  if (first.row + y < rows) store_four(filtered + (first.row + y) * columns, first.column + x, columns, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  copy_filter(in, stream);
  with_radius(in.radius, [&](auto radius) {
    lab::launch(convolution_kernel<radius>, grid_of<tile_rows, wide_tile>(in), dim3(32, tile_rows),
                tile_values(wide_tile, radius) * sizeof(float), stream, in.image, out.filtered, in.rows,
                in.columns, in.edge);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "four outputs of a row for each thread",
                                        .launch = launch,
                                        .unsupported = general_alone,
                                        .tile = tile_rows * wide_tile,
                                        .owner_of = owner_in_tile<tile_rows, wide_tile, 1, side>}};

}  // namespace
}  // namespace lab::convolution::register_row
