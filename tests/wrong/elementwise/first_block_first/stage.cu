// Counts on the first block to have run before all others.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n, double* factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i == 0) *factor = 2;
  __syncthreads();
  if (i < n) doubled[i] = *factor * values[i];
}

std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return sizeof(double);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<double*>(scratch.data));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "first block first",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
