// Declares that it waits for the device, and lets the host do the work.
#include <vector>

#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  std::vector<double> values(static_cast<std::size_t>(in.n));
  const std::size_t bytes = values.size() * sizeof(double);
  if (bytes == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(values.data(), in.values, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (double& value : values) value *= 2;
  CUDA_CHECK(cudaMemcpyAsync(out.doubled, values.data(), bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

const registration<problem> registered{
    LAB_PATH, {.idea = "the host doubles", .launch = launch, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong
