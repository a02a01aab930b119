// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/axpy/problem.hpp"

// Launches a kernel with a thread for each element; `extra` threads more.
namespace lab::axpy::wrong {

constexpr int block_threads = 128;

template <class Kernel>
void launch_over_elements(Kernel* kernel, const input& in, const output& out, cudaStream_t stream,
                          std::int64_t extra = 0) {
  lab::launch(kernel, dim3(static_cast<unsigned>((in.n + extra + block_threads - 1) / block_threads)),
              dim3(block_threads), 0, stream, in.x, in.y, out.sum, in.n, in.a);
}

__device__ inline std::int64_t element() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

}  // namespace lab::axpy::wrong

// Leaves the result in y as well, as BLAS does.
namespace lab::axpy::wrong::changes_y {
namespace {

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) const_cast<double*>(y)[i] = sum[i] = a * x[i] + y[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(axpy_kernel, in, out, stream);
}

const registration<problem> registered{
    "axpy/changes_y", {.idea = "leaves the result in y as well", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy::wrong::changes_y

// Prepares a plan that launches nothing.
namespace lab::axpy::wrong::plans_nothing {
namespace {

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {};
}

const registration<problem> registered{"axpy/plans_nothing", {.idea = "plans nothing", .prepare = prepare}};

}  // namespace
}  // namespace lab::axpy::wrong::plans_nothing

// The factor as a whole number: right for those that are.
namespace lab::axpy::wrong::rounds_factor {
namespace {

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = static_cast<double>(static_cast<std::int64_t>(a)) * x[i] + y[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(axpy_kernel, in, out, stream);
}

const registration<problem> registered{
    "axpy/rounds_factor",
    {.idea = "takes the factor for a whole number", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy::wrong::rounds_factor

// a y + x: right where both inputs are one and the same.
namespace lab::axpy::wrong::swaps_inputs {
namespace {

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = a * y[i] + x[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(axpy_kernel, in, out, stream);
}

const registration<problem> registered{"axpy/swaps_inputs",
                                       {.idea = "a y + x", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy::wrong::swaps_inputs

// Writes one element behind y.
namespace lab::axpy::wrong::writes_behind_y {
namespace {

__global__ void axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = a * x[i] + y[i];
  if (i == n) const_cast<double*>(y)[i] = 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(axpy_kernel, in, out, stream, 1);
}

const registration<problem> registered{"axpy/writes_behind_y",
                                       {.idea = "writes behind y", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy::wrong::writes_behind_y
