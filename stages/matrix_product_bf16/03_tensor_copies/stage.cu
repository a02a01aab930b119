// Two warpgroups multiply tiles where they lie, in shared memory (wgmma), and hold 128 x 128 sums in
// registers. One thread has the tensor memory accelerator (TMA) bring the tiles, swizzled as the matrix units
// read them.
#include "stages/matrix_product_bf16/tiles.hpp"

namespace lab::matrix_product_bf16::tensor_copies {
namespace {

constexpr int tile_columns = 128;
constexpr int block_threads = 2 * group_threads;

__global__ void __launch_bounds__(block_threads)
    product_kernel(const __grid_constant__ lab::tensor_map a, const __grid_constant__ lab::tensor_map b,
                   float* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k) {
  auto* const tiles = tensor_shared<unsigned char>();
  __shared__ mbarrier landed;
  const auto [row, column] = block_tile<tile_rows, tile_columns>(n);
  const int group = static_cast<int>(threadIdx.x) / group_threads;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
  }
  __syncthreads();
  float sum[tile_columns / 2] = {};
  const auto steps = static_cast<int>(parts(k, depth));
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) load_tiles<tile_columns>(tiles, a, b, row, column, step * depth, landed);
    landed.wait(static_cast<unsigned>(step));
    multiply<tile_columns>(sum, tiles, group);
    wgmma_wait<0>(sum);
    __syncthreads();  // all have read the tiles
  }
  store<tile_columns>(c, row + group * group_rows, column, m, n, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.m == 0 || in.n == 0) return;  // no tensor map is so small
  const auto [a, b] = make_maps(in);
  lab::launch(product_kernel, grid_of<tile_rows, tile_columns>(in), dim3(block_threads),
              tile_bytes<tile_columns>, stream, a, b, out.c, in.m, in.n, in.k);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "tensor copies, and warpgroups that multiply from shared memory",
     .launch = launch,
     .unsupported = unsupported<tile_rows, tile_columns>,
     .tile = tile_rows * tile_columns,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::tensor_copies
