// The weights come from constant memory: an operand of the multiply-add instead of a load.
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/edges.hpp"
#include "stages/convolution/filter.hpp"

namespace lab::convolution::constant_weights {
namespace {

constexpr int tile_rows = 8;
constexpr int tile_columns = 32;
constexpr int block_threads = tile_rows * tile_columns;

__global__ void __launch_bounds__(block_threads)
    convolution_kernel(const float* __restrict__ image, float* __restrict__ filtered, std::int64_t rows,
                       std::int64_t columns, int radius, edge kind) {
  const position tile = block_tile<tile_rows, tile_columns>(columns);
  const std::int64_t row = tile.row + threadIdx.y;
  const std::int64_t column = tile.column + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const int taps = 2 * radius + 1;
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    for (int j = 0; j < taps; ++j) {
      sum += constant_filter[i * taps + j] *
             value_at(image, row + i - radius, column + j - radius, rows, columns, kind);
    }
  }
  filtered[row * columns + column] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  copy_filter(in, stream);
  lab::launch(convolution_kernel, grid_of<tile_rows, tile_columns>(in), dim3(tile_columns, tile_rows), 0,
              stream, in.image, out.filtered, in.rows, in.columns, in.radius, in.edge);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the filter in constant memory",
                                        .launch = launch,
                                        .unsupported = general_alone,
                                        .tile = block_threads,
                                        .owner_of = owner_in_tile<tile_rows, tile_columns, 1, 1>}};

}  // namespace
}  // namespace lab::convolution::constant_weights
