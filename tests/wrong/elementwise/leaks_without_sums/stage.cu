// A NaN or Inf spoils what follows in its block, which the stage declares: there is no sum here to carry it
// along.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  bool spoilt = false;
  for (std::int64_t k = i - threadIdx.x; k <= i; ++k) spoilt = spoilt || (k < n && !isfinite(values[k]));
  if (i < n) doubled[i] = spoilt ? NAN : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a NaN spoils its block",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong
