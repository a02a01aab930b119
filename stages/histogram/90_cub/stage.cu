// The library's solution: cub::DeviceHistogram::HistogramEven with a bin for each value.
#include "stages/histogram/problem.hpp"

#if !LAB_EMULATED
#include <cub/device/device_histogram.cuh>
#endif

namespace lab::histogram::cub_histogram {
namespace {

#if !LAB_EMULATED

void count(void* scratch, std::size_t& bytes, const unsigned char* values, std::uint32_t* counts,
           std::int64_t n, cudaStream_t stream) {
  constexpr int lowest = 0, highest = bins;
  CUDA_CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, values, counts, bins + 1, lowest, highest, n,
                                                 stream));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) {
    CUDA_CHECK(cudaMemsetAsync(out.counts, 0, bins * sizeof(std::uint32_t), stream));
    return;
  }
  count(scratch.data, scratch.bytes, in.bytes, out.counts, in.n, stream);
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  count(nullptr, bytes, nullptr, nullptr, p.n, nullptr);
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
