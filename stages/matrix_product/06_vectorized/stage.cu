// 16 bytes an access: from global memory, where rows begin at multiples of 16 bytes, and from shared memory,
// where A's tile is transposed, so that the 8 elements of its column that a thread needs are neighbours.
#include "stages/matrix_product/blocks.hpp"
#include "stages/matrix_product/quads.hpp"

namespace lab::matrix_product::vectorized {
namespace {

constexpr int tile = 128;
constexpr int depth = 8;     // columns of A's tile, rows of B's
constexpr int per_side = 8;  // outputs of a thread, in either direction
constexpr int threads_per_side = tile / per_side;
constexpr int block_threads = threads_per_side * threads_per_side;
static_assert(block_threads * 4 == tile * depth, "a thread loads four elements of either tile");
// Half a warp stores elements of the rows 0, 1, 2 and 3 of the transposed tile, the other half of 4 to 7:
// with 4 elements more in a row these are 16 banks apart, and a row still begins at a multiple of 16 bytes.
constexpr int padding = 4;
constexpr int half = tile / 2;

__global__ void __launch_bounds__(block_threads, 2)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ __align__(16) float a_tile[depth][tile + padding];
  __shared__ __align__(16) float b_tile[depth][tile];
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

  float sum[per_side][per_side] = {};
  for (std::int64_t begin = 0; begin < k; begin += depth) {
    const float4 from_a = load_four(a + (first.row + a_row) * k, begin + a_depth, a_length, k % 4 == 0);
    a_tile[a_depth][a_row] = from_a.x;
    a_tile[a_depth + 1][a_row] = from_a.y;
    a_tile[a_depth + 2][a_row] = from_a.z;
    a_tile[a_depth + 3][a_row] = from_a.w;
    *reinterpret_cast<float4*>(&b_tile[b_depth][b_column]) = load_four(
        b + (begin + b_depth) * n, first.column + b_column, begin + b_depth < k ? n : 0, n % 4 == 0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      float of_a[per_side];
      float of_b[per_side];
      load_quads(of_a, &a_tile[i][row], half);
      load_quads(of_b, &b_tile[i][column], half);
      add_products(sum, of_a, of_b);
    }
    __syncthreads();
  }
  store_squares(c, m, n, first.row + row, first.column + column, half, half, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte accesses, with A's tile transposed",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::vectorized
