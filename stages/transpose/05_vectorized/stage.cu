// Each thread reads a block of 4 x 4 values with four accesses of 16 bytes, transposes it in registers, and
// writes it to shared memory as four vectors of a column. A tile of 64 x 128 values is 32 KiB, of which all
// 64 bytes of each thread are on their way at once. Where rows of the input begin at no multiple of 16 bytes,
// the aligned vectors that hold them are read, and the values move to the lane before by shuffles. Where rows
// of the output do, they are written value by value.
#include "stages/transpose/tiles.hpp"

namespace lab::transpose::vectorized {
namespace {

constexpr int height = 64;  // of a tile, in rows of the input
constexpr int width = 128;
constexpr int vector_values = 4;
constexpr int column_vectors = height / vector_values;  // 16 lanes write a column of the tile
constexpr int block_threads = width / vector_values * column_vectors;
static_assert(width / vector_values == 32, "a warp reads a row of the tile: shuffles reach all of it");

// Where the tile has the vector of rows 4 q .. 4 q + 3 of a column. 16-byte accesses are served 8 lanes at a
// time, and are without conflicts where these have different vectors modulo 8: for 8 columns that are 4
// apart, and for 8 vectors of one column.
__device__ int place(int column, int q) {
  return column * column_vectors + (q ^ (column >> 2 & 7));
}

// Values `from` to `from + 3`, and zeros from `count` on; `from` is a multiple of 4, and `count` where
// `whole`.
template <bool whole>
__device__ float4 read_vector(const float* values, std::int64_t from, std::int64_t count) {
  if (from + vector_values <= count) return *reinterpret_cast<const float4*>(values + from);
  if constexpr (whole) return make_float4(0, 0, 0, 0);
  return make_float4(from < count ? values[from] : 0, from + 1 < count ? values[from + 1] : 0,
                     from + 2 < count ? values[from + 2] : 0, 0);
}

// The warp's vectors lie side by side: what begins `shift` values later, 0 to 3. The last lane gets no more
// than the last 4 - shift values of its own.
__device__ float4 shifted(float4 v, int shift) {
  if (shift == 0) return v;
  const float x = __shfl_down_sync(~0U, v.x, 1), y = __shfl_down_sync(~0U, v.y, 1),
              z = __shfl_down_sync(~0U, v.z, 1);
  if (shift == 1) return make_float4(v.y, v.z, v.w, x);
  return shift == 2 ? make_float4(v.z, v.w, x, y) : make_float4(v.w, x, y, z);
}

// Columns of a tile. Where rows begin anywhere, the last lane's vector is for the lane before.
__host__ __device__ constexpr int tile_columns(bool wide_reads) {
  return wide_reads ? width : width - vector_values;
}

template <bool wide_reads, bool wide_writes>
__global__ void __launch_bounds__(block_threads, wide_reads ? 4 : 3)  // of 32 registers a thread, or 42
    transpose_kernel(const float* __restrict__ values, float* __restrict__ transposed, std::int64_t rows,
                     std::int64_t columns) {
  __shared__ float4 tile[width * column_vectors];
  // Tile after tile down the columns: blocks that run at the same time write neighbouring parts of rows.
  const auto down = static_cast<unsigned>(parts(rows, height));
  constexpr int across = tile_columns(wide_reads);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x % down) * height;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x / down) * across;
  const auto thread = static_cast<int>(threadIdx.x);
  {
    const int g = thread % 32, q = thread / 32;
    const std::int64_t count = rows * columns;
    const std::int64_t begin = (first_row + vector_values * q) * columns + first_column;
    const bool in_row = first_column + vector_values * g < columns + (wide_reads ? 0 : vector_values - 1);
    float4 row_of[vector_values] = {};
#pragma unroll
    for (int k = 0; k < vector_values; ++k) {
      const std::int64_t from = ((begin + k * columns) & -vector_values) + vector_values * g;
      if (in_row) row_of[k] = read_vector<wide_reads>(values, from, count);
    }
    if constexpr (!wide_reads) {
#pragma unroll
      for (int k = 0; k < vector_values; ++k)
        row_of[k] = shifted(row_of[k], static_cast<int>((begin + k * columns) & 3));
    }
    const float4 &a = row_of[0], &b = row_of[1], &c = row_of[2], &d = row_of[3];
    tile[place(vector_values * g, q)] = make_float4(a.x, b.x, c.x, d.x);
    tile[place(vector_values * g + 1, q)] = make_float4(a.y, b.y, c.y, d.y);
    tile[place(vector_values * g + 2, q)] = make_float4(a.z, b.z, c.z, d.z);
    tile[place(vector_values * g + 3, q)] = make_float4(a.w, b.w, c.w, d.w);
  }
  __syncthreads();
  if constexpr (wide_writes) {
    const int q = thread % column_vectors;
    const std::int64_t row = first_row + vector_values * q;
#pragma unroll
    for (int column = thread / column_vectors; column < width; column += block_threads / column_vectors) {
      if (row < rows && column < across && first_column + column < columns)
        *reinterpret_cast<float4*>(transposed + (first_column + column) * rows + row) =
            tile[place(column, q)];
    }
  } else {
    const int k = thread % height;
    const std::int64_t row = first_row + k;
    for (int column = thread / height; column < across; column += block_threads / height) {
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
  lab::launch(kernel, grid_of_tiles(in, height, tile_columns(wide_reads)), dim3(block_threads), 0, stream,
              in.values, out.transposed, in.rows, in.columns);
}

// The block that writes output i.
owner block_of(const problem::parameters& p, std::int64_t i) {
  const int across = tile_columns(p.columns % vector_values == 0);
  return {std::to_string(i / p.rows / across * parts(p.rows, height) + i % p.rows / height), ""};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte accesses, 4 x 4 values in registers",
                                        .launch = launch,
                                        .tile = width * height,
                                        .owner_of = block_of}};

}  // namespace
}  // namespace lab::transpose::vectorized
