// The library's way, for mean and sum: one device-wide scan, then the difference of two prefix sums a window
// apart. The other operations have no inverse: a minimum cannot remove a value, and a variance from the
// difference of two prefix sums of squares has no correct digit left at n = 1e9.
#if !LAB_EMULATED
#include <cub/device/device_scan.cuh>
#endif

#include "stages/rolling/problem.hpp"

namespace lab::rolling::cub_scan {
namespace {

constexpr int block_threads = 256;

#if !LAB_EMULATED
__global__ void __launch_bounds__(block_threads)
    difference_kernel(const double* __restrict__ prefix, double* __restrict__ results, std::int64_t n,
                      std::int64_t window, std::int64_t min_periods, bool divides) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const double before = i >= window ? prefix[i - window] : 0.0;
  const std::int64_t count = i + 1 < window ? i + 1 : window;
  const double sum = prefix[i] - before;
  results[i] = count < min_periods ? incomplete : divides ? sum / static_cast<double>(count) : sum;
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
  lab::launch(difference_kernel, dim3(blocks), dim3(block_threads), 0, stream, prefix, out.results, in.n,
              in.window, in.min_periods, in.operation == operation::mean);
}
#endif

std::string unsupported(const problem::parameters& p) {
  const auto which = static_cast<operation>(p.operation);
  if (static_cast<missing>(p.missing) == missing::skip)
    return "a scan of sums does not count what is not NaN";
  if (which == operation::mean || which == operation::sum) return "";
  return "a difference of prefix sums gives sums and means alone";
}

// A prefix sum of n values of one size is n / window times the sum of a window, and so is its rounding error.
double relative_error(const problem::parameters& p) {
  constexpr double u = 0x1p-53;
  return std::max(1e-12,
                  32 * u * static_cast<double>(p.n) / static_cast<double>(std::min(p.window, p.n + 1)));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cub::DeviceScan, then the difference of two prefix sums",
                                        .launch = LAB_GPU_ONLY(launch),
                                        .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
                                        .unsupported = unsupported,
                                        .tile = block_threads,
                                        .relative_error = relative_error,
                                        .traits = {.gpu_only = true,
                                                   .library = true,
                                                   .drifts = true,
                                                   .leaks_nonfinite = true,
                                                   .nondeterministic = true}}};

}  // namespace
}  // namespace lab::rolling::cub_scan
