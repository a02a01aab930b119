// Each thread reads a block of 4 x 4 values with four accesses of 16 bytes, transposes it in registers, and
// writes it to shared memory as four vectors of a column. A tile of 64 x 64 values is 16 KiB, of which all 64
// bytes of each thread are on their way at once, and a row of the tile is 256 bytes of global memory in
// either direction. Where rows do not begin at multiples of 16 bytes, that side is moved value by value.
#include "stages/transpose/tiles.hpp"

namespace lab::transpose::vectorized {
namespace {

constexpr int side = 64;
constexpr int block_threads = 256;
constexpr int vector_values = 4;
constexpr int row_vectors = side / vector_values;  // 16 lanes move a row of the tile
static_assert(block_threads == row_vectors * row_vectors, "one block of 4 x 4 values for each thread");

// Where the tile has the vector of rows 4 q .. 4 q + 3 of a column. 16-byte accesses are served 8 lanes at a
// time, and are without conflicts where these have different vectors modulo 8: for 8 columns side by side,
// for 8 that are 4 apart, and for 8 vectors of one column.
__device__ int place(int column, int q) {
  return column * row_vectors + (q ^ (column >> 2) ^ (column & 3) << 1);
}

// The vector of 4 rows of a column, value by value: rows from `row` on that exist.
__device__ float4 read_column(const float* values, std::int64_t row, std::int64_t column, std::int64_t rows,
                              std::int64_t columns) {
  float some[vector_values] = {};
#pragma unroll
  for (int k = 0; k < vector_values; ++k)
    if (row + k < rows && column < columns) some[k] = values[(row + k) * columns + column];
  return make_float4(some[0], some[1], some[2], some[3]);
}

template <bool wide_reads, bool wide_writes>
__global__ void __launch_bounds__(block_threads)
    transpose_kernel(const float* __restrict__ values, float* __restrict__ transposed, std::int64_t rows,
                     std::int64_t columns) {
  __shared__ float4 tile[side * row_vectors];
  const auto [first_row, first_column] = corner_of_tile(columns, side);
  const auto thread = static_cast<int>(threadIdx.x);
  if constexpr (wide_reads) {
    const int g = thread % row_vectors, q = thread / row_vectors;
    float4 row_of[vector_values] = {};
#pragma unroll
    for (int k = 0; k < vector_values; ++k) {
      const std::int64_t row = first_row + vector_values * q + k, column = first_column + vector_values * g;
      if (row < rows && column < columns)
        row_of[k] = *reinterpret_cast<const float4*>(values + row * columns + column);
    }
    const float4 &a = row_of[0], &b = row_of[1], &c = row_of[2], &d = row_of[3];
    tile[place(vector_values * g, q)] = make_float4(a.x, b.x, c.x, d.x);
    tile[place(vector_values * g + 1, q)] = make_float4(a.y, b.y, c.y, d.y);
    tile[place(vector_values * g + 2, q)] = make_float4(a.z, b.z, c.z, d.z);
    tile[place(vector_values * g + 3, q)] = make_float4(a.w, b.w, c.w, d.w);
  } else {
    // A warp reads 32 neighbours of a row.
    const int column = thread % side;
    float4 of_column[vector_values];
#pragma unroll
    for (int k = 0; k < vector_values; ++k) {
      const int q = thread / side + k * vector_values;
      of_column[k] = read_column(values, first_row + vector_values * q, first_column + column, rows, columns);
    }
#pragma unroll
    for (int k = 0; k < vector_values; ++k)
      tile[place(column, thread / side + k * vector_values)] = of_column[k];
  }
  __syncthreads();
  if constexpr (wide_writes) {
    const int q = thread % row_vectors;
#pragma unroll
    for (int column = thread / row_vectors; column < side; column += row_vectors) {
      const std::int64_t row = first_row + vector_values * q;
      if (row < rows && first_column + column < columns)
        *reinterpret_cast<float4*>(transposed + (first_column + column) * rows + row) =
            tile[place(column, q)];
    }
  } else {
    const int k = thread % side;
    const std::int64_t row = first_row + k;
    for (int column = thread / side; column < side; column += block_threads / side) {
      if (row < rows && first_column + column < columns)
        transposed[(first_column + column) * rows + row] =
            reinterpret_cast<const float*>(tile + place(column, k / vector_values))[k % vector_values];
    }
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const bool wide_reads = in.columns % vector_values == 0, wide_writes = in.rows % vector_values == 0;
  const auto kernel = wide_reads ? wide_writes ? transpose_kernel<true, true> : transpose_kernel<true, false>
                      : wide_writes ? transpose_kernel<false, true>
                                    : transpose_kernel<false, false>;
  lab::launch(kernel, grid_of_tiles(in, side), dim3(block_threads), 0, stream, in.values, out.transposed,
              in.rows, in.columns);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte accesses, 4 x 4 values in registers",
                                        .launch = launch,
                                        .tile = side * side,
                                        .owner_of = block_of_tile<side>}};

}  // namespace
}  // namespace lab::transpose::vectorized
