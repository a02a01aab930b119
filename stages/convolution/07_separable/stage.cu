// A filter that is a column times a row is applied along the rows, and then along the columns: 2 taps
// multiply-adds for each output instead of taps x taps. A warp filters whole rows of the tile in place.
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/register_rows.hpp"

namespace lab::convolution::separable {
namespace {

constexpr int block_threads = 32 * block_rows;

template <int radius>
__global__ void __launch_bounds__(block_threads)
    convolution_kernel(const float* __restrict__ image, float* __restrict__ filtered, std::int64_t rows,
                       std::int64_t columns, edge kind) {
  constexpr int taps = 2 * radius + 1;
  constexpr int pitch = pitch_of(wide_tile, radius);
  auto* const tile = dynamic_shared<float>();
  const position first = block_tile<tile_rows, wide_tile>(columns);
  load_tile(tile, image, first.row, first.column, rows, columns, kind, wide_tile, radius, block_rows);
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y) * side;
  for (int row = static_cast<int>(threadIdx.y); row < tile_rows + 2 * radius; row += block_rows) {
    float piece[pitch_of(side, radius)];
    load_piece(piece, tile + row * pitch + x);
    float sum[side] = {};
#pragma unroll
    for (int j = 0; j < taps; ++j) {
#pragma unroll
      for (int c = 0; c < side; ++c) sum[c] += constant_filter[taps + j] * piece[j + c];
    }
    __syncwarp();  // all lanes have read the row
    *reinterpret_cast<float4*>(tile + row * pitch + x) = make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
  __syncthreads();
  float sum[side][side] = {};
#pragma unroll
  for (int row = 0; row < side + 2 * radius; ++row) {
    float values[side];
    load_piece(values, tile + (y + row) * pitch + x);
#pragma unroll
    for (int k = 0; k < side; ++k) {
      if (row < k || row - k >= taps) continue;
#pragma unroll
      for (int c = 0; c < side; ++c) sum[k][c] += constant_filter[row - k] * values[c];
    }
  }
  store_rows(filtered, first.row + y, first.column + x, rows, columns, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  copy_filter(in, stream);
  with_radius(in.radius, [&](auto radius) {
    lab::launch(convolution_kernel<radius>, grid_of<tile_rows, wide_tile>(in), dim3(32, block_rows),
                tile_values(wide_tile, radius) * sizeof(float), stream, in.image, out.filtered, in.rows,
                in.columns, in.edge);
  });
}

std::string unsupported(const problem::parameters& p) {
  return problem::is_separable(p) ? "" : "filter must be separable";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "along the rows, then along the columns",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile_rows * wide_tile,
                                        .owner_of = owner_in_tile<tile_rows, wide_tile, side, side>}};

}  // namespace
}  // namespace lab::convolution::separable
