// With what the results of an expression are compared.
#include "stages/rolling/problem.hpp"

namespace lab::rolling {
namespace {

constexpr int block_threads = 256;

__global__ void expression_kernel(const double* __restrict__ values, double* __restrict__ results,
                                  std::int64_t n, std::int64_t window, window_expression expression) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) results[i] = i < window - 1 ? incomplete : expression(values + i - (window - 1), window);
}

}  // namespace

plan<problem> plain_expression(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {.launch = [](const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
    if (in.n == 0) return;
    const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
    lab::launch(expression_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.results, in.n,
                in.window, *in.expression);
  }};
}

}  // namespace lab::rolling
