// An expected failure: the barrier has moved into the branch, which threads beyond the edge of the image do
// not take. CUDA allows a barrier in a branch only if all threads of the block take the branch.
#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"

namespace lab::shared_tile::divergent_barrier {
namespace {

__global__ void __launch_bounds__(block_threads)
    mirror_kernel(float* __restrict__ image, std::int64_t width, std::int64_t height) {
  __shared__ float values[tile][tile];
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;

  // Beyond the edge of the image as well: a thread inside it may need the value.
  values[threadIdx.y][threadIdx.x] = amplitude(x, y);
  if (x < width && y < height) {
    __syncthreads();
    image[y * width + x] = values[tile - 1 - threadIdx.y][tile - 1 - threadIdx.x];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(mirror_kernel, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}

constexpr failure_pattern expected[] = {{failure_kind::crash, "wait at this barrier"}};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the barrier inside a branch that not all threads take",
     .launch = launch,
     .unsupported = unsupported,
     .tile = block_threads,
     .owner_of = owner_of,
     .traits = {.expected_failure = {.failures = expected,
                                     .hidden_on_gpu =
                                         "since compute capability 7.0 a barrier waits only for threads that "
                                         "have not left the kernel"}}}};

}  // namespace
}  // namespace lab::shared_tile::divergent_barrier
