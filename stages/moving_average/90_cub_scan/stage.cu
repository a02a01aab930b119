// The library's way: one device-wide scan, then the difference of two prefix sums a window apart. The prefix
// sums are written once and read twice by two kernels: 40 bytes for each output, not 16. They grow with n,
// and so does the rounding error of every difference.
#if !LAB_EMULATED
#include <cub/device/device_scan.cuh>
#endif

#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::cub_scan {
namespace {

constexpr int block_threads = 256;

#if !LAB_EMULATED
__global__ void __launch_bounds__(block_threads)
    difference_kernel(const double* __restrict__ prefix, double* __restrict__ averages, std::int64_t n,
                      std::int64_t window) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const double before = i >= window ? prefix[i - window] : 0.0;
  averages[i] = i < window - 1 ? incomplete : (prefix[i] - before) / static_cast<double>(window);
}

// The prefix sums, to a multiple of 256 bytes, and what the scan asks for.
std::size_t prefix_bytes(std::int64_t n) {
  return (static_cast<std::size_t>(n) * sizeof(double) + 255) / 256 * 256;
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, static_cast<const double*>(nullptr),
                                           static_cast<double*>(nullptr), p.n));
  return prefix_bytes(p.n) + bytes;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  auto* prefix = static_cast<double*>(scratch.data);
  std::size_t bytes = scratch.bytes - prefix_bytes(in.n);
  CUDA_CHECK(cub::DeviceScan::InclusiveSum(static_cast<char*>(scratch.data) + prefix_bytes(in.n), bytes,
                                           in.values, prefix, in.n, stream));
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(difference_kernel, dim3(blocks), dim3(block_threads), 0, stream, prefix, out.averages, in.n,
              in.window);
}
#endif

// A prefix sum of n values of one size is n / window times the sum of a window, and so is its rounding error.
double relative_error(const problem::parameters& p) {
  constexpr double u = 0x1p-53;
  return std::max(1e-12, 32 * u * static_cast<double>(p.n) / static_cast<double>(p.window));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cub::DeviceScan, then the difference of two prefix sums",
                                        .launch = LAB_GPU_ONLY(launch),
                                        .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
                                        .tile = block_threads,
                                        .relative_error = relative_error,
                                        .traits = {.gpu_only = true,
                                                   .library = true,
                                                   .drifts = true,
                                                   .leaks_nonfinite = true,
                                                   .nondeterministic = true}}};

}  // namespace
}  // namespace lab::moving_average::cub_scan
