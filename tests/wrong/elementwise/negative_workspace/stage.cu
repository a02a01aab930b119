// Right, and asks for a number of bytes below 0 where there is nothing to do.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

std::size_t bytes_between(const problem::parameters& p) {
  return static_cast<std::size_t>((p.n - 1) * 8);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a workspace below 0",
                                        .launch = launch,
                                        .workspace_bytes = bytes_between,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
