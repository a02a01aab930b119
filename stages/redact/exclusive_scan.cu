#include "stages/redact/exclusive_scan.hpp"

#if !LAB_EMULATED
#include <cub/device/device_scan.cuh>
#endif

namespace lab::redact {
namespace {

#if LAB_EMULATED

constexpr int block_threads = 256;

template <class T>
__global__ void one_block_scan_kernel(T* values, std::int64_t count) {
  __shared__ T of_thread[block_threads];
  const std::int64_t share = (count + block_threads - 1) / block_threads;
  const std::int64_t begin = share * threadIdx.x;
  const std::int64_t end = begin + share < count ? begin + share : count;
  T total = 0;
  for (std::int64_t i = begin; i < end; ++i) total += values[i];
  of_thread[threadIdx.x] = total;
  __syncthreads();
  T before = 0;
  for (unsigned t = 0; t < threadIdx.x; ++t) before += of_thread[t];
  for (std::int64_t i = begin; i < end; ++i) {
    const T value = values[i];
    values[i] = before;
    before += value;
  }
}

template <class T>
void scan(T* values, std::int64_t count, memory_resource& /*resource*/, cudaStream_t stream) {
  launch(one_block_scan_kernel<T>, dim3(1), dim3(block_threads), 0, stream, values, count);
}

#else

template <class T>
void scan(T* values, std::int64_t count, memory_resource& resource, cudaStream_t stream) {
  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, values, count, stream));
  const resource_buffer<unsigned char> scratch(resource, bytes, stream);
  CUDA_CHECK(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, values, values, count, stream));
}

#endif

}  // namespace

void exclusive_scan(std::int32_t* values, std::int64_t count, memory_resource& resource,
                    cudaStream_t stream) {
  scan(values, count, resource, stream);
}

void exclusive_scan(std::int64_t* values, std::int64_t count, memory_resource& resource,
                    cudaStream_t stream) {
  scan(values, count, resource, stream);
}

}  // namespace lab::redact
