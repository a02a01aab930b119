// A grid that just fills the device goes through the array in strides of its own size. Any n works with any
// grid, and blocks are started a few thousand times instead of millions of times.
#include <algorithm>

#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::grid_stride {
namespace {

constexpr int block_threads = 256;
// 2048 threads, the most that a multiprocessor keeps (compute capability 9.0), in blocks of 256.
constexpr int blocks_per_multiprocessor = 8;

__global__ void __launch_bounds__(block_threads)
    double_kernel(const double* __restrict__ values, double* __restrict__ doubled, std::int64_t n) {
  // exercise: walk
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride) {
    doubled[i] = 2 * values[i];
  }
  // end
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const std::int64_t enough = (in.n + block_threads - 1) / block_threads;
  const std::int64_t full = static_cast<std::int64_t>(multiprocessors) * blocks_per_multiprocessor;
  lab::launch(double_kernel, dim3(static_cast<unsigned>(std::min(enough, full))), dim3(block_threads), 0,
              stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a grid that fills the device once, in strides of its own size",
     .launch = launch,
     .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::grid_stride
