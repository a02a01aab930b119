// Two tiles of each matrix in shared memory. While the block multiplies one pair, each thread's elements of
// the next pair are on their way into registers, from where they go into the other pair of tiles. One barrier
// a step is enough: nobody reads the tiles that are written.
#include "stages/matrix_product/blocks.hpp"
#include "stages/matrix_product/quads.hpp"

namespace lab::matrix_product::double_buffered {
namespace {

constexpr int tile = 128;
constexpr int depth = 8;     // columns of A's tile, rows of B's
constexpr int per_side = 8;  // outputs of a thread, in either direction
constexpr int threads_per_side = tile / per_side;
constexpr int block_threads = threads_per_side * threads_per_side;
static_assert(block_threads * 4 == tile * depth, "a thread loads four elements of either tile");
constexpr int padding = 4;  // as in 06_vectorized
constexpr int half = tile / 2;

__global__ void __launch_bounds__(block_threads, 2)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ __align__(16) float a_tile[2][depth][tile + padding];
  __shared__ __align__(16) float b_tile[2][depth][tile];
  const auto thread = static_cast<int>(threadIdx.x);
  const position first = block_tile<tile, tile>(n);
  // What the thread loads: four neighbours of a row.
  const int a_row = thread / (depth / 4);
  const int a_depth = thread % (depth / 4) * 4;
  const int b_depth = thread / (tile / 4);
  const int b_column = thread % (tile / 4) * 4;
  const std::int64_t a_length = first.row + a_row < m ? k : 0;
  // The first of its rows, and of its columns.
  const int row = thread / threads_per_side * 4;
  const int column = thread % threads_per_side * 4;

  const float* a_from = a + (first.row + a_row) * k;
  const float* b_from = b + b_depth * n;
  float4 from_a;
  float4 from_b;
  const auto load = [&](std::int64_t begin) {
    from_a = load_four(a_from, begin + a_depth, a_length, k % 4 == 0);
    from_b = load_four(b_from, first.column + b_column, begin + b_depth < k ? n : 0, n % 4 == 0);
    b_from += depth * n;
  };
  const auto store = [&](int to) {
    a_tile[to][a_depth][a_row] = from_a.x;
    a_tile[to][a_depth + 1][a_row] = from_a.y;
    a_tile[to][a_depth + 2][a_row] = from_a.z;
    a_tile[to][a_depth + 3][a_row] = from_a.w;
    *reinterpret_cast<float4*>(&b_tile[to][b_depth][b_column]) = from_b;
  };

  float sum[per_side][per_side] = {};
  load(0);
  store(0);
  __syncthreads();
  int current = 0;
  for (std::int64_t begin = 0; begin < k; begin += depth) {
    const bool has_next = begin + depth < k;
    if (has_next) load(begin + depth);
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      float of_a[per_side];
      float of_b[per_side];
      load_quads(of_a, &a_tile[current][i][row], half);
      load_quads(of_b, &b_tile[current][i][column], half);
      add_products(sum, of_a, of_b);
    }
    current = 1 - current;
    if (has_next) store(current);
    __syncthreads();
  }
  store_squares(c, m, n, first.row + row, first.column + column, half, half, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the next tiles are loaded while these are multiplied",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::double_buffered
