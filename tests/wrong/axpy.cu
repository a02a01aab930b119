// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/axpy/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::axpy::wrong {
namespace {

// Launches a kernel with a thread for each element; `extra` threads more.

constexpr int block_threads = 128;

template <class Kernel>
void launch_over_elements(Kernel* kernel, const input& in, const output& out, cudaStream_t stream,
                          std::int64_t extra = 0) {
  lab::launch(kernel, dim3(static_cast<unsigned>((in.n + extra + block_threads - 1) / block_threads)),
              dim3(block_threads), 0, stream, in.x, in.y, out.sum, in.n, in.a);
}

__device__ std::int64_t element() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

template <void (*kernel)(const double*, const double*, double*, std::int64_t, double), std::int64_t extra = 0>
void each(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_elements(kernel, in, out, stream, extra);
}

// Leaves the result in y as well, as BLAS does.
__global__ void changes_y(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) const_cast<double*>(y)[i] = sum[i] = a * x[i] + y[i];
}
WRONG(changes_y, failure_kind::input_changed,
      emulated ? ": lab::axpy::wrong::(anonymous namespace)::changes_y: block (0,0,0): thread (0,0,0) writes "
                 "at offset 0 of an allocation of 3208 bytes, which a launch may only read"
               : "changed its input y at index 0",
      {.idea = "leaves the result in y as well", .launch = each<changes_y>, .tile = block_threads});

// Prepares a plan that launches nothing.
namespace plans_nothing {
plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {};
}

WRONG(plans_nothing, failure_kind::crash, "prepare returned a plan without a launch",
      {.idea = "plans nothing", .prepare = prepare});
}  // namespace plans_nothing

// The factor as a whole number: right for those that are.
__global__ void rounds_factor(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = static_cast<double>(static_cast<std::int64_t>(a)) * x[i] + y[i];
}
WRONG(rounds_factor, failure_kind::wrong, "a=-1.5",
      {.idea = "takes the factor for a whole number", .launch = each<rounds_factor>, .tile = block_threads});

// a y + x: right where both inputs are one and the same.
__global__ void swaps_inputs(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = a * y[i] + x[i];
}
WRONG(swaps_inputs, failure_kind::wrong, "wrong at index",
      {.idea = "a y + x", .launch = each<swaps_inputs>, .tile = block_threads});

// Writes one element behind y.
__global__ void writes_behind_y(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t i = element();
  if (i < n) sum[i] = a * x[i] + y[i];
  if (i == n) const_cast<double*>(y)[i] = 0;
}
WRONG(writes_behind_y, failure_kind::out_of_bounds,
      emulated ? "thread (17,0,0) writes at offset 3208 of an allocation of 3208 bytes"
               : "a write to the input y",
      {.idea = "writes behind y", .launch = each<writes_behind_y, 1>, .tile = block_threads});

}  // namespace
}  // namespace lab::axpy::wrong
