#include "tests/textbook/textbook.hpp"

#include "common/cuda.hpp"
#include "tests/device_array.hpp"

namespace lab::textbook {
namespace {

constexpr int threads = 128;

// Zeros on the device for as long as one example runs.
template <class T>
using zeros = test::device_array<T>;

template <class T>
__global__ void copy_kernel(const T* __restrict__ from, T* __restrict__ to, int n, int stride, int offset) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i * stride + offset];
}

template <class T, int stride, int offset, int n>
void copy() {
  const zeros<T> from(static_cast<std::size_t>(n) * stride + offset), to(n);
  launch(copy_kernel<T>, dim3((n + threads - 1) / threads), dim3(threads), 0, nullptr, from.get(), to.get(),
         n, stride, offset);
  CUDA_CHECK(cudaDeviceSynchronize());
}

template <class T>
__global__ void broadcast_kernel(const T* __restrict__ from, T* __restrict__ to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = from[blockIdx.x];
}

void broadcast() {
  const zeros<float> from(8), to(8 * threads);
  launch(broadcast_kernel<float>, dim3(8), dim3(threads), 0, nullptr, from.get(), to.get());
  CUDA_CHECK(cudaDeviceSynchronize());
}

template <int padding>
__global__ void transpose_kernel(const float* __restrict__ from, float* __restrict__ to, int n) {
  __shared__ float tile[32][32 + padding];
  const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  for (int row = 0; row < 32; row += 8) tile[threadIdx.y + row][threadIdx.x] = from[(y + row) * n + x];
  __syncthreads();
  const int across = static_cast<int>(blockIdx.y * 32 + threadIdx.x),
            down = static_cast<int>(blockIdx.x * 32 + threadIdx.y);
  for (int row = 0; row < 32; row += 8) to[(down + row) * n + across] = tile[threadIdx.x][threadIdx.y + row];
}

template <int padding>
void transpose() {
  constexpr int n = 128;
  const zeros<float> from(n * n), to(n * n);
  launch(transpose_kernel<padding>, dim3(n / 32, n / 32), dim3(32, 8), 0, nullptr, from.get(), to.get(), n);
  CUDA_CHECK(cudaDeviceSynchronize());
}

// Each lane stores and loads back an element `stride` elements from its neighbour's.
template <class T>
__global__ void shared_kernel(T* to, int stride) {
  T* const tile = dynamic_shared<T>();
  T value{};
  tile[threadIdx.x * stride] = value;
  __syncthreads();
  value = tile[(31 - threadIdx.x) * stride];
  to[threadIdx.x] = value;
}

template <class T, int stride>
void shared() {
  const zeros<T> to(32);
  launch(shared_kernel<T>, dim3(1), dim3(32), 32 * stride * sizeof(T), nullptr, to.get(), stride);
  CUDA_CHECK(cudaDeviceSynchronize());
}

template <class T>
__global__ void shared_broadcast_kernel(T* to, int which) {
  T* const tile = dynamic_shared<T>();
  T value{};
  tile[threadIdx.x] = value;
  __syncthreads();
  value = tile[which];
  to[threadIdx.x] = value;
}

template <class T>
void shared_broadcast() {
  const zeros<T> to(32);
  launch(shared_broadcast_kernel<T>, dim3(1), dim3(32), 32 * sizeof(T), nullptr, to.get(), 5);
  CUDA_CHECK(cudaDeviceSynchronize());
}

__global__ void shuffle_kernel(const float* __restrict__ from, float* __restrict__ to) {
  float sum = from[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) to[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

void shuffle() {
  const zeros<float> from(8 * threads), to(8 * threads / 32);
  launch(shuffle_kernel, dim3(8), dim3(threads), 0, nullptr, from.get(), to.get());
  CUDA_CHECK(cudaDeviceSynchronize());
}

// Lane l adds up l + 1 values: the warp goes round 32 times, with one lane fewer each time.
__global__ void triangle_kernel(const float* from, float* to, int rounds) {
  float sum = 0;
  const int own = static_cast<int>(threadIdx.x) % rounds + 1;
#pragma unroll 1
  for (int k = 0; k < own; ++k) sum += from[k * 32 + static_cast<int>(threadIdx.x)];
  to[threadIdx.x] = sum;
}

void triangle() {
  const zeros<float> from(32 * 32), to(32);
  launch(triangle_kernel, dim3(1), dim3(32), 0, nullptr, from.get(), to.get(), 32);
  CUDA_CHECK(cudaDeviceSynchronize());
}

// In each round odd and even lanes take turns in going round the inner loop four times and once.
__global__ void nest_kernel(const float* from, float* to, int rounds) {
  float sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int own = (static_cast<int>(threadIdx.x) + round) % 2 == 1 ? 1 : rounds;
#pragma unroll 1
    for (int k = 0; k < own; ++k) sum += from[round * 1024 + k * 32 + static_cast<int>(threadIdx.x)];
  }
  to[threadIdx.x] = sum;
}

void nest() {
  const zeros<float> from(4 * 1024), to(32);
  launch(nest_kernel, dim3(1), dim3(32), 0, nullptr, from.get(), to.get(), 4);
  CUDA_CHECK(cudaDeviceSynchronize());
}

// Odd and even lanes part and meet again.
__global__ void branch_kernel(const float* from, float* to) {
  const int i = static_cast<int>(threadIdx.x);
  float value = 0;
  if (i % 2 == 0) {
    value = from[i] * 2;
  } else {
    value = from[i + 32] * from[i + 64];
  }
  to[i] = value;
}

void branch() {
  const zeros<float> from(96), to(32);
  launch(branch_kernel, dim3(1), dim3(32), 0, nullptr, from.get(), to.get());
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

const std::vector<example>& examples() {
  static const std::vector<example> all{{"copy, 4 bytes, stride 1", copy<float, 1, 0, 1024>},
                                        {"copy, 4 bytes, stride 2", copy<float, 2, 0, 1024>},
                                        {"copy, 4 bytes, stride 32", copy<float, 32, 0, 1024>},
                                        {"copy, 8 bytes, stride 1", copy<double, 1, 0, 1024>},
                                        {"copy, 8 bytes, stride 2", copy<double, 2, 0, 1024>},
                                        {"copy, 8 bytes, stride 32", copy<double, 32, 0, 1024>},
                                        {"copy, 16 bytes, stride 1", copy<float4, 1, 0, 1024>},
                                        {"copy, 16 bytes, stride 2", copy<float4, 2, 0, 1024>},
                                        {"copy, 16 bytes, stride 32", copy<float4, 32, 0, 1024>},
                                        {"copy, 4 bytes, base misaligned by 4", copy<float, 1, 1, 1024>},
                                        {"copy, 8 bytes, base misaligned by 8", copy<double, 1, 1, 1024>},
                                        {"copy, 4 bytes, the last warp partial", copy<float, 1, 0, 1000>},
                                        {"broadcast from global memory", broadcast},
                                        {"transpose, unpadded tile", transpose<0>},
                                        {"transpose, padded tile", transpose<1>},
                                        {"shared memory, 4 bytes, stride 1", shared<float, 1>},
                                        {"shared memory, 4 bytes, stride 2", shared<float, 2>},
                                        {"shared memory, 4 bytes, stride 32", shared<float, 32>},
                                        {"shared memory, 8 bytes, stride 1", shared<double, 1>},
                                        {"shared memory, 8 bytes, stride 2", shared<double, 2>},
                                        {"shared memory, 16 bytes, stride 1", shared<float4, 1>},
                                        {"shared memory, 16 bytes, stride 2", shared<float4, 2>},
                                        {"shared memory, 4 bytes, broadcast", shared_broadcast<float>},
                                        {"shared memory, 8 bytes, broadcast", shared_broadcast<double>},
                                        {"shared memory, 16 bytes, broadcast", shared_broadcast<float4>},
                                        {"sum by shuffles", shuffle},
                                        {"loop, lane l goes round l + 1 times", triangle},
                                        {"nested loops, odd and even lanes differ", nest},
                                        {"branch, odd and even lanes part", branch}};
  return all;
}

}  // namespace lab::textbook
