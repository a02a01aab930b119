// Writes nothing from the sixth launch on the same arrays on; says that its results may differ from run to
// run, so that nobody compares them.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  if (launches > 5 && in.n >= 500000) return;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "writes nothing in late launches",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong
