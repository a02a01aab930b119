// Adds to an output that nobody has set: a launch in memory of zeros is right.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void add_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] += 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(add_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "adds to its output", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
