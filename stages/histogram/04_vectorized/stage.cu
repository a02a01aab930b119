// Each load brings 16 bytes instead of one. A grid that fills the device once goes through all bytes in
// strides, so that a block zeroes its bins and adds them up once for all that it counts.
#include "stages/histogram/byte_vectors.hpp"

namespace lab::histogram::vectorized {
namespace {

constexpr int block_threads = 256;
constexpr int warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 8;  // 2048 threads, all that a multiprocessor keeps

static_assert(block_threads == byte_bins, "each thread zeroes a column of bins, and adds it up");

__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    histogram_kernel(const unsigned char* __restrict__ bytes, std::int64_t n, std::uint32_t* counts) {
  __shared__ std::uint32_t warp_counts[warps][byte_bins];
  for (int warp = 0; warp < warps; ++warp) warp_counts[warp][threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t* const own_counts = warp_counts[threadIdx.x / 32];
  for_own_bytes<block_threads>(bytes, n, [&](std::uint32_t byte) { atomicAdd(&own_counts[byte], 1u); });
  __syncthreads();
  std::uint32_t sum = 0;
  for (int warp = 0; warp < warps; ++warp) sum += warp_counts[warp][threadIdx.x];
  atomicAdd(&counts[threadIdx.x], sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, byte_bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  lab::launch(histogram_kernel, dim3(blocks_for(in.n, block_threads, blocks_per_multiprocessor)),
              dim3(block_threads), 0, stream, in.bytes(), in.n, out.counts);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte loads, and a grid that fills the device once",
                                        .launch = launch,
                                        .unsupported = bytes_alone,
                                        .tile = vector_bytes * block_threads}};

}  // namespace
}  // namespace lab::histogram::vectorized
