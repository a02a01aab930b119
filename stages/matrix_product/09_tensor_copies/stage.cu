// The tensor memory accelerator (TMA) moves the tiles, so that the loop holds loads from shared memory and
// multiply-adds, and hardly anything else. The unit does not transpose, and needs rows that begin at
// multiples of 16 bytes. So A is transposed before, into such rows, and B is copied if it has others.
#include <algorithm>

#include "common/tensor_copy.hpp"
#include "stages/matrix_product/blocks.hpp"
#include "stages/matrix_product/quads.hpp"

namespace lab::matrix_product::tensor_copies {
namespace {

constexpr int tile = 128;
constexpr int depth = 32;  // rows of either tile: columns of A, rows of B
constexpr int block_threads = 128;
constexpr int warp_tile = 64;
constexpr int warps_across = tile / warp_tile;
// Of a thread, as in 08_warp_tiles.
constexpr int rows = 16, columns = 8;
constexpr int lanes_across = warp_tile / columns;
constexpr int rows_apart = 4 * (32 / lanes_across);
constexpr int columns_apart = 4 * lanes_across;
constexpr int tile_values = depth * tile;
constexpr int slots = 3;  // of two tiles each: one is read, two are on their way
constexpr int slot_bytes = 2 * tile_values * static_cast<int>(sizeof(float));

__global__ void __launch_bounds__(block_threads, 2)
    product_kernel(const __grid_constant__ lab::tensor_map a_map,
                   const __grid_constant__ lab::tensor_map b_map, float* __restrict__ c, std::int64_t m,
                   std::int64_t n, int k) {
  auto* const shared = tensor_shared<float>();
  __shared__ mbarrier landed[slots];
  const auto thread = static_cast<int>(threadIdx.x);
  const position first = block_tile<tile, tile>(n);
  const int steps = (k + depth - 1) / depth;
  const auto fetch = [&](int step) {
    mbarrier& barrier = landed[step % slots];
    float* const to = shared + step % slots * 2 * tile_values;
    barrier.arrive_expect_tx(slot_bytes);
    tensor_copy_in(to, a_map, static_cast<int>(first.row), step * depth, barrier);
    tensor_copy_in(to + tile_values, b_map, static_cast<int>(first.column), step * depth, barrier);
  };
  if (thread == 0) {
    for (int slot = 0; slot < slots; ++slot) landed[slot].initialise(1);
    fence_mbarrier_init();
    for (int step = 0; step < slots - 1 && step < steps; ++step) fetch(step);
  }
  __syncthreads();

  // The first of its rows, and of its columns.
  const int warp = thread / 32, lane = thread % 32;
  const int row = warp / warps_across * warp_tile + lane / lanes_across * 4;
  const int column = warp % warps_across * warp_tile + lane % lanes_across * 4;
  float sum[rows][columns] = {};
  for (int step = 0; step < steps; ++step) {
    landed[step % slots].wait(static_cast<unsigned>(step / slots));
    __syncthreads();  // all have read the slot before, which is the next one to fill
    if (thread == 0 && step + slots - 1 < steps) fetch(step + slots - 1);
    const float* const a_tile = shared + step % slots * 2 * tile_values + row;
    const float* const b_tile = shared + step % slots * 2 * tile_values + tile_values + column;
#pragma unroll 16  // 2048 multiply-adds are 32 KiB of instructions
    for (int i = 0; i < depth; ++i) {
      float of_a[rows], of_b[columns];
      load_quads(of_a, a_tile + i * tile, rows_apart);
      load_quads(of_b, b_tile + i * tile, columns_apart);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int s = 0; s < columns; ++s) {  // back and forth: the last element of B is used again at once
          const int t = r % 2 == 0 ? s : columns - 1 - s;
          sum[r][t] += of_a[r] * of_b[t];
        }
      }
    }
  }
  store_squares(c, m, n, first.row + row, first.column + column, rows_apart, columns_apart, sum);
}

constexpr int square = 32, square_rows = 8;  // of elements, of threads

// A copy whose rows have `pitch` elements, of the matrix or of its transpose.
template <bool transposed>
__global__ void __launch_bounds__(square* square_rows)
    pack_kernel(const float* __restrict__ from, float* __restrict__ to, std::int64_t height,
                std::int64_t width, std::int64_t pitch) {
  __shared__ float values[square][square + 1];
  const auto [first_row, first_column] = block_tile<square, square>(width);
  const auto x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  for (int r = y; r < square; r += square_rows) {
    if (first_row + r < height && first_column + x < width)
      values[r][x] = from[(first_row + r) * width + first_column + x];
  }
  __syncthreads();
  for (int r = y; r < square; r += square_rows) {
    const std::int64_t row = first_row + (transposed ? x : r), column = first_column + (transposed ? r : x);
    if (row < height && column < width)
      to[transposed ? column * pitch + row : row * pitch + column] = transposed ? values[x][r] : values[r][x];
  }
}

constexpr std::int64_t pitch_of(std::int64_t length) {
  return parts(length, 4) * 4;
}

std::size_t workspace_bytes(const problem::parameters& p) {
  const std::int64_t of_b = p.n % 4 == 0 ? 0 : pitch_of(p.n);
  return static_cast<std::size_t>((pitch_of(p.m) + of_b) * p.k) * sizeof(float);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto [a, b, m, n, k] = in;
  if (m == 0 || n == 0 || k == 0) {  // no tensor map is so small
    CUDA_CHECK(cudaMemsetAsync(out.c, 0, static_cast<std::size_t>(m * n) * sizeof(float), stream));
    return;
  }
  const auto blocks = [](std::int64_t height, std::int64_t width) {
    return dim3(static_cast<unsigned>(parts(height, square) * parts(width, square)));
  };
  const dim3 threads(square, square_rows);
  auto* const packed_a = static_cast<float*>(scratch.data);
  lab::launch(pack_kernel<true>, blocks(m, k), threads, 0, stream, a, packed_a, m, k, pitch_of(m));
  auto* const packed_b = packed_a + pitch_of(m) * k;
  const bool aligned = n % 4 == 0;
  if (!aligned)
    lab::launch(pack_kernel<false>, blocks(k, n), threads, 0, stream, b, packed_b, k, n, pitch_of(n));
  const tensor_map a_map = make_tensor_map(packed_a, {m, k}, {1, pitch_of(m)}, {tile, depth});
  const tensor_map b_map = make_tensor_map(aligned ? b : packed_b, {n, k}, {1, pitch_of(n)}, {tile, depth});
  lab::launch(product_kernel, grid_of<tile, tile>(in), dim3(block_threads), slots * slot_bytes, stream, a_map,
              b_map, out.c, m, n, static_cast<int>(k));
}

// Coordinates have 32 bits, and a grid has 2^31 - 1 blocks.
std::string unsupported_sizes(const problem::parameters& p) {
  if (std::max({p.m, p.n, p.k}) > (std::int64_t{1} << 31) - tile) return "more than 2^31 rows or columns";
  if (p.k > 0 && std::max(p.m, p.n) > (std::int64_t{1} << 40) / p.k)
    return "A or B has more than 2^40 elements";
  return unsupported<tile, tile>(p);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "tensor copies bring the tiles, A is transposed before",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .unsupported = unsupported_sizes,
                                        .tile = tile * tile,
                                        .owner_of = block_of<tile, tile>,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::matrix_product::tensor_copies
