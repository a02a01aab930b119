// Each block counts 16 384 bytes in shared memory, where threads of other blocks are not in the way, and adds
// its 256 counts to those in global memory at the end: one global atomic for 64 bytes.
#include "stages/histogram/problem.hpp"

namespace lab::histogram::shared_bins {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t tile_bytes = 64 * block_threads;

static_assert(block_threads == byte_bins, "each thread zeroes one bin, and adds it to the result");

__global__ void __launch_bounds__(block_threads)
    histogram_kernel(const unsigned char* __restrict__ bytes, std::int64_t n, std::uint32_t* counts) {
  __shared__ std::uint32_t block_counts[byte_bins];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_bytes;
  const std::int64_t end = min(first + tile_bytes, n);
  // exercise: count
  block_counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = first + threadIdx.x; i < end; i += block_threads)
    atomicAdd(&block_counts[bytes[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
  // end
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, byte_bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  const auto blocks = static_cast<unsigned>((in.n + tile_bytes - 1) / tile_bytes);
  lab::launch(histogram_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.bytes(), in.n, out.counts);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the bins of a block in shared memory",
                                        .launch = launch,
                                        .unsupported = bytes_alone,
                                        .tile = tile_bytes}};

}  // namespace
}  // namespace lab::histogram::shared_bins
