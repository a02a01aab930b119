// Launches a kernel with a thread for each element; `extra` threads more.
#pragma once

#include "tests/tracks/axpy/problem.hpp"

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
