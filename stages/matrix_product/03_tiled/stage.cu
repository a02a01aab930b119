// A block copies a tile of A and one of B into shared memory, multiplies them there, and goes on to the next
// pair along k. A value that comes from global memory is used by 32 threads.
#include "stages/matrix_product/blocks.hpp"

namespace lab::matrix_product::tiled {
namespace {

constexpr int tile = 32;

__global__ void __launch_bounds__(tile* tile)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const auto x = static_cast<int>(threadIdx.x);
  const auto y = static_cast<int>(threadIdx.y);
  const position first = block_tile<tile, tile>(n);
  const std::int64_t row = first.row + y;
  const std::int64_t column = first.column + x;
  float sum = 0;
  for (std::int64_t begin = 0; begin < k; begin += tile) {
    // Beyond the edges of A and B there are zeros. Both have them: 0 times a NaN would not be 0.
    a_tile[y][x] = row < m && begin + x < k ? a[row * k + begin + x] : 0;
    b_tile[y][x] = begin + y < k && column < n ? b[(begin + y) * n + column] : 0;
    // exercise: multiply
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
    // end
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(tile, tile), 0, stream, in.a, in.b, out.c, in.m,
              in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "32 x 32 tiles of A and B in shared memory",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::tiled
