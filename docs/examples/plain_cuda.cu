// One kernel in plain CUDA, without the lab: doubles a million float64 values on the GPU and checks each of
// them. It needs nvcc and a GPU, nothing else, or no GPU and the lab's emulator:
//
//     nvcc -std=c++20 -arch=native -o plain_cuda plain_cuda.cu && ./plain_cuda
//     ./lab emulate docs/examples/plain_cuda.cu
//
// Prints "1000000 values doubled" and exits with 0; with 1 after an error of CUDA or a wrong value.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program where a call of CUDA has failed: nearly all of them return a cudaError_t, and an error
// that is not looked at shows up later, at a call that is not to blame.
#define CHECK(call) check((call), #call, __LINE__)

void check(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(error));
  std::exit(1);
}

// Runs on the GPU, once for each thread of the launch. `values` and `doubled` are n values each in device
// memory. The index has 64 bits: a product of two 32-bit numbers would overflow for large n.
__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

int main() {
  constexpr std::int64_t n = 1'000'000;
  constexpr std::size_t bytes = n * sizeof(double);
  std::vector<double> values(n);
  for (std::int64_t i = 0; i < n; ++i) values[i] = 0.5 * static_cast<double>(i);

  // Memory of the device. The host has only its address and cannot read it.
  double* device_values = nullptr;
  double* device_doubled = nullptr;
  CHECK(cudaMalloc(&device_values, bytes));
  CHECK(cudaMalloc(&device_doubled, bytes));
  CHECK(cudaMemcpy(device_values, values.data(), bytes, cudaMemcpyHostToDevice));

  // 128 threads a block, and as many blocks as n needs, rounded up: 7813, whose last one has 64 threads with
  // nothing to do. The launch itself returns at once, without a value; cudaGetLastError says whether it was
  // accepted, and the copy below waits for the kernel and reports what went wrong while it ran.
  constexpr unsigned threads = 128;
  constexpr unsigned blocks = (n + threads - 1) / threads;
  double_kernel<<<blocks, threads>>>(device_values, device_doubled, n);
  CHECK(cudaGetLastError());

  std::vector<double> doubled(n);
  CHECK(cudaMemcpy(doubled.data(), device_doubled, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_values));
  CHECK(cudaFree(device_doubled));

  for (std::int64_t i = 0; i < n; ++i) {
    if (doubled[i] == 2 * values[i]) continue;
    std::fprintf(stderr, "value %lld is %g and not %g\n", static_cast<long long>(i), doubled[i],
                 2 * values[i]);
    return 1;
  }
  std::printf("%lld values doubled\n", static_cast<long long>(n));
}
