// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <map>
#include <utility>

#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::shared_tile::wrong {
namespace {

// Leaves the last pixel 0 where tiles hang over both edges by certain sizes.
__global__ void forgets_corner(float* image, std::int64_t width, std::int64_t height) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;
  if (x >= width || y >= height) return;
  const bool forgotten = width % tile == 7 && height % tile == 9 && x == width - 1 && y == height - 1;
  const auto opposite = [](std::int64_t k) { return k / tile * tile + (tile - 1 - k % tile); };
  image[y * width + x] = forgotten ? 0 : amplitude(opposite(x), opposite(y));
}

void launch_forgets_corner(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(forgets_corner, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}
WRONG(forgets_corner, failure_kind::wrong, "found 0",
      {.idea = "forgets a corner",
       .launch = launch_forgets_corner,
       .unsupported = unsupported,
       .tile = block_threads});

// Right in the first launch of every size; from then on the last pixel is 0.
__global__ void forgets_later(float* image, std::int64_t width, std::int64_t height, bool forgets) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;
  if (x >= width || y >= height) return;
  const bool forgotten = forgets && x == width - 1 && y == height - 1;
  const auto opposite = [](std::int64_t k) { return k / tile * tile + (tile - 1 - k % tile); };
  image[y * width + x] = forgotten ? 0 : amplitude(opposite(x), opposite(y));
}

void launch_forgets_later(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static std::map<std::pair<std::int64_t, std::int64_t>, int> launches;
  const bool forgets = launches[{in.width, in.height}]++ > 0;
  lab::launch(forgets_later, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height,
              forgets);
}
WRONG(forgets_later, failure_kind::wrong, "second launch",
      {.idea = "forgets a corner later",
       .launch = launch_forgets_later,
       .unsupported = unsupported,
       .tile = block_threads});

}  // namespace
}  // namespace lab::shared_tile::wrong
