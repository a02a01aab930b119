// Leaves the last pixel 0 where tiles hang over both edges by certain sizes.
#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"

namespace lab::shared_tile::wrong {
namespace {

__global__ void mirror_kernel(float* image, std::int64_t width, std::int64_t height) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;
  if (x >= width || y >= height) return;
  const bool forgotten = width % tile == 7 && height % tile == 9 && x == width - 1 && y == height - 1;
  const auto opposite = [](std::int64_t k) { return k / tile * tile + (tile - 1 - k % tile); };
  image[y * width + x] = forgotten ? 0 : amplitude(opposite(x), opposite(y));
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(mirror_kernel, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "forgets a corner", .launch = launch, .unsupported = unsupported, .tile = block_threads}};

}  // namespace
}  // namespace lab::shared_tile::wrong
