// Instead of padding: value (row, column) of the tile lies at column ^ row of its row. A row remains a
// permutation of 32 banks, a column becomes one, and the tile stays 4096 bytes.
#include "stages/transpose/tiles.hpp"

namespace lab::transpose::swizzled {
namespace {

constexpr int side = 32;
constexpr int block_rows = 8;  // each thread moves 32 / 8 = 4 values
constexpr int block_threads = side * block_rows;

// Where the tile has a value.
__device__ int place(int row, int column) {
  // exercise: place
  return row * side + (column ^ row);
  // end
}

__global__ void __launch_bounds__(block_threads)
    transpose_kernel(const float* __restrict__ values, float* __restrict__ transposed, std::int64_t rows,
                     std::int64_t columns) {
  __shared__ float tile[side * side];
  const auto [first_row, first_column] = corner_of_tile(columns, side);
  const auto x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  for (int k = y; k < y + side; k += block_rows) {
    const std::int64_t row = first_row + k, column = first_column + x;
    if (row < rows && column < columns) tile[place(k, x)] = values[row * columns + column];
  }
  __syncthreads();
  for (int k = y; k < y + side; k += block_rows) {
    const std::int64_t row = first_row + x, column = first_column + k;
    if (row < rows && column < columns) transposed[column * rows + row] = tile[place(x, k)];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(transpose_kernel, grid_of_tiles(in, side), dim3(side, block_rows), 0, stream, in.values,
              out.transposed, in.rows, in.columns);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "columns exchanged by XOR instead of padding",
                                        .launch = launch,
                                        .tile = side * side,
                                        .owner_of = neighbours_owner}};

}  // namespace
}  // namespace lab::transpose::swizzled
