// As many blocks as the device runs at once, found out once; a workspace that nobody needs, for the tests.
#include "tests/tracks/axpy/problem.hpp"

namespace lab::axpy {
namespace {

constexpr int block_threads = 128;

__global__ void strided_axpy_kernel(const double* x, const double* y, double* sum, std::int64_t n, double a) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride)
    sum[i] = a * x[i] + y[i];
}

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const auto blocks = static_cast<unsigned>(AXPY_BLOCKS_PER_MULTIPROCESSOR * multiprocessors);
  return {.launch =
              [blocks](const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
                lab::launch(strided_axpy_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.x, in.y,
                            out.sum, in.n, in.a);
              },
          .workspace_bytes = 1024};
}

const registration<problem> registered{
    LAB_PATH, {.idea = "a grid that fills the device", .prepare = prepare, .tile = block_threads}};

}  // namespace
}  // namespace lab::axpy
