// Writes nothing that is right, and does so when it is asked for its bound, which is after the launch.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void scale_kernel(const double* values, double* scaled, std::int64_t n, double factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) scaled[i] = factor * values[i];
}

input last_input;
output last_output;

void scale(double factor, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((last_input.n + block_threads - 1) / block_threads);
  lab::launch(scale_kernel, dim3(blocks), dim3(block_threads), 0, stream, last_input.values,
              last_output.doubled, last_input.n, factor);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  last_input = in;
  last_output = out;
  scale(0, stream);
}

double relative_error(const problem::parameters& /*p*/) {
  if (last_input.values == nullptr) return 0;
  scale(2, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "doubles when it is asked for its bound",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::elementwise::wrong
