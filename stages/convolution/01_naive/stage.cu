// A thread for each output reads the (2 radius + 1)^2 values around it, and as many of the filter: two loads
// for each multiply-add.
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/edges.hpp"

namespace lab::convolution::naive {
namespace {

constexpr int tile_rows = 8;
constexpr int tile_columns = 32;
constexpr int block_threads = tile_rows * tile_columns;

__global__ void __launch_bounds__(block_threads)
    convolution_kernel(const float* __restrict__ image, const float* __restrict__ filter,
                       float* __restrict__ filtered, std::int64_t rows, std::int64_t columns, int radius,
                       edge kind, bool is_separable) {
  const position tile = block_tile<tile_rows, tile_columns>(columns);
  const std::int64_t row = tile.row + threadIdx.y;
  const std::int64_t column = tile.column + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const int taps = 2 * radius + 1;
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    for (int j = 0; j < taps; ++j) {
      const float weight = is_separable ? filter[i] * filter[taps + j] : filter[i * taps + j];
      sum += weight * value_at(image, row + i - radius, column + j - radius, rows, columns, kind);
    }
  }
  filtered[row * columns + column] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(convolution_kernel, grid_of<tile_rows, tile_columns>(in), dim3(tile_columns, tile_rows), 0,
              stream, in.image, in.filter, out.filtered, in.rows, in.columns, in.radius, in.edge,
              in.kind == filter_kind::separable);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a thread for each output",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = owner_in_tile<tile_rows, tile_columns, 1, 1>}};

}  // namespace
}  // namespace lab::convolution::naive
