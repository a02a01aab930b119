// A warp has a tile of its own, 64 x 64 outputs, and each of its lanes 16 x 8 of them: 6 loads of 16 bytes
// for 128 multiplications. The rows are those of which there are more, since lanes that are neighbours share
// them: what two neighbours both ask for, shared memory delivers once.
#include "stages/matrix_product/blocks.hpp"
#include "stages/matrix_product/quads.hpp"

namespace lab::matrix_product::warp_tiles {
namespace {

constexpr int tile = 128;
constexpr int depth = 8;  // columns of A's tile, rows of B's
constexpr int block_threads = 128;
constexpr int warp_tile = 64;
constexpr int warps_across = tile / warp_tile;
// Of a thread: four squares of 4 x 4 below each other, and two such columns of them.
constexpr int rows = 16;
constexpr int columns = 8;
constexpr int lanes_across = warp_tile / columns;
constexpr int lanes_down = warp_tile / rows;
constexpr int rows_apart = 4 * lanes_down;
constexpr int columns_apart = 4 * lanes_across;
static_assert(lanes_across * lanes_down == 32 && warps_across * warps_across * 32 == block_threads,
              "lanes cover a warp's tile, and warps a block's");
constexpr int loads = tile * depth / 4 / block_threads;  // of either tile by a thread, four elements each
constexpr int a_rows = block_threads / (depth / 4);      // between them
constexpr int b_rows = block_threads / (tile / 4);
constexpr int padding = 4;  // as in 06_vectorized

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
  // The first of its rows, and of its columns.
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int row = warp / warps_across * warp_tile + lane / lanes_across * 4;
  const int column = warp % warps_across * warp_tile + lane % lanes_across * 4;

  const float* a_from = a + (first.row + a_row) * k;
  const float* b_from = b + b_depth * n;
  float4 from_a[loads];
  float4 from_b[loads];
  const auto load = [&](std::int64_t begin) {
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      const bool has_a = first.row + a_row + l * a_rows < m;
      const bool has_b = begin + b_depth + l * b_rows < k;
      from_a[l] = load_four(a_from + l * a_rows * k, begin + a_depth, has_a ? k : 0, k % 4 == 0);
      from_b[l] = load_four(b_from + l * b_rows * n, first.column + b_column, has_b ? n : 0, n % 4 == 0);
    }
    b_from += depth * n;
  };
  const auto store = [&](int to) {
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      a_tile[to][a_depth][a_row + l * a_rows] = from_a[l].x;
      a_tile[to][a_depth + 1][a_row + l * a_rows] = from_a[l].y;
      a_tile[to][a_depth + 2][a_row + l * a_rows] = from_a[l].z;
      a_tile[to][a_depth + 3][a_row + l * a_rows] = from_a[l].w;
      *reinterpret_cast<float4*>(&b_tile[to][b_depth + l * b_rows][b_column]) = from_b[l];
    }
  };

  float sum[rows][columns] = {};
  load(0);
  store(0);
  __syncthreads();
  int current = 0;
  for (std::int64_t begin = 0; begin < k; begin += depth) {
    const bool has_next = begin + depth < k;
    if (has_next) load(begin + depth);
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      float of_a[rows];
      float of_b[columns];
      load_quads(of_a, &a_tile[current][i][row], rows_apart);
      load_quads(of_b, &b_tile[current][i][column], columns_apart);
      add_products(sum, of_a, of_b);
    }
    current = 1 - current;
    if (has_next) store(current);
    __syncthreads();
  }
  store_squares(c, m, n, first.row + row, first.column + column, rows_apart, columns_apart, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a tile for each warp, and 16 x 8 outputs of it for each lane",
     .launch = launch,
     .unsupported = unsupported<tile, tile>,
     .tile = tile * tile,
     .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::warp_tiles
