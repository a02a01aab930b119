// a y + x: right where both inputs are one and the same.
#include "tests/wrong/axpy/wrong.hpp"

namespace lab::axpy::wrong {
namespace {

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = a * y[i] + x[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(axpy_kernel, in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a y + x", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy::wrong
