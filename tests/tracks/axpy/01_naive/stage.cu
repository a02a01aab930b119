// One thread for each element.
#include "tests/tracks/axpy/problem.hpp"

namespace lab::axpy {
namespace {

constexpr int block_threads = 128;

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) sum[i] = a * x[i] + y[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(axpy_kernel, dim3(static_cast<unsigned>((in.n + block_threads - 1) / block_threads)),
              dim3(block_threads), 0, stream, in.x, in.y, out.sum, in.n, in.a);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "one thread per element", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy
