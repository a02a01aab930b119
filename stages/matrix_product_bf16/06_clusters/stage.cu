// Two blocks of a cluster have tiles one below the other, and so the same columns of B: each brings half of
// them to both (multicast). A block reads 32 KiB for a step from the L2 cache instead of 48.
#include "common/cluster.hpp"
#include "common/multiprocessors.hpp"
#include "stages/matrix_product_bf16/tiles.hpp"

namespace lab::matrix_product_bf16::clusters {
namespace {

constexpr int tile_columns = 256;
constexpr int places = 4;  // 192 KiB
constexpr int consumer_threads = 2 * group_threads;
constexpr int block_threads = consumer_threads + 32;
constexpr int cluster_size = 2;
constexpr int rows_together = 4;  // of clusters
constexpr int shared_bytes =
    places * tile_bytes<tile_columns> + 2 * boxes_of_c * box_of_c_bytes;  // 192 + 32 KiB

// By one thread of each block: A's tile, and as many boxes of B's as are its share, to all of them.
__device__ __forceinline__ void load_share(unsigned char* to, const tensor_map& a, const tensor_map& b,
                                           int row, int column, int begin, int rank, mbarrier& landed) {
  constexpr int share = tile_columns / line_values / cluster_size;
  landed.arrive_expect_tx(tile_bytes<tile_columns>);
  tensor_copy_in(to, a, begin, row, landed);
#pragma unroll
  for (int q = rank * share; q < (rank + 1) * share; ++q)
    tensor_copy_in_to_blocks(to + a_bytes + q * box_of_b_bytes, b, column + q * line_values, begin, landed,
                             (1U << cluster_size) - 1);
}

__global__ void __cluster_dims__(cluster_size) __launch_bounds__(block_threads, 1)
    product_kernel(const __grid_constant__ lab::tensor_map a, const __grid_constant__ lab::tensor_map b,
                   const __grid_constant__ lab::tensor_map c, std::int64_t m, std::int64_t n,
                   std::int64_t k) {
  auto* const tiles = tensor_shared<unsigned char>();
  __shared__ mbarrier landed[places], consumed[places];
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int s = 0; s < places; ++s) {
      landed[s].initialise(1);
      consumed[s].initialise(cluster_size * consumer_threads / 32);
    }
    fence_mbarrier_init();
  }
  cluster_sync();
  const auto rank = static_cast<int>(cluster_rank());
  const std::int64_t down = parts(m, cluster_size * tile_rows), across = parts(n, tile_columns);
  const auto steps = static_cast<int>(parts(k, depth));
  int s = 0;           // the place of a step's tiles, and
  unsigned round = 0;  // how often places have been used before
  const auto next = [&] {
    s = (s + 1) % places;
    round += s == 0 ? 1 : 0;
  };
  const std::int64_t first = blockIdx.x / cluster_size, stride = gridDim.x / cluster_size;
  if (thread == consumer_threads) {
    for (std::int64_t tile = first; tile < down * across; tile += stride) {
      const auto [row, column] = position_of<rows_together>(tile, down, across);
      for (int step = 0; step < steps; ++step, next()) {
        if (round > 0) consumed[s].wait(round - 1);
        load_share(tiles + s * tile_bytes<tile_columns>, a, b, (row * cluster_size + rank) * tile_rows,
                   column * tile_columns, step * depth, rank, landed[s]);
      }
    }
  }
  if (thread < consumer_threads) {
    const int group = thread / group_threads, lane = thread % 32;
    for (std::int64_t tile = first; tile < down * across; tile += stride) {
      const auto [row, column] = position_of<rows_together>(tile, down, across);
      float sum[tile_columns / 2] = {};
      int before = s;
      for (int step = 0; step < steps; ++step, next()) {
        landed[s].wait(round);
        multiply<tile_columns>(sum, tiles + s * tile_bytes<tile_columns>, group);
        wgmma_wait<1>();
        // Both blocks' copies write here.
        if (lane < cluster_size && step > 0) arrive_at_block(consumed[before], lane);
        before = s;
      }
      wgmma_wait<0>(sum);
      if (lane < cluster_size && steps > 0) arrive_at_block(consumed[before], lane);
      copy_out<tile_columns>(
          c, tiles + places * tile_bytes<tile_columns> + group * boxes_of_c * box_of_c_bytes,
          (row * cluster_size + rank) * tile_rows + group * group_rows, column * tile_columns, sum);
    }
    if (thread % group_threads == 0) wait_group_read<0>();
  }
  __syncwarp();
  cluster_sync();  // the other block may still arrive here
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.m == 0 || in.n == 0) return;  // no tensor map is so small
  const auto [a, b] = make_maps(in);
  const std::int64_t clusters =
      std::min<std::int64_t>(std::max(1, multiprocessors() / cluster_size),
                             parts(in.m, cluster_size * tile_rows) * parts(in.n, tile_columns));
  lab::launch(product_kernel, dim3(static_cast<unsigned>(clusters * cluster_size)), dim3(block_threads),
              shared_bytes, stream, a, b, make_map_of_c(in, out), in.m, in.n, in.k);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "two blocks share columns of B: multicast",
                                        .launch = launch,
                                        .unsupported = unsupported<tile_rows, tile_columns>,
                                        .tile = tile_rows * tile_columns,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::clusters
