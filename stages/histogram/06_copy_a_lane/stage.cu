// Each lane counts in bins of its own, and those of lane k lie in bank k: no two lanes of a warp meet in a
// bank, whatever the bytes are. The warps of a block share the 32 copies.
#include "stages/histogram/byte_vectors.hpp"

namespace lab::histogram::copy_a_lane {
namespace {

constexpr int block_threads = 512;
constexpr int lanes = 32;
constexpr int blocks_per_multiprocessor = 4;  // 2048 threads, and 4 x 32 of 227 KiB

__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    histogram_kernel(const unsigned char* __restrict__ bytes, std::int64_t n, std::uint32_t* counts) {
  __shared__ std::uint32_t lane_counts[byte_bins * lanes];  // 32 KiB: bin 0 of all lanes, bin 1, ...
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
  for (int k = thread; k < byte_bins * lanes; k += block_threads) lane_counts[k] = 0;
  __syncthreads();
  std::uint32_t* const own_counts = lane_counts + lane;
  for_own_bytes<block_threads>(bytes, n,
                               [&](std::uint32_t byte) { atomicAdd(&own_counts[byte * lanes], 1u); });
  __syncthreads();
  if (thread >= byte_bins) return;
  std::uint32_t sum = 0;
  // Each lane begins with its own copy: 32 banks again.
  for (int k = 0; k < lanes; ++k) sum += lane_counts[thread * lanes + (k + lane) % lanes];
  atomicAdd(&counts[thread], sum);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, byte_bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  lab::launch(histogram_kernel, dim3(blocks_for(in.n, block_threads, blocks_per_multiprocessor)),
              dim3(block_threads), 0, stream, in.bytes(), in.n, out.counts);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a copy of the bins for each lane, in its own bank",
                                        .launch = launch,
                                        .unsupported = bytes_alone,
                                        .tile = vector_bytes * block_threads}};

}  // namespace
}  // namespace lab::histogram::copy_a_lane
