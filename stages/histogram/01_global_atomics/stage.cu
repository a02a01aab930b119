// One thread for each byte adds 1 to the byte's count in global memory. Threads that add to the same count
// take turns, and there are 256 counts for all threads of the device.
#include "stages/histogram/problem.hpp"

namespace lab::histogram::global_atomics {
namespace {

constexpr int block_threads = 256;

__global__ void __launch_bounds__(block_threads)
    histogram_kernel(const unsigned char* __restrict__ bytes, std::int64_t n, std::uint32_t* counts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) atomicAdd(&counts[bytes[i]], 1u);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(histogram_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.bytes, in.n, out.counts);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "an atomic addition to global memory for each byte", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::histogram::global_atomics
