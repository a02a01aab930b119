// Each warp counts in bins of its own, so that the eight warps of a block never add to the same count. The
// copies are added up when the block's bytes are counted.
#include "stages/histogram/problem.hpp"

namespace lab::histogram::copy_a_warp {
namespace {

constexpr int block_threads = 256;
constexpr int warps = block_threads / 32;
constexpr std::int64_t tile_bytes = 64 * block_threads;

static_assert(block_threads == byte_bins, "each thread zeroes a column of bins, and adds it up");

__global__ void __launch_bounds__(block_threads)
    histogram_kernel(const unsigned char* __restrict__ bytes, std::int64_t n, std::uint32_t* counts) {
  __shared__ std::uint32_t warp_counts[warps][byte_bins];  // 8 KiB
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_bytes;
  const std::int64_t end = min(first + tile_bytes, n);
  for (int warp = 0; warp < warps; ++warp) warp_counts[warp][threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t* const own_counts = warp_counts[threadIdx.x / 32];
  for (std::int64_t i = first + threadIdx.x; i < end; i += block_threads)
    atomicAdd(&own_counts[bytes[i]], 1u);
  __syncthreads();
  std::uint32_t sum = 0;
  for (int warp = 0; warp < warps; ++warp) sum += warp_counts[warp][threadIdx.x];
  atomicAdd(&counts[threadIdx.x], sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, byte_bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  const auto blocks = static_cast<unsigned>((in.n + tile_bytes - 1) / tile_bytes);
  lab::launch(histogram_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.bytes(), in.n, out.counts);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a copy of the bins for each warp",
                                        .launch = launch,
                                        .unsupported = bytes_alone,
                                        .tile = tile_bytes}};

}  // namespace
}  // namespace lab::histogram::copy_a_warp
