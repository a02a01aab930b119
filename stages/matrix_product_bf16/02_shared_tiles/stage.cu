// A block brings tiles of A and B into shared memory. Its eight warps take fragments out of them, four
// matrices of 8 x 8 with each ldmatrix, and use every fragment of A four times and of B four times
// (mma.sync).
#include "common/matrix_units.hpp"
#include "stages/matrix_product_bf16/blocks.hpp"

namespace lab::matrix_product_bf16::shared_tiles {
namespace {

constexpr int tile = 128;  // rows of A, and columns of B
constexpr int depth = 32;
constexpr int block_threads = 256;
constexpr int warps_across = 4;
constexpr int warp_rows = 64, warp_columns = 32;
static_assert(tile / warp_rows * warps_across * 32 == block_threads && tile / warp_columns == warps_across,
              "warps cover the tile");
constexpr int vector = 8;  // elements in 16 bytes
// Rows of both tiles are so long that eight of them lie in all banks, 16 bytes of each.
constexpr int padding = 8;
constexpr int m_units = warp_rows / 16, n_units = warp_columns / 8;

// 16 bytes of a row-major matrix, zeros beyond its edges.
__device__ __forceinline__ uint4 load(const __nv_bfloat16* __restrict__ from, std::int64_t row,
                                      std::int64_t column, std::int64_t rows, std::int64_t columns) {
  if (row >= rows || column >= columns) return make_uint4(0, 0, 0, 0);
  return *reinterpret_cast<const uint4*>(from + row * columns + column);
}

__global__ void __launch_bounds__(block_threads)
    product_kernel(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                   float* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ __align__(16) __nv_bfloat16 a_tile[tile][depth + padding];
  __shared__ __align__(16) __nv_bfloat16 b_tile[depth][tile + padding];
  const auto [row, column] = block_tile<tile, tile>(n);
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int warp_row = warp / warps_across * warp_rows, warp_column = warp % warps_across * warp_columns;
  float sum[m_units][n_units][4] = {};
  for (std::int64_t begin = 0; begin < k; begin += depth) {
    for (int v = thread; v < tile * depth / vector; v += block_threads) {
      const int a_row = v / (depth / vector), a_column = v % (depth / vector) * vector;
      *reinterpret_cast<uint4*>(&a_tile[a_row][a_column]) = load(a, row + a_row, begin + a_column, m, k);
      const int b_row = v / (tile / vector), b_column = v % (tile / vector) * vector;
      *reinterpret_cast<uint4*>(&b_tile[b_row][b_column]) = load(b, begin + b_row, column + b_column, k, n);
    }
    __syncthreads();
    // exercise: fragments
    for (int i = 0; i < depth; i += 16) {
      unsigned of_a[m_units][4];
#pragma unroll
      for (int r = 0; r < m_units; ++r)
        load_matrix_x4(of_a[r], &a_tile[warp_row + 16 * r + lane % 16][i + lane / 16 * 8]);
#pragma unroll
      for (int s = 0; s < n_units; s += 2) {
        unsigned of_b[4];  // two units side by side, 16 x 8 each
        load_matrix_x4_trans(of_b, &b_tile[i + lane % 16][warp_column + 8 * s + lane / 16 * 8]);
#pragma unroll
        for (int r = 0; r < m_units; ++r) {
          mma_bf16_m16n8k16(sum[r][s], of_a[r], {of_b[0], of_b[1]}, sum[r][s]);
          mma_bf16_m16n8k16(sum[r][s + 1], of_a[r], {of_b[2], of_b[3]}, sum[r][s + 1]);
        }
      }
    }
    // end
    __syncthreads();
  }
  // A lane has two neighbours of a row, and two of the row eight below.
#pragma unroll
  for (int r = 0; r < m_units; ++r) {
#pragma unroll
    for (int s = 0; s < n_units; ++s) {
      const std::int64_t to_column = column + warp_column + 8 * s + lane % 4 * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t to_row = row + warp_row + 16 * r + 8 * half + lane / 4;
        if (to_row < m && to_column < n) {
          *reinterpret_cast<float2*>(c + to_row * n + to_column) =
              make_float2(sum[r][s][2 * half], sum[r][s][2 * half + 1]);
        }
      }
    }
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "fragments out of tiles in shared memory",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .traits = {.minimum_compute_capability = 80}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::shared_tiles
