// The track's wrong kernels, each to be refused for one mistake; a right twin among them.
#include "stages/transpose/tiles.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::transpose::wrong {
namespace {

constexpr int side = 32;
constexpr int block_rows = 8;

enum class mistake {
  none,
  missing_barrier,     // the tile is written while it is still read
  square_assumed,      // what is beyond the square in the corner is left out
  tiles_of_rows,       // tiles are counted along the columns: right where there are as many as along the rows
  half_swizzle,        // XOR by 5 bits of the row in, by 4 out
  last_tile_as_it_is,  // the tile in the last corner is not transposed
  vectors_alone,       // columns beyond the last four are left out
  rows_in_16_bits,
  adds_zero  // -0 + 0 is 0
};

__device__ int tile_index(int row, int column, int mask) {
  return row * side + (column ^ (row & mask));
}

template <mistake which>
__global__ void transpose_kernel(const float* values, float* transposed, std::int64_t rows,
                                 std::int64_t columns) {
  __shared__ float tile[side * side];
  const std::int64_t along = which == mistake::tiles_of_rows ? rows : columns;
  const auto [first_row, first_column] = corner_of_tile(along, side);
  const bool is_last = first_row + side > rows && first_column + side > columns;
  const auto x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const auto exists = [&](std::int64_t row, std::int64_t column) {
    if (which == mistake::vectors_alone && column >= columns / 4 * 4) return false;
    if (which == mistake::square_assumed && (row >= columns || column >= rows)) return false;
    if (which == mistake::rows_in_16_bits && row > 0xffff) return false;
    return row < rows && column < columns;
  };
  // Zeros, and not what a kernel before has left.
  for (int k = y; k < side; k += block_rows) tile[k * side + x] = 0;
  __syncthreads();
  for (int k = y; k < side; k += block_rows) {
    const std::int64_t row = first_row + k, column = first_column + x;
    if (exists(row, column)) tile[tile_index(k, x, 31)] = values[row * columns + column];
  }
  if (which != mistake::missing_barrier) __syncthreads();
  for (int k = y; k < side; k += block_rows) {
    const std::int64_t row = first_row + x, column = first_column + k;
    if (!exists(row, column)) continue;
    float value = tile[tile_index(x, k, which == mistake::half_swizzle ? 15 : 31)];
    if (which == mistake::last_tile_as_it_is && is_last) value = tile[tile_index(k, x, 31)];
    if (which == mistake::adds_zero) value += 0.0f;
    transposed[column * rows + row] = value;
  }
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(transpose_kernel<which>, grid_of_tiles(in, side), dim3(side, block_rows), 0, stream, in.values,
              out.transposed, in.rows, in.columns);
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea, .launch = launch<which>, .tile = side * side};
}

// Right, and names no tile.
STAGE(without_a_tile, {.idea = "names no tile", .launch = launch<mistake::none>});
MISTAKE(missing_barrier, failure_kind::wrong, "wrong at index", "no barrier");
MISTAKE(square_assumed, failure_kind::unwritten, "was never written", "moves the square in the corner alone");
MISTAKE(tiles_of_rows, failure_kind::unwritten, "was never written", "counts tiles along the columns");
MISTAKE(half_swizzle, failure_kind::wrong, "wrong at index", "reads another swizzle than it wrote");
MISTAKE(last_tile_as_it_is, failure_kind::wrong, "wrong at index",
        "does not transpose the tile in the last corner");
MISTAKE(vectors_alone, failure_kind::unwritten, "was never written", "moves whole vectors alone");
MISTAKE(rows_in_16_bits, failure_kind::unwritten, "rows=70004", "leaves out rows that 16 bits do not count");
MISTAKE(adds_zero, failure_kind::wrong, "expected -0, found 0", "loses the sign of zero");

}  // namespace
}  // namespace lab::transpose::wrong
