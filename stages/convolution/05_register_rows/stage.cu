// A thread computes 4 x 4 outputs. A row of the tile is used for four rows of outputs before it leaves the
// registers: at radius 8, 5 loads for 272 multiply-adds, and a weight for 16.
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/register_rows.hpp"

namespace lab::convolution::register_rows {
namespace {

constexpr int block_threads = 32 * block_rows;

template <int radius>
__global__ void __launch_bounds__(block_threads)
    convolution_kernel(const float* __restrict__ image, float* __restrict__ filtered, std::int64_t rows,
                       std::int64_t columns, edge kind) {
  auto* const tile = dynamic_shared<float>();
  const position first = block_tile<tile_rows, wide_tile>(columns);
  load_tile(tile, image, first.row, first.column, rows, columns, kind, wide_tile, radius, block_rows);
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y) * side;
  float sum[side][side] = {};
  filter_rows<radius>(sum, tile + y * pitch_of(wide_tile, radius) + x);
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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "4 x 4 outputs for each thread",
                                        .launch = launch,
                                        .unsupported = general_alone,
                                        .tile = tile_rows * wide_tile,
                                        .owner_of = owner_in_tile<tile_rows, wide_tile, side, side>}};

}  // namespace
}  // namespace lab::convolution::register_rows
