// One thread for each key adds 1 to the key's count in global memory. Threads that add to the same count
// take turns, and of bytes there are 256 counts for all threads of the device.
#include "stages/histogram/problem.hpp"

namespace lab::histogram::global_atomics {
namespace {

constexpr int block_threads = 256;

template <class Key>
__global__ void __launch_bounds__(block_threads)
    histogram_kernel(const Key* __restrict__ keys, std::int64_t n, std::uint32_t* counts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n && keys[i] < word_bins) atomicAdd(&counts[keys[i]], 1u);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const bool are_bytes = in.type == key_type::uint8;
  const auto bins = static_cast<std::size_t>(are_bytes ? byte_bins : word_bins);
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, bins * sizeof(std::uint32_t), stream));
  const dim3 blocks(static_cast<unsigned>(parts(in.n, block_threads)));
  if (are_bytes) {
    lab::launch(histogram_kernel<unsigned char>, blocks, dim3(block_threads), 0, stream, in.bytes(), in.n,
                out.counts);
  } else {
    lab::launch(histogram_kernel<std::uint32_t>, blocks, dim3(block_threads), 0, stream, in.words(), in.n,
                out.counts);
  }
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "an atomic addition to global memory for each key", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::histogram::global_atomics
