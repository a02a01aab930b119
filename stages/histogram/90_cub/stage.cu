// The library's solution: cub::DeviceHistogram::HistogramEven with a bin for each value.
#include "stages/histogram/problem.hpp"

#if !LAB_EMULATED
#include <cub/device/device_histogram.cuh>
#endif

namespace lab::histogram::cub_histogram {
namespace {

#if !LAB_EMULATED

template <class Key>
void count(void* scratch, std::size_t& bytes, const Key* keys, int bins, std::uint32_t* counts,
           std::int64_t n, cudaStream_t stream) {
  const std::uint32_t lowest = 0, highest = static_cast<std::uint32_t>(bins);
  CUDA_CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, keys, counts, bins + 1, lowest, highest, n,
                                                 stream));
}

void count(void* scratch, std::size_t& bytes, const input& in, std::uint32_t* counts, cudaStream_t stream) {
  if (in.type == key_type::uint8) return count(scratch, bytes, in.bytes(), byte_bins, counts, in.n, stream);
  count(scratch, bytes, in.words(), word_bins, counts, in.n, stream);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) {
    const auto bins = static_cast<std::size_t>(in.type == key_type::uint8 ? byte_bins : word_bins);
    CUDA_CHECK(cudaMemsetAsync(out.counts, 0, bins * sizeof(std::uint32_t), stream));
    return;
  }
  count(scratch.data, scratch.bytes, in, out.counts, stream);
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  count(nullptr, bytes, problem::bind_input(p, nullptr), nullptr, nullptr);
  return bytes;
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cub::DeviceHistogram",
                                        .launch = LAB_GPU_ONLY(launch),
                                        .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
                                        .tile = 4096,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::histogram::cub_histogram
