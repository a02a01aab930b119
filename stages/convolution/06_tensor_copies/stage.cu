// The tensor memory accelerator (TMA) reads the tile with its halo: one thread asks for it, and the unit
// computes addresses and fills in zeros beyond the edges. Threads have nothing left but multiply-adds. Where
// the edge is not zero, the blocks there read what the unit has not.
#include "common/tensor_copy.hpp"
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/register_rows.hpp"

namespace lab::convolution::tensor_copies {
namespace {

constexpr int block_threads = 32 * block_rows;

// A box must begin at a multiple of 16 bytes of a row: so many values before the halo.
__host__ __device__ constexpr int shift_of(int radius) {
  return (4 - radius % 4) % 4;
}

template <int radius>
__global__ void __launch_bounds__(block_threads, radius <= 4 ? 3 : 2)
    convolution_kernel(const __grid_constant__ lab::tensor_map map, const float* __restrict__ image,
                       float* __restrict__ filtered, std::int64_t rows, std::int64_t columns, edge kind) {
  constexpr int shift = shift_of(radius), pitch = pitch_of(wide_tile, radius, shift);
  auto* const tile = tensor_shared<float>();
  __shared__ mbarrier landed;
  const position first = block_tile<tile_rows, wide_tile>(columns);
  const std::int64_t row = first.row - radius, column = first.column - radius - shift;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
    landed.arrive_expect_tx(tile_values(wide_tile, radius, shift) * static_cast<int>(sizeof(float)));
    tensor_copy_in(tile, map, static_cast<int>(column), static_cast<int>(row), landed);
  }
  __syncthreads();
  landed.wait(0);
  constexpr int height = tile_rows + 2 * radius;
  if (kind != edge::zero && (row < 0 || column < 0 || row + height > rows || column + pitch > columns)) {
    for (int y = static_cast<int>(threadIdx.y); y < height; y += block_rows) {
#pragma unroll 1
      for (int x = static_cast<int>(threadIdx.x); x < pitch; x += 32) {
        const bool is_inside = row + y >= 0 && row + y < rows && column + x >= 0 && column + x < columns;
        if (!is_inside) tile[y * pitch + x] = value_at(image, row + y, column + x, rows, columns, kind);
      }
    }
    __syncthreads();
  }
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y) * side;
  float sum[side][side] = {};
  filter_rows<radius, shift>(sum, tile + y * pitch + x);
  store_rows(filtered, first.row + y, first.column + x, rows, columns, sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;  // no tensor map is so small
  copy_filter(in, stream);
  with_radius(in.radius, [&](auto radius) {
    const tensor_map map =
        make_tensor_map(in.image, {in.columns, in.rows}, {1, in.columns},
                        {pitch_of(wide_tile, radius, shift_of(radius)), tile_rows + 2 * radius});
    lab::launch(convolution_kernel<radius>, grid_of<tile_rows, wide_tile>(in), dim3(32, block_rows),
                tile_values(wide_tile, radius, shift_of(radius)) * sizeof(float), stream, map, in.image,
                out.filtered, in.rows, in.columns, in.edge);
  });
}

// Rows begin at multiples of 16 bytes, coordinates have 32 bits.
std::string unsupported(const problem::parameters& p) {
  if (p.columns % side != 0) return "columns must be a multiple of 4 (16 bytes)";
  constexpr std::int64_t most = (std::int64_t{1} << 31) - wide_tile;
  if (p.rows > most || p.columns > most) return "more than 2^31 rows or columns";
  return general_alone(p);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "tensor copies read the tiles",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile_rows * wide_tile,
                                        .owner_of = owner_in_tile<tile_rows, wide_tile, side, side>,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::convolution::tensor_copies
