// Compiled to kernels.cubin: nvcc -arch=sm_90 -lineinfo -cubin /src/kernels.cu
#include <cuda_pipeline.h>

template <int tile>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float of_a[tile][tile], of_b[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  float sum = 0;
#pragma unroll 1
  for (int begin = 0; begin < n; begin += tile) {
    of_a[y][x] = a[row * n + begin + x];
    of_b[y][x] = b[(begin + y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += of_a[y][k] * of_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
template __global__ void product<16>(const float*, const float*, float*, int);

__device__ __forceinline__ float twice(const float* x) {
  return 2 * __ldg(x);
}
// Lines of a function that is inlined, and of one of CUDA's headers.
__global__ void inlined(const float* x, double* y) {
  y[threadIdx.x] = twice(x + threadIdx.x) + __ldg(x + threadIdx.x + 256);
}

// Accesses with a condition, two of them with the same one.
__global__ void tree(const float* from, float* to) {
  __shared__ float part[64];
  const unsigned i = threadIdx.x;
  part[i] = from[i];
  __syncthreads();
  if (i < 32) part[i] += part[i + 32];
  __syncthreads();
  if (i < 16) part[i] += part[i + 16];
  __syncthreads();
  to[i] = part[0];
}

// Either memory, bytes, and a copy past the registers.
__global__ void others(unsigned char* y, int which, const float4* from) {
  __shared__ float4 s[32];
  __shared__ unsigned char bytes[32];
  __pipeline_memcpy_async(s + threadIdx.x, from + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  unsigned char* p = which ? bytes : y;
  p[threadIdx.x] = which;
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x ^ 1] + static_cast<unsigned char>(s[31 - threadIdx.x].x);
}
