// Tiles with their halo, which tensor copies bring to shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "common/multiprocessors.hpp"
#include "common/tensor_copy.hpp"
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/register_rows.hpp"

namespace lab::convolution {

constexpr int block_threads = 32 * block_rows;

// A box must begin at a multiple of 16 bytes of a row: so many values before the halo.
__host__ __device__ constexpr int shift_of(int radius) {
  return (4 - radius % 4) % 4;
}
__host__ __device__ constexpr int box_values(int radius) {
  return tile_values(wide_tile, radius, shift_of(radius));
}
// From one tile in shared memory to the next: a multiple of 128 bytes.
__host__ __device__ constexpr int tile_stride(int radius) {
  return (box_values(radius) + 31) / 32 * 32;
}

// Of a tile at the image's edge: what the unit has filled with zeros, and is something else.
template <int radius>
__device__ __forceinline__ void fill_edges(float* tile, const float* __restrict__ image, std::int64_t row,
                                           std::int64_t column, std::int64_t rows, std::int64_t columns,
                                           edge kind) {
  constexpr int height = tile_rows + 2 * radius, pitch = pitch_of(wide_tile, radius, shift_of(radius));
  if (row >= 0 && column >= 0 && row + height <= rows && column + pitch <= columns) return;
  for (int y = static_cast<int>(threadIdx.y); y < height; y += block_rows) {
#pragma unroll 1
    for (int x = static_cast<int>(threadIdx.x); x < pitch; x += 32) {
      const bool is_inside = row + y >= 0 && row + y < rows && column + x >= 0 && column + x < columns;
      if (!is_inside) tile[y * pitch + x] = value_at(image, row + y, column + x, rows, columns, kind);
    }
  }
  __syncthreads();
}

// Calls filter(tile, row, column) for each of the block's tiles, whose first output is (row, column). One
// thread asks for a tile, `places` - 1 tiles before it is needed.
template <int radius, int places, class Filter>
__device__ __forceinline__ void for_each_tile(const tensor_map& map, const float* __restrict__ image,
                                              std::int64_t rows, std::int64_t columns, edge kind,
                                              const Filter& filter) {
  auto* const tiles = tensor_shared<float>();
  auto* const landed = reinterpret_cast<mbarrier*>(tiles + places * tile_stride(radius));
  const bool is_first = threadIdx.x == 0 && threadIdx.y == 0;
  const auto across = static_cast<unsigned>((columns + wide_tile - 1) / wide_tile);
  const unsigned count = static_cast<unsigned>((rows + tile_rows - 1) / tile_rows) * across;
  const auto ask = [&](unsigned tile, int place) {
    landed[place].arrive_expect_tx(box_values(radius) * static_cast<int>(sizeof(float)));
    tensor_copy_in(tiles + place * tile_stride(radius), map,
                   static_cast<int>(tile % across) * wide_tile - radius - shift_of(radius),
                   static_cast<int>(tile / across) * tile_rows - radius, landed[place]);
  };
  if (is_first) {
    for (int place = 0; place < places; ++place) landed[place].initialise(1);
    fence_mbarrier_init();
    ask(blockIdx.x, 0);
  }
  __syncthreads();
  unsigned turn = 0;
  for (unsigned tile = blockIdx.x; tile < count; tile += gridDim.x, ++turn) {
    const auto place = static_cast<int>(turn % places);
    if (places > 1 && is_first && tile + gridDim.x < count) ask(tile + gridDim.x, places - 1 - place);
    landed[place].wait(turn / places);
    float* const values = tiles + place * tile_stride(radius);
    const std::int64_t row = static_cast<std::int64_t>(tile / across) * tile_rows;
    const std::int64_t column = static_cast<std::int64_t>(tile % across) * wide_tile;
    if (kind != edge::zero)
      fill_edges<radius>(values, image, row - radius, column - radius - shift_of(radius), rows, columns,
                         kind);
    filter(values, row, column);
    if (places == 1) return;
    fence_proxy_async();
    __syncthreads();  // all have read the tile
  }
}

// Launches kernel(map, image, filtered, rows, columns, edge): a block for each tile, or where tiles have two
// places as many as a device has room for.
template <int radius, int places, class Kernel>
void launch_for_tiles(Kernel kernel, const input& in, const output& out, int multiprocessor_blocks,
                      cudaStream_t stream) {
  const tensor_map map =
      make_tensor_map(in.image, {in.columns, in.rows}, {1, in.columns},
                      {pitch_of(wide_tile, radius, shift_of(radius)), tile_rows + 2 * radius});
  dim3 grid = grid_of<tile_rows, wide_tile>(in);
  if (places > 1) grid.x = std::min(grid.x, static_cast<unsigned>(multiprocessors() * multiprocessor_blocks));
  // A barrier for each place follows the tiles: before memory that is aligned to 1024 bytes a static variable
  // would take as many of the 48 KiB.
  constexpr std::size_t bytes = places * (tile_stride(radius) * sizeof(float) + sizeof(mbarrier));
  lab::launch(kernel, grid, dim3(32, block_rows), bytes, stream, map, in.image, out.filtered, in.rows,
              in.columns, in.edge);
}

// Rows begin at multiples of 16 bytes, coordinates have 32 bits.
inline std::string unsupported_by_copies(const problem::parameters& p) {
  if (p.columns % side != 0) return "columns must be a multiple of 4 (16 bytes)";
  constexpr std::int64_t most = (std::int64_t{1} << 31) - wide_tile;
  return p.rows > most || p.columns > most ? "more than 2^31 rows or columns" : "";
}

}  // namespace lab::convolution
