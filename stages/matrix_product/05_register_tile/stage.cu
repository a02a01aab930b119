// A thread keeps the sums of 8 x 8 outputs in registers. 8 elements of A and 8 of B, once loaded, are 64
// multiplications. Its rows are 16 apart, and so are its columns: lanes that are neighbours read neighbours
// of B, and write neighbours of C.
#include "stages/matrix_product/blocks.hpp"

namespace lab::matrix_product::register_tile {
namespace {

constexpr int tile = 128;
constexpr int depth = 8;     // columns of A's tile, rows of B's
constexpr int per_side = 8;  // outputs of a thread, in either direction
constexpr int threads_per_side = tile / per_side;
constexpr int block_threads = threads_per_side * threads_per_side;
constexpr int loads = tile * depth / block_threads;  // of either tile, by each thread

__global__ void __launch_bounds__(block_threads, 2)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ float a_tile[tile][depth];
  __shared__ float b_tile[depth][tile];
  const auto thread = static_cast<int>(threadIdx.x);
  const position first = block_tile<tile, tile>(n);
  // The first of its rows, and of its columns.
  const int row = thread / threads_per_side;
  const int column = thread % threads_per_side;

  float sum[per_side][per_side] = {};
  for (std::int64_t begin = 0; begin < k; begin += depth) {
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      const int element = thread + load * block_threads;
      const std::int64_t a_row = first.row + element / depth;
      const std::int64_t a_column = begin + element % depth;
      const std::int64_t b_row = begin + element / tile;
      const std::int64_t b_column = first.column + element % tile;
      a_tile[element / depth][element % depth] = a_row < m && a_column < k ? a[a_row * k + a_column] : 0;
      b_tile[element / tile][element % tile] = b_row < k && b_column < n ? b[b_row * n + b_column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      float of_a[per_side];
      float of_b[per_side];
#pragma unroll
      for (int r = 0; r < per_side; ++r) {
        of_a[r] = a_tile[row + r * threads_per_side][i];
        of_b[r] = b_tile[i][column + r * threads_per_side];
      }
#pragma unroll
      for (int r = 0; r < per_side; ++r) {
#pragma unroll
        for (int s = 0; s < per_side; ++s) sum[r][s] += of_a[r] * of_b[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < per_side; ++r) {
    const std::int64_t c_row = first.row + row + r * threads_per_side;
#pragma unroll
    for (int s = 0; s < per_side; ++s) {
      const std::int64_t c_column = first.column + column + s * threads_per_side;
      if (c_row < m && c_column < n) c[c_row * n + c_column] = sum[r][s];
    }
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "8 x 8 outputs in each thread's registers",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::register_tile
