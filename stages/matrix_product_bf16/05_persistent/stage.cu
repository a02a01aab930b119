// Tiles of 128 x 256 outputs: half as many bytes for each product as with 128 x 64. A block for each
// multiprocessor computes one tile after another, so that the next tiles' copies are on their way while sums
// are stored, by tensor copies, too. Eight rows of tiles are computed together, and find each other's columns
// of B in the L2 cache.
#include "common/multiprocessors.hpp"
#include "stages/matrix_product_bf16/tiles.hpp"

namespace lab::matrix_product_bf16::persistent {
namespace {

constexpr int tile_columns = 256;
constexpr int places = 4;  // 192 KiB
constexpr int consumer_threads = 2 * group_threads;
constexpr int block_threads = consumer_threads + 32;
constexpr int rows_together = 8;
constexpr int shared_bytes =
    places * tile_bytes<tile_columns> + 2 * boxes_of_c * box_of_c_bytes;  // 192 + 32 KiB

__global__ void __launch_bounds__(block_threads, 1)
    product_kernel(const __grid_constant__ lab::tensor_map a, const __grid_constant__ lab::tensor_map b,
                   const __grid_constant__ lab::tensor_map c, std::int64_t m, std::int64_t n,
                   std::int64_t k) {
  auto* const tiles = tensor_shared<unsigned char>();
  __shared__ mbarrier landed[places], consumed[places];
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int s = 0; s < places; ++s) {
      landed[s].initialise(1);
      consumed[s].initialise(consumer_threads / 32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  const std::int64_t down = parts(m, tile_rows), across = parts(n, tile_columns);
  const auto steps = static_cast<int>(parts(k, depth));
  int s = 0;           // the place of a step's tiles, and
  unsigned round = 0;  // how often places have been used before
  const auto next = [&] {
    s = (s + 1) % places;
    round += s == 0 ? 1 : 0;
  };
  if (thread >= consumer_threads) {
    if (thread > consumer_threads) return;
    for (std::int64_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
      const auto [row, column] = position_of<rows_together>(tile, down, across);
      for (int step = 0; step < steps; ++step, next()) {
        if (round > 0) consumed[s].wait(round - 1);
        load_tiles<tile_columns>(tiles + s * tile_bytes<tile_columns>, a, b, row * tile_rows,
                                 column * tile_columns, step * depth, landed[s]);
      }
    }
    return;
  }
  const int group = thread / group_threads;
  for (std::int64_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    const auto [row, column] = position_of<rows_together>(tile, down, across);
    float sum[tile_columns / 2] = {};
    int before = s;
    for (int step = 0; step < steps; ++step, next()) {
      landed[s].wait(round);
      multiply<tile_columns>(sum, tiles + s * tile_bytes<tile_columns>, group);
      wgmma_wait<1>();
      if (thread % 32 == 0 && step > 0) consumed[before].arrive();
      before = s;
    }
    wgmma_wait<0>(sum);
    if (thread % 32 == 0 && steps > 0) consumed[before].arrive();
    copy_out<tile_columns>(c, tiles + places * tile_bytes<tile_columns> + group * boxes_of_c * box_of_c_bytes,
                           row * tile_rows + group * group_rows, column * tile_columns, sum);
  }
  if (thread % group_threads == 0) wait_group_read<0>();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.m == 0 || in.n == 0) return;  // no tensor map is so small
  const auto [a, b] = make_maps(in);
  const std::int64_t blocks =
      std::min<std::int64_t>(multiprocessors(), parts(in.m, tile_rows) * parts(in.n, tile_columns));
  lab::launch(product_kernel, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), shared_bytes, stream,
              a, b, make_map_of_c(in, out), in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "tiles of 128 x 256, one after another",
                                        .launch = launch,
                                        .unsupported = unsupported<tile_rows, tile_columns>,
                                        .tile = tile_rows * tile_columns,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::persistent
