// A block of 32 x 8 threads moves a tile of 32 x 32 values. The lanes of a warp read 32 neighbours of a row,
// 4 sectors, and write them to 32 rows of the output: 32 sectors, of each of which 4 bytes of 32 are used.
#include "stages/transpose/tiles.hpp"

namespace lab::transpose::naive {
namespace {

constexpr int side = 32;
constexpr int block_rows = 8;  // each thread moves 32 / 8 = 4 values
constexpr int block_threads = side * block_rows;

__global__ void __launch_bounds__(block_threads)
    transpose_kernel(const float* __restrict__ values, float* __restrict__ transposed, std::int64_t rows,
                     std::int64_t columns) {
  const corner tile = corner_of_tile(columns, side);
  const std::int64_t column = tile.column + threadIdx.x;
  for (int k = 0; k < side; k += block_rows) {
    const std::int64_t row = tile.row + threadIdx.y + k;
    if (row < rows && column < columns) transposed[column * rows + row] = values[row * columns + column];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(transpose_kernel, grid_of_tiles(in, side), dim3(side, block_rows), 0, stream, in.values,
              out.transposed, in.rows, in.columns);
}

// The lanes of a warp write to 32 rows.
owner owner_of(const problem::parameters& p, std::int64_t i) {
  owner found = block_of_tile<side>(p, i);
  found.thread = std::to_string(i / p.rows % side) + "," + std::to_string(i % p.rows % block_rows);
  return found;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "coalesced reads, strided writes", .launch = launch, .tile = side * side, .owner_of = owner_of}};

}  // namespace
}  // namespace lab::transpose::naive
