// A thread keeps the sums of 8 rows of one column in registers. The element of B that it reads is used 8
// times, so that 8 multiplications take 9 loads from shared memory instead of 16.
#include "stages/matrix_product/blocks.hpp"

namespace lab::matrix_product::register_rows {
namespace {

constexpr int tile = 64;
constexpr int depth = 8;        // columns of A's tile, rows of B's
constexpr int thread_rows = 8;  // outputs of a thread
constexpr int block_threads = tile * tile / thread_rows;
static_assert(block_threads == tile * depth, "a thread loads one element of either tile");

__global__ void __launch_bounds__(block_threads)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ float a_tile[tile][depth];
  __shared__ float b_tile[depth][tile];
  const auto thread = static_cast<int>(threadIdx.x);
  const position first = block_tile<tile, tile>(n);
  // What the thread loads.
  const int a_row = thread / depth;
  const int a_depth = thread % depth;
  const int b_depth = thread / tile;
  // What it computes: rows of this column. Its column of B is also the one that it loads.
  const int column = thread % tile;
  const int row = thread / tile * thread_rows;

  float sum[thread_rows] = {};
  for (std::int64_t begin = 0; begin < k; begin += depth) {
    const bool has_a = first.row + a_row < m && begin + a_depth < k;
    const bool has_b = begin + b_depth < k && first.column + column < n;
    a_tile[a_row][a_depth] = has_a ? a[(first.row + a_row) * k + begin + a_depth] : 0;
    b_tile[b_depth][column] = has_b ? b[(begin + b_depth) * n + first.column + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      const float of_b = b_tile[i][column];
#pragma unroll
      for (int r = 0; r < thread_rows; ++r) sum[r] += a_tile[row + r][i] * of_b;
    }
    __syncthreads();
  }
  if (first.column + column >= n) return;
#pragma unroll
  for (int r = 0; r < thread_rows; ++r) {
    if (first.row + row + r < m) c[(first.row + row + r) * n + first.column + column] = sum[r];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "8 outputs of a column in each thread's registers",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::register_rows
