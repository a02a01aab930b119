// A warp of its own, the producer, asks for tiles as long as there is room for them: four pairs, 128 KiB. Two
// warpgroups, the consumers, multiply what has landed. Nobody waits for the whole block.
#include "stages/matrix_product_bf16/tiles.hpp"

namespace lab::matrix_product_bf16::producer {
namespace {

constexpr int tile_columns = 128;
constexpr int places = 4;
constexpr int consumer_threads = 2 * group_threads;
constexpr int block_threads = consumer_threads + 32;

__global__ void __launch_bounds__(block_threads, 1)
    product_kernel(const __grid_constant__ lab::tensor_map a, const __grid_constant__ lab::tensor_map b,
                   float* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k) {
  auto* const tiles = tensor_shared<unsigned char>();
  __shared__ mbarrier landed[places], consumed[places];
  const auto [row, column] = block_tile<tile_rows, tile_columns>(n);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int s = 0; s < places; ++s) {
      landed[s].initialise(1);
      consumed[s].initialise(consumer_threads / 32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  const auto steps = static_cast<int>(parts(k, depth));
  if (thread >= consumer_threads) {
    for (int step = 0; thread == consumer_threads && step < steps; ++step) {
      const int s = step % places;
      if (step >= places) consumed[s].wait(static_cast<unsigned>(step / places - 1));
      load_tiles<tile_columns>(tiles + s * tile_bytes<tile_columns>, a, b, row, column, step * depth,
                               landed[s]);
    }
    return;
  }
  const int group = thread / group_threads;
  float sum[tile_columns / 2] = {};
  for (int step = 0; step < steps; ++step) {
    const int s = step % places;
    landed[s].wait(static_cast<unsigned>(step / places));
    multiply<tile_columns>(sum, tiles + s * tile_bytes<tile_columns>, group);
    // The product before is done, and its tiles may be overwritten.
    wgmma_wait<1>();
    if (thread % 32 == 0 && step > 0) consumed[(step - 1) % places].arrive();
  }
  wgmma_wait<0>(sum);
  store<tile_columns>(c, row + group * group_rows, column, m, n, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.m == 0 || in.n == 0) return;  // no tensor map is so small
  const auto [a, b] = make_maps(in);
  lab::launch(product_kernel, grid_of<tile_rows, tile_columns>(in), dim3(block_threads),
              places * tile_bytes<tile_columns>, stream, a, b, out.c, in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a producer, and consumers that wait for tiles alone",
                                        .launch = launch,
                                        .unsupported = unsupported<tile_rows, tile_columns>,
                                        .tile = tile_rows * tile_columns,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::producer
