// One place stays empty after every 48: threads then begin 49 doubles apart instead of 48. 48 doubles are 96
// banks, so all 32 threads of a warp would read from one pair of the 32 banks, one after the other. An odd
// distance spreads them over all banks.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::padded {
namespace {

constexpr int block_threads = 64;
constexpr int thread_outputs = 48;
constexpr int tile_outputs = block_threads * thread_outputs;  // 3072

// Where value k of the tile lies, with a gap of one double after every thread_outputs.
__host__ __device__ constexpr int padded(int k) {
  // exercise: padding
  return k + k / thread_outputs;
  // end
}

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(padded(tile_outputs + static_cast<int>(window) - 1)) * sizeof(double);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          std::int64_t window) {
  // tile[padded(k)] holds input first - halo + k; the outputs of the block begin at `first`.
  double* tile = dynamic_shared<double>();
  const int halo = static_cast<int>(window) - 1;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  for (int k = static_cast<int>(threadIdx.x); k < tile_outputs + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[padded(k)] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();

  const auto count = static_cast<double>(window);
  double sum = 0;
  bool summed = false;
  for (int output = 0; output < thread_outputs; ++output) {
    const int place = static_cast<int>(threadIdx.x) * thread_outputs + output;
    const std::int64_t i = first + place;
    if (i >= n) return;
    if (i < halo) {
      averages[i] = incomplete;
      continue;
    }
    if (summed) {
      sum += tile[padded(place + halo)] - tile[padded(place - 1)];
    } else {
      for (int k = place; k <= place + halo; ++k) sum += tile[padded(k)];
      summed = true;
    }
    averages[i] = sum / count;
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a gap after every 48 values: no two threads of a warp meet in a bank",
     .launch = launch,
     // A ninth byte a value for the gaps.
     .unsupported =
         [](const problem::parameters& p) { return halo_too_long(p, tile_outputs, sizeof(double) + 1); },
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, thread_outputs>,
     .traits = {.drifts = true, .leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::moving_average::padded
