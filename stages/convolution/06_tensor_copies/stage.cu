// The tensor memory accelerator (TMA) reads the tile with its halo: one thread asks for it, and the unit
// computes addresses and fills in zeros beyond the edges. Threads have nothing left but multiply-adds. Where
// the arithmetic takes as long as the memory, blocks stay, and ask for the next tile before they filter one.
#include "stages/convolution/tensor_tiles.hpp"

namespace lab::convolution::tensor_copies {
namespace {

template <int radius>
inline constexpr int places = radius <= 2 ? 1 : 2;  // for tiles
constexpr int multiprocessor_blocks(int radius) {
  return radius <= 2 ? 3 : radius <= 4 ? 4 : 2;
}

template <int radius>
__global__ void __launch_bounds__(block_threads, multiprocessor_blocks(radius))
    convolution_kernel(const __grid_constant__ lab::tensor_map map, const float* __restrict__ image,
                       float* __restrict__ filtered, std::int64_t rows, std::int64_t columns, edge kind) {
  const auto x = static_cast<int>(threadIdx.x) * side, y = static_cast<int>(threadIdx.y) * side;
  for_each_tile<radius, places<radius>>(
      map, image, rows, columns, kind, [&](float* tile, std::int64_t row, std::int64_t column) {
        constexpr int shift = shift_of(radius);
        float sum[side][side] = {};
        filter_rows<radius, shift>(sum, tile + y * pitch_of(wide_tile, radius, shift) + x);
        store_rows(filtered, row + y, column + x, rows, columns, sum);
      });
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;  // no tensor map is so small
  copy_filter(in, stream);
  with_radius(in.radius, [&](auto radius) {
    launch_for_tiles<radius, places<radius>>(convolution_kernel<radius>, in, out,
                                             multiprocessor_blocks(radius), stream);
  });
}

std::string unsupported(const problem::parameters& p) {
  const std::string why = unsupported_by_copies(p);
  return why.empty() ? general_alone(p) : why;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "tensor copies read the tiles",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile_rows * wide_tile,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::convolution::tensor_copies
