// A right stage, which each hostile one is beside what it does to its process.
#pragma once

#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::hostile {

inline constexpr int block_threads = 128;

__global__ inline void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

inline void launch_right(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

}  // namespace lab::elementwise::hostile
