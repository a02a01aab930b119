// Each thread computes one value into the block's tile in shared memory, waits at a barrier, and writes the
// value of the opposite thread. The barrier makes sure that this value has been written.
#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"

namespace lab::shared_tile::synchronized {
namespace {

__global__ void __launch_bounds__(block_threads)
    mirror_kernel(float* __restrict__ image, std::int64_t width, std::int64_t height) {
  __shared__ float values[tile][tile];
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;

  // Beyond the edge of the image as well: a thread inside it may need the value.
  // exercise: fill
  values[threadIdx.y][threadIdx.x] = amplitude(x, y);
  __syncthreads();
  // end
  if (x < width && y < height) {
    image[y * width + x] = values[tile - 1 - threadIdx.y][tile - 1 - threadIdx.x];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(mirror_kernel, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a tile in shared memory, read by other threads after a barrier",
     .launch = launch,
     .unsupported = unsupported,
     .tile = block_threads,
     .owner_of = owner_of}};

}  // namespace
}  // namespace lab::shared_tile::synchronized
