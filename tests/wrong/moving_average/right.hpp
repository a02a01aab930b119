// The moving average as it should be, from which each wrong kernel departs in one way.
#pragma once

#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::wrong {

inline constexpr int block_threads = 128;

__device__ inline std::int64_t output_index() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

__device__ inline double average(const double* values, std::int64_t i, std::int64_t window) {
  if (i < window - 1) return incomplete;
  double sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j];
  return sum / static_cast<double>(window);
}

using kernel = void (*)(const double*, double*, std::int64_t, std::int64_t);

// One thread for each output, in whole blocks.
inline void launch_over_outputs(kernel code, const input& in, const output& out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(code, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n, in.window);
}

}  // namespace lab::moving_average::wrong
