// One thread for each element of C. threadIdx.x runs over columns, so that neighbouring lanes read
// neighbours of B, write neighbours of C, and share one element of A.
#include "stages/matrix_product/blocks.hpp"

namespace lab::matrix_product::coalesced {
namespace {

constexpr int tile = 32;

__global__ void __launch_bounds__(tile* tile)
    product_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  const position first = block_tile<tile, tile>(n);
  const std::int64_t row = first.row + threadIdx.y;
  const std::int64_t column = first.column + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(tile, tile), 0, stream, in.a, in.b, out.c, in.m,
              in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a thread for each output, lanes along the columns",
                                        .launch = launch,
                                        .unsupported = unsupported<tile, tile>,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>}};

}  // namespace
}  // namespace lab::matrix_product::coalesced
