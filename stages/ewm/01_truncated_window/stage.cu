// Weights below 2e-9 are left out: an output is a weighted sum of its own value and of the values in the 10
// spans before it. The block copies its tile and a halo of 10 spans into shared memory. Each thread goes
// through its window from the oldest value to the newest.
#include "stages/ewm/operations.hpp"

namespace lab::ewm::truncated_window {
namespace {

constexpr int block_threads = 128;
constexpr double spans = 10;

// At most 2^40, which no block holds.
std::int64_t halo_of(double span) {
  return static_cast<std::int64_t>(std::ceil(std::min(spans * span, 0x1p40)));
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t halo, Operation operation) {
  // tile[k] holds input first - halo + k.
  double* tile = dynamic_shared<double>();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;
  for (std::int64_t k = threadIdx.x; k < block_threads + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[k] = j >= 0 && j < n ? values[j] : static_cast<double>(NAN);
  }
  __syncthreads();

  const std::int64_t i = first + threadIdx.x;
  if (i >= n) return;
  typename Operation::state run = operation.identity();
  // exercise: run
  for (std::int64_t k = threadIdx.x; k <= threadIdx.x + halo; ++k) operation.append(run, tile[k]);
  // end

  // Where values are missing the window is longer, so that it holds as many: from global memory, and rarely.
  const std::int64_t needed = halo + 1 > operation.min_periods ? halo + 1 : operation.min_periods;
  std::int64_t begin = i - halo;
  if (begin > 0 && run.values < needed) {
    for (std::int64_t count = run.values; begin > 0 && count < needed;)
      count += is_present(values[--begin]) ? 1 : 0;
    run = operation.identity();
    for (std::int64_t j = begin; j <= i; ++j) operation.append(run, values[j]);
  }
  averages[i] = operation.finish(run);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  const std::int64_t halo = halo_of(in.span);
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads),
                static_cast<std::size_t>(block_threads + halo) * sizeof(double), stream, in.values,
                out.averages, in.n, halo, operation);
  });
}

std::string unsupported(const problem::parameters& p) {
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::int64_t halo = halo_of(problem::span(p));
  const std::int64_t max_halo = max_bytes / std::int64_t{sizeof(double)} - block_threads;
  if (halo <= max_halo) return "";
  return "10 spans are " + std::to_string(halo) +
         " values before each output: a block has shared memory for at "
         "most " +
         std::to_string(max_halo);
}

// What is left out had a part of decay^(10 spans) of all weight, at most e^-20, and may have the other sign.
// A value of 1e16 is missed when it is cut off.
const registration<problem> registered{LAB_PATH,
                                       {.idea = "weights below 2e-9 are cut off: a window of 10 spans",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.forgets = 4.2e-9}}};

}  // namespace
}  // namespace lab::ewm::truncated_window
