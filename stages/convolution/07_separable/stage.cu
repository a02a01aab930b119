// A filter that is a column times a row is applied along the rows, and then along the columns: 2 taps
// multiply-adds for each output instead of taps x taps. A warp filters whole rows of the tile in place.
#include "stages/convolution/tensor_tiles.hpp"

namespace lab::convolution::separable {
namespace {

template <int radius>
__global__ void __launch_bounds__(block_threads, radius <= 4 ? 6 : 4)
    convolution_kernel(const __grid_constant__ lab::tensor_map map, const float* __restrict__ image,
                       float* __restrict__ filtered, std::int64_t rows, std::int64_t columns, edge kind) {
  constexpr int taps = 2 * radius + 1, shift = shift_of(radius);
  constexpr int pitch = pitch_of(wide_tile, radius, shift);
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y) * side;
  for_each_tile<radius, 1>(
      map, image, rows, columns, kind, [&](float* tile, std::int64_t first_row, std::int64_t first_column) {
        for (int row = static_cast<int>(threadIdx.y); row < tile_rows + 2 * radius; row += block_rows) {
          float piece[pitch_of(side, radius, shift)];
          load_piece(piece, tile + row * pitch + x);
          float sum[side] = {};
#pragma unroll
          for (int j = 0; j < taps; ++j) {
#pragma unroll
            for (int c = 0; c < side; ++c) sum[c] += constant_filter[taps + j] * piece[shift + j + c];
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
        store_rows(filtered, first_row + y, first_column + x, rows, columns, sum);
      });
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;  // no tensor map is so small
  copy_filter(in, stream);
  with_radius(in.radius, [&](auto radius) {
    launch_for_tiles<radius, 1>(convolution_kernel<radius>, in, out, 0, stream);
  });
}

std::string unsupported(const problem::parameters& p) {
  return problem::is_separable(p) ? unsupported_by_copies(p) : "filter must be separable";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "along the rows, then along the columns",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile_rows * wide_tile,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::convolution::separable
