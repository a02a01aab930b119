// An expected failure: the stage before, without its barrier. A thread may read before the opposite thread
// has written, and then gets what an earlier block has left in the tile.
#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"

namespace lab::shared_tile::missing_barrier {
namespace {

__global__ void __launch_bounds__(block_threads)
    mirror_kernel(float* __restrict__ image, std::int64_t width, std::int64_t height) {
  __shared__ float values[tile][tile];
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;

  // Beyond the edge of the image as well: a thread inside it may need the value.
  values[threadIdx.y][threadIdx.x] = amplitude(x, y);
  if (x < width && y < height) {
    image[y * width + x] = values[tile - 1 - threadIdx.y][tile - 1 - threadIdx.x];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(mirror_kernel, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}

// What an earlier block has left may even be the poison of outputs that nobody wrote.
constexpr failure_pattern expected[] = {
    {failure_kind::wrong}, {failure_kind::unwritten}, {failure_kind::race, "02_missing_barrier/stage.cu"}};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the barrier left out",
     .launch = launch,
     .unsupported = unsupported,
     .tile = block_threads,
     .owner_of = owner_of,
     .traits = {.nondeterministic = true, .expected_failure = {.failures = expected}}}};

}  // namespace
}  // namespace lab::shared_tile::missing_barrier
