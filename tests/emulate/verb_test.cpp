// `lab emulate` as a person calls it: programs are compiled and run. Few, because each costs seconds.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/emulate/compile.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::test::emulate;
using lab::test::expect;
using lab::test::outcome;
using lab::test::put;
using lab::test::strings;
using lab::test::temporary_directory;

constexpr const char* many_things = R"cuda(
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_fp16.h>
#include "kernels.cuh"
namespace cg = cooperative_groups;
#define LAUNCH(kernel, ...) kernel<<<2, 32>>>(__VA_ARGS__)
__constant__ float table[4];
template <class T, int n> __global__ void scale(T* a, int count, const float* absent = nullptr) {
  __shared__ T tile[n];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  cg::this_thread_block().sync();
  if (i < count && absent == nullptr) a[i] = tile[n - 1 - threadIdx.x] * table[1];
}
template <class T> __global__ void sum(const T* a, T* result, T* absent) {
  extern __shared__ T words[];
  words[threadIdx.x] = a[threadIdx.x];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const T all = cg::reduce(warp, words[threadIdx.x], cg::plus<T>());
  if (warp.thread_rank() == 0 && !absent) atomicAdd(result, all);
}
__global__ void by_reference(float& value, const int& more) { if (threadIdx.x == 0) value += more; }
__global__ void old_style(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = threadIdx.x; s[threadIdx.x + 32] = 1;
  __syncthreads();
  s[threadIdx.x] += s[threadIdx.x + 16]; s[threadIdx.x] += s[threadIdx.x + 8];
  if (threadIdx.x == 0) *out = s[0];
}
struct owner { float* memory; owner() { cudaMalloc(&memory, 4); } ~owner() { cudaFree(memory); } };
__global__ void with_owner(owner it, float* out) { *it.memory = 3; *out = *it.memory; }
int main(int argc, char** argv) {
  float host[64] = {0, 2, 0, 0};
  cudaMemcpyToSymbol(table, host, sizeof table);
  for (float& value : host) value = 1;
  float *a, *result; int* whole;
  cudaMalloc((void**)&a, sizeof host); cudaMallocManaged(&result, 4); cudaMallocManaged(&whole, 4);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  scale<float, 32> <<<dim3(2), 32>>> (a, 64);
  sum<<<1, 32, 128, 0>>>(a, result, (float*)0); sum<float><<<1, 32, 128>>>(a, result, NULL);
  by_reference<<<1, 4>>>(*result, 5);
  LAUNCH(halve, result, 64.0);
  old_style<<<1, 32>>>(whole);
  owner mine; float* three; cudaMallocManaged(&three, 4); with_owner<<<2, 1>>>(mine, three);
  void* arguments[] = {&result, host}; cudaLaunchKernel((void*)halve, dim3(1), dim3(1), arguments, 0, 0);
  cudaDeviceSynchronize();
  printf("%s %g %d %g %s %g\n", cudaGetErrorString(cudaGetLastError()), *result, *whole, *three, argv[argc - 1],
         static_cast<float>(__half(0.1f)));
  return 7;
}
)cuda";

// Libraries, textures and graphs in one program, since each costs the compiler seconds.
constexpr const char* libraries_and_graphs = R"cuda(
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
namespace cg = cooperative_groups;
texture<int, 1> table;
__global__ void add(int* a, int by) { a[threadIdx.x] += by; }
__global__ void sums(const int* a, int* out) {
  using block_sum = cub::BlockReduce<int, 64>;
  using block_scan = cub::BlockScan<int, 64>;
  __shared__ typename block_sum::TempStorage room;
  __shared__ typename block_scan::TempStorage more;
  __shared__ cg::block_tile_memory<64> exchange;
  const int mine = a[threadIdx.x], all = block_sum(room).Sum(mine);
  int before = 0;
  block_scan(more).ExclusiveSum(mine, before);
  auto block = cg::this_thread_block(exchange);
  const int again = cg::reduce(cg::tiled_partition<64>(block), mine, cg::plus<int>());
  int old = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) old += __shfl_down(old, d);
  if (threadIdx.x == 0) { out[0] = all; out[1] = again; out[2] = old; }
  if (threadIdx.x == 63) out[3] = before;
}
__global__ void fetch(cudaTextureObject_t image, float* out) {
  cuda::std::array<float, 1> value{tex2D<float>(image, 1.0f, 1.5f)};
  out[0] = value[0] + tex1Dfetch(table, 2) + tex2D<float>(image, -5.0f, 0.5f);
}
int main() {
  thrust::host_vector<int> numbers(64);
  thrust::sequence(numbers.begin(), numbers.end(), 63, -1);
  thrust::device_vector<int> sorted = numbers;
  thrust::sort(sorted.begin(), sorted.end());
  add<<<1, 64>>>(thrust::raw_pointer_cast(sorted.data()), 1);
  int* out; cudaMallocManaged(&out, 64);
  sums<<<1, 64>>>(thrust::raw_pointer_cast(&sorted[0]), out);
  cudaDeviceSynchronize();
  printf("thrust %d %d, cub %d %d %d %d, ", (int)sorted[2], thrust::reduce(sorted.begin(), sorted.end()), out[0],
         out[1], out[2], out[3]);

  float texels[4] = {1, 2, 3, 4};
  cudaArray_t array; cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, 2, 2);
  cudaMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {}; resource.resType = cudaResourceTypeArray; resource.res.array.array = array;
  cudaTextureDesc how = {}; how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t image; cudaCreateTextureObject(&image, &resource, &how, nullptr);
  cudaBindTexture(nullptr, table, out, 16);
  float* texel; cudaMallocManaged(&texel, 4);
  fetch<<<1, 1>>>(image, texel);
  cudaDeviceSynchronize();
  printf("texture %g, ", *texel);

  int* a = thrust::raw_pointer_cast(sorted.data()), seen = 0, by = 10;
  cudaStream_t stream; cudaStreamCreate(&stream);
  cudaGraph_t graph; cudaGraphExec_t work; cudaGraphNode_t node;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 64, 0, stream>>>(a, by);
  cudaMemcpyAsync(&seen, a, 4, cudaMemcpyDeviceToHost, stream);
  cudaStreamEndCapture(stream, &graph);
  void* arguments[] = {&a, &by};
  cudaKernelNodeParams params = {}; params.func = (void*)add; params.gridDim = dim3(1);
  params.blockDim = dim3(64); params.kernelParams = arguments;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  by = 1000;
  cudaGraphInstantiate(&work, graph, nullptr, nullptr, 0);
  const int before = seen;
  cudaGraphLaunch(work, stream); cudaGraphLaunch(work, stream);
  printf("graph %d %d %s\n", before, seen, cudaGetErrorString(cudaGetLastError()));
#ifdef WRONG
  cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);
  return cudaGetLastError() == cudaErrorNotSupported && cudaGraphLaunch(nullptr, stream) == cudaErrorInvalidValue
      ? *thrust::raw_pointer_cast(sorted.data()) : 3;
#endif
}
)cuda";

// What libraries, PTX and old habits give. The transform of a constant is its sum at frequency 0.
constexpr const char* more_libraries = R"cuda(
#include <cub/cub.cuh>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <cstdio>
#include <thread>
__global__ void by_hand(unsigned* out, const float4* in) {
  const unsigned t = threadIdx.x, a = 0xf0001234u + t, b = 0x20000000u * t + 77;
  unsigned lane, low, high, x, p, old, shared;
  unsigned long long wide;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
  bool right = lane == t && (((unsigned long long)high << 32) | low) == (unsigned long long)a + b;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(a), "r"(b), "l"(5ull));
  right = right && wide == (unsigned long long)a * b + 5;
  asm("bfe.s32 %0, %1, 4, 8;" : "=r"(x) : "r"(0x0a50u));
  asm("{ .reg .pred p; setp.gt.s32 p, %1, -3; selp.b32 %0, 11, 12, p; @!p mov.u32 %0, 13; }" : "=r"(p) : "r"(t - 4));
  right = right && (int)x == -91 && p == ((int)t - 4 > -3 ? 11 : 13);
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(x) : "r"(a), "r"(b), "r"(7));
  right = right && x == (a ^ b ^ 7);
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(x) : "r"(0x11112222), "r"(0x33334444));
  asm("bfind.u32 %0, %1;" : "=r"(p) : "r"(1u << t));
  right = right && x == 0x44442222 && p == t;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(x) : "r"(0xf0f0u), "r"(5u), "r"((int)t - 1));
  right = right && x == (t < 3 ? 5 : t < 5 ? t + 3 : t < 9 ? t + 7 : 0xffffffffu);
  asm("{ .reg .b32 h; cvt.rn.f16x2.f32 h, %2, %3; fma.rn.f16x2 %0, h, h, h; cvt.rn.bf16x2.f32 h, %2, %3; neg.bf16x2 %1, h; }"
      : "=r"(x), "=r"(p) : "f"(1.5f), "f"(0.5f));
  right = right && x == 0x43803a00 && p == 0xbfc0bf00;
  unsigned short once;  // 3 * 0.33349609375 lies between two numbers, and a little more is above
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(once) : "h"((unsigned short)0x4200), "h"((unsigned short)0x3556), "h"((unsigned short)1));
  right = right && once == 0x3c01;
  float4 v; float f = 2.5f;
  asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4+16];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(in));
  asm("fma.rn.f32 %0, %1, %0, 0f3F800000;" : "+f"(f) : "f"(v.z));
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(x) : "f"(f));
  right = right && f == 2.5f * 7 + 1 && x == 18;
  __shared__ unsigned words[32];
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(shared) : "l"(&words[t]));
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(shared), "r"(t * t) : "memory");
  __syncwarp();
  right = right && words[31 - t] == (31 - t) * (31 - t);
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 1, 0, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(x), "=r"(old) : "r"(t));
  right = right && x == (t == 0 ? 0 : t - 1) && old == (t != 0);
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(t & 3));
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(p), "=r"(old) : "r"(t / 32));
  right = right && x == 0x11111111u << (t & 3) && p == 0xffffffffu && old == 1;
  asm volatile("match.all.sync.b32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(t));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(p) : "f"(-1.00048828125f));
  right = right && x == 0 && p == 0xbf802000u;
  out[t] = right; out[32] = 1;
}
__global__ void leaves_early(int* out) {
  if (threadIdx.x >= 24) return;
  __syncthreads();
  if (threadIdx.x == 0) *out = 1;
}
__global__ void scan(int* out) {
  __shared__ volatile int s[96];
  const int t = threadIdx.x, i = t + 32;
  s[t] = 0; s[i] = t;
  s[i] += s[i - 1]; s[i] += s[i - 2]; s[i] += s[i - 4]; s[i] += s[i - 8]; s[i] += s[i - 16];
  out[t] = s[i];
}
__global__ void turned(int* out) {
  using Exchange = cub::BlockExchange<int, 32, 2>;
  __shared__ typename Exchange::TempStorage storage;
  int items[2] = {2 * (int)threadIdx.x, 2 * (int)threadIdx.x + 1};
  Exchange(storage).BlockedToStriped(items);
  out[threadIdx.x] = items[1];
}
texture<float, 1, cudaReadModeElementType> old;
__global__ void fetch(float* out) { *out = tex1Dfetch(old, 3); }
int main() {
  unsigned* u; int* n; float* f; float4* in;
  cudaMallocManaged(&u, 33 * 4); cudaMallocManaged(&n, 128); cudaMallocManaged(&f, 64); cudaMallocManaged(&in, 32);
  in[1] = make_float4(5, 6, 7, 8);
  by_hand<<<1, 32>>>(u, in);
  int right = cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < 33; ++i) right += u[i];
  n[1] = 1; n[31] = 496;
#ifndef OBSERVED
  scan<<<1, 32>>>(n);
#endif
  cudaDeviceSynchronize();
  printf("ptx %d, scan %d %d, ", right, n[1], n[31]);
  turned<<<1, 32>>>(n);
  leaves_early<<<1, 32>>>(n + 5);
  f[3] = 4.5f;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaBindTexture(NULL, &old, f, &format, 64);
  fetch<<<1, 1>>>(f + 8); cudaDeviceSynchronize();
  printf("exchange %d %d, texture %g, half %g, ", n[3], n[5], f[8], (float)(-__half2{2.0f, 3.0f}).y);
  // Of a constant the transform is its sum at frequency 0; 67 is a prime of its own algorithm.
  double worst = 0;
  for (int length : {1, 12, 67, 134}) {
    cufftHandle plan; cufftDoubleComplex *data;
    cudaMallocManaged(&data, length * sizeof *data);
    for (int i = 0; i < length; ++i) data[i] = cuCmul(make_cuDoubleComplex(0, 1), make_cuDoubleComplex(0, -1));
    right = cufftPlan1d(&plan, length, CUFFT_Z2Z, 1) + cufftExecZ2Z(plan, data, data, CUFFT_FORWARD);
    for (int i = 0; i < length; ++i)
      worst = fmax(worst, cuCabs(cuCsub(data[i], make_cuDoubleComplex(i == 0 ? length : 0, 0))));
    cufftDestroy(plan);
  }
  float* row; cufftHandle real, back; cudaMallocManaged(&row, 2 * 8 * 4);
  for (int i = 0; i < 12; ++i) row[i / 6 * 8 + i % 6] = i * i;
  cufftPlan2d(&real, 2, 6, CUFFT_R2C); cufftPlan2d(&back, 2, 6, CUFFT_C2R);
  cufftExecR2C(real, row, (cufftComplex*)row);
  const float sum = row[0];
  cufftExecC2R(back, (cufftComplex*)row, row);
  printf("fft %d %d %g %g, ", right, worst < 1e-9, sum, row[8 + 5] / 12);
  printf("refused %d %d, ", cufftExecC2C(real, nullptr, nullptr, 1), cufftPlan1d(&back, 0, CUFFT_C2C, 1));
  // Each host thread's own code runs beside the others' kernels.
  auto rounds = [] {
    std::thread others[3];
    for (std::thread& one : others) one = std::thread([] {
      int host[32], *device; cudaMalloc(&device, sizeof host);
      for (int round = 0; round < 20; ++round) {
        turned<<<1, 32>>>(device);
        cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
        if (host[3] != 35) printf("wrong ");
      }
    });
    for (std::thread& one : others) one.join();
  };
  rounds();
  int* fresh; int first; cudaMalloc(&fresh, 4); cudaMemcpy(&first, fresh, 4, cudaMemcpyDeviceToHost);
  printf("fresh %d\n", first == 0);
  fflush(stdout);
#ifdef DIES
  scan<<<1, 32>>>((int*)8); cudaDeviceSynchronize();
  *(volatile int*)0 = 1;
#endif
  return 43;
}
)cuda";

// Kernels whose outcome another launch does not tell, though it looks much like theirs: they turn signs, use
// memory of the heap, and print.
constexpr const char* never_the_same = R"cuda(
#include <cstdarg>
#include <cstdio>
#include <new>
__device__ float takes_long(int rounds) {
  float v = 1;
  for (int k = 0; k < rounds; ++k) v = v * 0.5f + k;
  return v;
}
__global__ void flip(float* x, int rounds) {
  if (takes_long(rounds) > 0) { x[1] = -x[1]; x[16] = -x[16]; x[17] = -x[17]; }
}
__device__ void say(const char* form, ...) {
  va_list values;
  va_start(values, form);
  vprintf(form, values);
  va_end(values);
}
__global__ void speak(int rounds) { if (takes_long(rounds) > 0) say("said %d\n", 1); }
struct alignas(64) wide { int value; };
__device__ wide* kept;
__global__ void make(int rounds) { if (takes_long(rounds) > 0) kept = new (std::nothrow) wide{0}; }
__global__ void bump(int* out, int rounds) { if (takes_long(rounds) > 0) *out = ++kept->value; }
int main() {
  constexpr int rounds = 2000000;
  float h[64], *x;
  int r, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  for (int t = 0; t < 6; ++t) {
    flip<<<1, 1>>>(x, rounds);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g ", h[1]);
  }
  printf("turned\n");
  for (int t = 0; t < 4; ++t) { speak<<<1, 1>>>(rounds); cudaDeviceSynchronize(); }
  make<<<1, 1>>>(rounds);
  for (int t = 0; t < 5; ++t) {
    cudaMemset(out, 0, sizeof r);
    bump<<<1, 1>>>(out, rounds);
    cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
    printf("%d ", r);
  }
  printf("counted up\n");
}
)cuda";

// Kernels that a program launches again and again, as one that measures does. Each takes some milliseconds.
constexpr const char* launched_again = R"cuda(
#include <cstdio>
constexpr int n = 1 << 16;
__constant__ float factor;
__device__ int counter, *heap;
__managed__ int seed;
__device__ float long_sum(float v, float by) { for (int k = 0; k < 300; ++k) v = v * 0.99f + by; return v; }
__device__ int i() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void constant(float* out) { out[i()] = long_sum(i() % 3, factor); }
__global__ void accumulate(int* out) { out[i()] += long_sum(i(), 1) > -1; }
__global__ void count() { if (long_sum(i(), 1) > -1) atomicAdd(&counter, 1); }
__global__ void managed(float* out) { out[i()] = seed + (long_sum(i(), 1) < -1); }
__global__ void histogram(int* bins) { if (long_sum(i(), 1) > -1) atomicAdd(&bins[i() % 8], 1); }
__global__ void prints() { if (long_sum(i(), 1) > -1 && i() == 5) printf("printed\n"); }
__global__ void asks() { if (long_sum(i(), 1) > -1 && i() == 5) counter = clock64() != seed; }
__global__ void fetches(cudaTextureObject_t image, float* out) { out[i()] = tex1D<float>(image, i() + 0.75f) + 0 * long_sum(i(), 1); }
#ifdef ALLOCATES
__global__ void allocates() { heap = (int*)malloc(4); *heap = 0; }
__global__ void uses() { if (long_sum(i(), 1) > -1 && i() == 5) ++*heap; }
__global__ void tells() { counter = *heap; }
#endif
int main() {
  float *out, first; int *whole, all = 0, bins[8];
  cudaMalloc(&out, n * 4); cudaMalloc(&whole, n * 4); cudaMemset(whole, 0, n * 4);
  for (int r = 0; r < 8; ++r) {
    const float now = r / 4; cudaMemcpyToSymbol(factor, &now, 4);
    constant<<<n / 256, 256>>>(out);
    cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost); printf("%g ", first);
  }
  for (int r = 0; r < 8; ++r) accumulate<<<n / 256, 256>>>(whole);
  cudaMemcpy(&all, whole + 7, 4, cudaMemcpyDeviceToHost); printf("accumulated %d ", all);
  for (int r = 0; r < 8; ++r) count<<<n / 256, 256>>>();
  cudaMemcpyFromSymbol(&all, counter, 4); printf("counted %d\n", all / n);
  for (int r = 0; r < 8; ++r) {
    cudaDeviceSynchronize(); seed = r / 4;
    managed<<<n / 256, 256>>>(out);
    cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost); printf("%g ", first);
  }
  for (int r = 0; r < 8; ++r) { cudaMemset(whole, 0, 32); histogram<<<n / 256, 256>>>(whole); }
  cudaMemcpy(bins, whole, 32, cudaMemcpyDeviceToHost); printf("binned %d\n", bins[7]);
  for (int r = 0; r < 5; ++r) prints<<<n / 256, 256>>>();
  for (int r = 0; r < 5; ++r) asks<<<n / 256, 256>>>();
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array; cudaMallocArray(&array, &format, 2); float two[2] = {0, 8};
  cudaMemcpy2DToArray(array, 0, 0, two, 8, 8, 1, cudaMemcpyHostToDevice);
  for (int r = 0; r < 8; ++r) {
    cudaResourceDesc what{}; what.resType = cudaResourceTypeArray; what.res.array.array = array;
    cudaTextureDesc how{}; how.filterMode = r < 4 ? cudaFilterModePoint : cudaFilterModeLinear;
    cudaTextureObject_t image; cudaCreateTextureObject(&image, &what, &how, nullptr);
    fetches<<<n / 256, 256>>>(image, out);
    cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost); printf("%g ", first);
    cudaDestroyTextureObject(image);
  }
#ifdef ALLOCATES
  allocates<<<1, 1>>>();
  for (int r = 0; r < 8; ++r) uses<<<n / 256, 256>>>();
  tells<<<1, 1>>>(); cudaMemcpyFromSymbol(&all, counter, 4); printf("heap %d ", all);
#endif
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

// Kernels that launch kernels, and words that nvcc's headers have.
constexpr const char* launched_by_kernels = R"cuda(
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
int three = 1 + \ // joins the lines, although this comment stands behind it
  2;
__global__ void leaf(int* out, int at) { out[at + threadIdx.x] = at + threadIdx.x; }
__global__ void last(int* out, int n) { out[n] = 0; for (int i = 0; i < n; ++i) out[n] += out[i]; }
template <class T> __global__ void tree(T* out, int at, int n) {
  if (threadIdx.x != 0) return;
  if (n <= 4) { leaf<<<1, n>>>(out, at); return; }
  cudaStream_t side; cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  tree<<<1, 32>>>(out, at, n / 2); tree<<<1, 32, 0, side>>>(out, at + n / 2, n / 2);
  cudaStreamDestroy(side);
}
__global__ void root(int* out, int n) {
  if (threadIdx.x != 0) return;
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(out, n);
  tree<<<1, 32>>>(out, 0, n);
}
__global__ void endless(int depth, int* out) {
  endless<<<1, 1>>>(depth + 1, out);
  if (cudaGetLastError() != cudaSuccess) *out = depth;
}
__global__ void words(unsigned a, unsigned b, unsigned* out) {
  const unsigned all[] = {__vaddss2(a, b), __vsubus4(b, a), __vabsdiffs4(a, b), __vcmpgts2(a, b), __vcmpgtu2(a, b),
                          __vavgs4(a, b), __vsads4(a, b), __vabsss4(a), __vneg4(b), __vnegss2(a),
                          __viaddmax_s16x2(0x7fff0001u, 0x0001ffffu, 0x80000005u), __vimin3_s16x2_relu(0x00058000u, 0x00040001u, 0x00030002u)};
  for (unsigned i = 0; i < 12; ++i) out[i] = all[i];
}
__global__ void halves(float* out) {
  const half a = +__float2half(0.3f) * half(1), b = 0.9f, none = __ushort_as_half(0x7fff);
  const half2 pair = __halves2half2(a, none), both = +__halves2half2(a, b);
  const float all[] = {__hadd_sat(a, b), __hfma_relu(a, -b, a - b), (float)__hisnan(__hmin_nan(a, none)),
                       (float)(__half_as_ushort(__float2half_ru(0.3f)) - __half_as_ushort(__float2half_rz(0.3f))),
                       (float)(10 * __hne(a, none) + __hneu(a, none)), (float)__hbequ2(pair, both), (float)__hbeq2(pair, both),
                       (float)__heq2_mask(pair, both), __ll2half_rn(65519), __ll2half_rz(70000), (float)__half2short_rn(4e4f),
                       (float)__half2uchar_rz(-3.f), (float)__half2int_ru(2.5f), __int2bfloat16_rn(16842753), __int2bfloat16_rz(-16842753),
                       h2exp10(__float2half2_rn(2.f)).y};
  for (int i = 0; i < 16; ++i) out[i] = all[i];
}
struct shape { __device__ virtual int area(int i) = 0; };
struct square : shape { int by; __device__ square(int b) : by(b) {} __device__ int area(int i) override { return by * i; } };
__global__ void shared_object(int* out) {
  __shared__ __align__(8) unsigned char room[sizeof(square)];
  __shared__ shape* it;
  if (threadIdx.x == 0) it = new (room) square(2);
  __syncthreads();
  out[threadIdx.x] = it->area(threadIdx.x);
}
__device__ __noinline__ int two() { return 2; }
__global__ void waits(int* out) {
  leaf<<<1, 4>>>(out, 0);
  cudaDeviceSynchronize();
  out[4] = two();
}
int main(int count, char**) {
  int* d; unsigned* w; cudaMallocManaged(&d, 65 * 4); cudaMallocManaged(&w, 48);
  root<<<1, 32>>>(d, 64); words<<<1, 1>>>(0x80007f01u, 0x7fff80ffu, w);
  cudaDeviceSynchronize();
  printf("%d %d %d", three, d[63], d[64]);
  for (int i = 0; i < 12; ++i) printf(" %08x", w[i]);
  float* h; cudaMallocManaged(&h, 64); halves<<<1, 1>>>(h); cudaDeviceSynchronize();
  for (int i = 0; i < 16; ++i) printf(" %g", h[i]);
  shared_object<<<1, 32>>>(d); cudaDeviceSynchronize(); printf(" area %d", d[31]);
  if (count == 1) return 0;
  if (count == 2) endless<<<1, 1>>>(0, d); else
  waits<<<1, 1>>>(d);
  cudaDeviceSynchronize();
  printf(" depth %d %s\n", d[0], cudaGetErrorString(cudaGetLastError()));
}
)cuda";

}  // namespace

TEST_CASE("thrust, CUB, textures and graphs give the results of a device, and nobody is blamed for them") {
  const temporary_directory directory;
  const std::string source = (directory / "libraries.cu").string();
  put(source, libraries_and_graphs);
  // 1 + .. + 64 = 2080; the lanes' numbers 496; 2080 - 64. Between 3 and 4, out[2] and 1 at the border. Twice
  // 10 and once 10 of the node, whose copy of `by` is older, when seen: 1 + 10 + 10 + 10.
  const strings results{"thrust 3 2080, cub 2080 2080 496 2016, texture 500.5, graph 0 31 no error"};
  expect(emulate({source}), 0, results);
  if (!LAB_WITH_OBSERVED) return;
  const outcome observed = emulate({"--observe", source});
  expect(observed, 0, results);
  CHECK(observed.text.find("lab: fault") == std::string::npos);
  // Host code may not go around the vector.
  expect(emulate({"--observe", source, "-DWRONG"}), 41, {"libraries.cu:78: host code touches device memory"});
}

TEST_CASE("cuFFT, PTX and exchanges within a warp do what they do on a device") {
  const temporary_directory directory;
  const std::string source = (directory / "more.cu").string();
  put(source, more_libraries);
  // 33 right answers and a synchronisation; 0 + .. + 31; 506 = 0 + 1 + 4 + .. + 121.
  const strings results{
      "ptx 34, scan 1 496, exchange 35 1, texture 4.5, half -3, fft 0 1 506 121, refused 3 8, fresh 1",
      "warning: ", "more.cu:55: leaves_early: block (0,0,0): 24 of 32 threads"};
  expect(emulate({source, "-lcufft"}), 43, results);
  // Killed by its own mistake, it is still told which kernel had failed before.
  expect(emulate({source, "-DDIES"}), 128 + SIGSEGV, {"fault: ", "scan"});
  if (LAB_WITH_OBSERVED)
    expect(emulate({"--observe", "-DOBSERVED", source}), 43,
           {"exchange 35 1, texture 4.5", "refused 3 8, fresh 0"});
  put(directory / "window.cu", "#include <GL/glut.h>\nint main() { glutMainLoop(); }\n");
  expect(emulate({(directory / "window.cu").string()}), 2,
         {"OpenGL and GLUT open windows and are not emulated: write the image to a file"});
}

TEST_CASE("launches that only look alike are computed, each") {
  const temporary_directory directory;
  const std::string source = (directory / "alike.cu").string();
  put(source, never_the_same);
  expect(emulate({source}), 0,
         {"-1 1 -1 1 -1 1 turned\n", "said 1\nsaid 1\nsaid 1\nsaid 1\n", "1 2 3 4 5 counted up\n"});
}

TEST_CASE("a launch that finds all as an earlier one is not computed again, and any other one is") {
  const temporary_directory directory;
  const std::string file = (directory / "again.cu").string(), json = (directory / "report.json").string();
  put(file, launched_again);
  const outcome run = emulate({"--json", json, file});
  expect(run, 0,
         {"0 0 0 0 95.096 95.096 95.096 95.096 accumulated 8 counted 8\n", "0 0 0 0 1 1 1 1 binned 8192\n",
          "printed\nprinted\nprinted\nprinted\nprinted\n", "0 0 0 0 2 2 2 2 no error\n",
          "launches were not computed again"});
  // Of eight launches twice four of `constant` and of `managed` are alike, and all of `histogram`: of each
  // the first two are computed, the first because nobody knows yet that it takes long.
  const auto recalled = nlohmann::json::parse(lab::test::get(json)).at("recalled_launches").get<int>();
  CHECK(recalled >= 8);
  CHECK(recalled <= 16);
  if (LAB_WITH_OBSERVED) {
    // What is not computed is counted all the same: 256 blocks of 8 warps, eight times.
    expect(emulate({"--observe", "--json", json, file}), 0,
           {"counted 8", "launches were not computed again"});
    const auto report = nlohmann::json::parse(lab::test::get(json));
    CHECK(report.at("recalled_launches").get<int>() >= 8);
    for (const auto& kernel : report.at("kernels")) {
      const std::string name = kernel.at("name");
      INFO(name);
      if (name == "constant" || name == "accumulate" || name == "managed" || name == "fetches")
        CHECK(kernel.at("metrics").at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") == 8 * 256 * 8);
      if (name == "histogram") CHECK(kernel.at("metrics").at("lab__atomics_mem_global.sum") == 8 * 65536);
    }
  }
  // Memory of the heap is out of reach.
  expect(emulate({"-DALLOCATES", file}), 0, {"heap 8 no error\n"});
}

TEST_CASE("kernels launch kernels, which run behind them, and parts of words are added and compared") {
  const temporary_directory directory;
  const std::string file = (directory / "kernels.cu").string();
  put(file, launched_by_kernels);
  const std::string object = lab::test::compiled({}, file);
  expect(emulate({object}), 0,
         {"3 63 2016 ffff0000 00ff01fe ff01ff02 0000ffff ffff0000 ffffff00 00000201 7f007f01 81018001 "
          "7fff80ff 80000005 00030000 1 0 1 1 1 1 0 65535 65504 65504 32767 0 3 1.69083e+07 -1.67772e+07 100 "
          "area 62"});
  if (LAB_WITH_OBSERVED) {
    const outcome observed = emulate({"--observe", file});
    expect(observed, 0, {"3 63 2016 ffff0000", "tree<int> (31 launches)", "leaf (16 launches)"});
    CHECK(observed.text.find("lab: ") == std::string::npos);
  }
  expect(emulate({object, "--", "deep"}), 1,
         {"depth 24", "a kernel below 24 others that launched one another"});
  expect(
      emulate({object, "--", "wait", "here"}), 1,
      {"kernels.cu:54: waits: block (0,0,0): thread (0,0,0) waits for a kernel that its block has launched",
       "operation not supported"});
}

TEST_CASE("a program of many kinds of launches, with a header of its own, runs and keeps its exit code") {
  const temporary_directory directory;
  std::filesystem::create_directory(directory / "headers");
  put((directory / "headers/kernels.cuh").string(),
      "#pragma once\n\n__global__ void halve(float* a, float least) { if (threadIdx.x + blockIdx.x == 0 && "
      "*a > least) *a "
      "/= TWO; }\n");
  const std::string source = (directory / "program.cu").string();
  put(source, many_things);
  // 48: in a warp that goes together 0 + 16 and 8 + 24. And 2 * (32 * 2) + 5 = 133, and half of it twice: 64
  // is less, and 1 as well.
  expect(emulate({source, "-I", (directory / "headers").string(), "-DTWO=2", "-std=c++14", "-arch=sm_80",
                  "--", "last"}),
         7, {"no error 33.25 48 3 last 0.0999756"});
}

TEST_CASE("a fault names the line of the program, and fails it") {
  const temporary_directory directory;
  const std::string source = (directory / "fault.cu").string();
  put(source,
      "#include <cassert>\n__global__ void beyond(int* a, int far) {\n  a[threadIdx.x + far] = 1;\n}\n"
      "__global__ void asserts(int n) {\n  assert(threadIdx.x < n);\n}\n"
      "int main(int argc, char** argv) {\n  int* a;\n  cudaMalloc(&a, 256);\n"
      "  if (argc == 1) beyond<<<1, 64>>>(a, 100);\n  if (argc == 2) asserts<<<1, 64>>>(3);\n"
      "  if (argc == 3) beyond<<<1, 2048>>>(a, 0);\n  return cudaDeviceSynchronize() == cudaErrorAssert ? 5 "
      ": 0;\n}\n");
  if (LAB_WITH_OBSERVED)
    expect(emulate({source}), 1, {"fault.cu:3: beyond: block (0,0,0): thread (0,0,0) writes"});
  expect(emulate({source, "--", "x"}), 5, {"fault.cu:6: asserts: block (0,0,0): thread (3,0,0)"});
  expect(emulate({source, "--", "x", "y"}), 1, {"launch refused", "a block of (2048,1,1) threads"});
}

TEST_CASE("observed, a race is found and counters are kept") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "race.cu").string(), json = (directory / "race.json").string();
  put(source,
      "__global__ void reverse(int* a) {\n  __shared__ int s[128];\n  s[threadIdx.x] = a[threadIdx.x];\n"
      "#ifdef RIGHT\n  __syncthreads();\n  if (__shfl_xor_sync(~0u, s[threadIdx.x + 64], 1) == 1234) a[0] = "
      "0;\n"
      "#endif\n  a[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
      "int main() {\n  int* a;\n  cudaMallocManaged(&a, 256);\n  for (int i = 0; i < 64; ++i) a[i] = i;\n"
      "  reverse<<<1, 64>>>(a);\n  cudaDeviceSynchronize();\n  return a[0] == 63 ? 0 : 3;\n}\n");
  const outcome racy = emulate({"--observe", source});
  INFO(racy.text);
  CHECK(racy.code != 0);
  CHECK(racy.text.find("with no __syncthreads() between") != std::string::npos);
  expect(emulate({"--observe", source, "-D", "RIGHT", "--json", json}), 0,
         {"reverse", "l1tex__t_sectors", "warning: ",
          "race.cu:6: reverse: block (0,0,0): thread (0,0,0) reads shared memory that its block has not "
          "written: no result may depend on"});
  const auto document = nlohmann::json::parse(lab::test::get(json));
  CHECK(document["exit_code"] == 0);
  CHECK(document["faults"].empty());
  CHECK(document["kernels"][0]["name"] == "reverse");
  CHECK(document["kernels"][0]["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 8.0);
}

TEST_CASE("what cannot be compiled is refused with its line, and leaves nothing behind") {
  const temporary_directory directory;
  const std::string source = (directory / "bad.cu").string();
  put(source, "int main() {\n  return nothing;\n}\n__global__ void k() {\n  gridDim.x = 1;\n}\n");
  expect(emulate({source}), 2, {"bad.cu does not compile", "bad.cu:2", "nothing", "bad.cu:5", "gridDim"});
  put(source, std::string("\x7f"
                          "ELF\0\1\2<<<(((\"",
                          14));
  expect(emulate({source}), 2, {"does not compile"});
  put(source,
      "template <int n> struct A { static const int v = A<n + 1>::v; };\nint main() { return A<0>::v; }\n");
  expect(emulate({source}), 2, {"bad.cu:1"});
  put(source,
      "#include <cuda_runtime.h>\n__global__ void k() {\n  asm(\"bra there;\");\n}\nint main() { k<<<1, "
      "1>>>(); "
      "}\n");
  expect(emulate({source}), 2, {"bad.cu:3: this inline PTX is not emulated"});
  put(source,
      "#include <cub/cub.cuh>\n__global__ void k() {\n  cub::BlockRadixRank<32, 4, false> r;\n  "
      "cub::DeviceNone::Sum();\n"
      "}\nint main() { k<<<1, 1>>>(); cuMemGetAddressRange(nullptr, nullptr, 0); }\n");
  expect(emulate({source}), 2,
         {"bad.cu:3", "the emulator does not know cuMemGetAddressRange: ",
          "the emulator does not know cub::BlockRadixRank: it is misspelled, or not in docs/emulate.md",
          "the emulator does not know cub::DeviceNone: "});
  put(source,
      "#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* x) "
      "{\n"
      "  *x = cg::inclusive_scan(cg::this_thread_block(), 1);\n}\nint main() { k<<<1, 32>>>(nullptr); }\n");
  expect(emulate({source}), 2, {"bad.cu:4:", "tile_or_coalesced_group"});
  put(source, "#include <thrust/nothing/here.h>\nint main() {}\n");
  expect(emulate({source}), 2, {"bad.cu:1", "the emulator does not know thrust/nothing/here.h: "});
  put(source, "#include <cuda_fp8.h>\n__nv_fp8_e4m3 x;\nint main() {}\n");
  expect(emulate({source}), 2, {"bad.cu:2: __nv_fp8_e4m3: numbers of 8 bits"});
  const std::string c_source = (directory / "tool.c").string();
  put(c_source, "#include <cuda_runtime.h>\nint main(void) { return 0; }\n");
  expect(emulate({c_source}), 2, {"tool.c:1", "C sources that include CUDA's headers are not emulated"});
  expect(emulate({(directory / "none.cu").string()}), 2, {"none.cu"});
  expect(emulate({(directory / "").string()}), 2, {});
  expect(emulate({source, "-I"}), 2, {"-I needs a value"});
  expect(emulate({source, "--timeout", "-3"}), 2, {"--timeout"});
  expect(emulate({source, "--memory", "much"}), 2, {"--memory must be bytes"});
  expect(emulate({source, "-std=c++7"}), 2, {"no standard of C++"});
}

TEST_CASE("a program that hangs, eats memory or leaves processes is ended, and all it started with it") {
  const temporary_directory directory;
  const std::string source = (directory / "bad.cu").string();
  put(source,
      "#include <unistd.h>\n#include <vector>\nint main(int argc, char** argv) {\n"
      "  if (argc == 2) for (;;) {}\n"
      "  if (argc == 3) for (std::vector<char*> all;; ) { all.push_back(new char[1 << 24]); "
      "for (int i = 0; i < 1 << 24; i += 4096) all.back()[i] = 1; }\n"
      "  if (argc == 4) { for (int i = 0; i < 100; ++i) if (fork() == 0) { setsid(); sleep(50); _exit(0); } "
      "sleep(50); }\n"
      "  if (argc == 5 && fork() == 0) { setsid(); sleep(50); }\n  return 0;\n}\n");
  const std::string program = (directory / "program").string();
  expect(emulate({source, "-o", program}), 0, {});
  CHECK(std::filesystem::exists(program));
  const std::string object = lab::test::compiled({}, source);
  const auto began = std::chrono::steady_clock::now();
  expect(emulate({object, "--timeout", "0.5", "--", "1"}), 1,
         {"the program was ended: it ran longer than 0.5 s"});
  expect(emulate({object, "--memory", "256M", "--", "1", "2"}), 1,
         {"the program was ended: it used more than"});
  expect(emulate({object, "--", "1", "2", "3"}), 1, {"it started more than 64 processes"});
  expect(emulate({object, "--", "1", "2", "3", "4"}), 1, {"left a process behind"});
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(100));
}

TEST_CASE("the compiler's words are told from the program's, and nvcc's own are forgotten") {
  strings words{"-Iinclude",
                "a.cu",
                "-D",
                "N=3",
                "-gencode",
                "arch=compute_80,code=sm_80",
                "-O3",
                "-std=c++17",
                "-Xcompiler",
                "-fopenmp,-Wall",
                "-lineinfo",
                "-lm",
                "-lcublas",
                "-Xcudafe",
                "--diag_suppress=1",
                "-x",
                "cu",
                "-dc",
                "--observe",
                "-arch=sm_75",
                "--",
                "-I",
                "x"};
  const auto taken = lab::front::take_compiler_words(words);
  CHECK(words == strings{"a.cu", "--observe", "--", "-I", "x"});
  CHECK(taken.compile == strings{"-Iinclude", "-DN=3", "-std=c++17", "-fopenmp"});
  CHECK(taken.link == strings{"-lm"});
  CHECK(taken.architecture == "750");
  CHECK(taken.only_objects);
  CHECK(taken.is_cuda);
  strings without_value{"-o"};
  CHECK_THROWS_AS(lab::front::take_compiler_words(without_value), lab::front::usage_error);
}

TEST_CASE("emulate: 64 KiB of constant memory, and no more") {
  const temporary_directory directory;
  const std::string source = (directory / "constant.cu").string();
  const auto with = [&](const std::string& variables) {
    put(source, variables + "\nint main() { return 0; }\n");
    return emulate({source});
  };
  expect(with("__constant__ double one[10000];"), 2,
         {"too much __constant__ memory: 80000 bytes (0x13880), 65536 possible (0x10000)",
          "constant.cu:1: one: 80000"});
  expect(with("namespace n {\n__constant__ const float a[16384] = {1}, b;\n}"), 2,
         {"65540 bytes", "constant.cu:2: a: 65536 bytes", "constant.cu:2: b: 4 bytes"});
  expect(with("__constant__ struct { char all[65536]; } a = {};\n__constant__ struct named { int x; } b = "
              "{7}, c;"),
         2,
         {"65544 bytes", "constant.cu:1: a: 65536 bytes", "constant.cu:2: b: 4 bytes",
          "constant.cu:2: c: 4 bytes"});
  expect(with("enum class colour : int { red };\nstruct plain { int x; };\n__constant__ enum shade : int { "
              "dark } s;\n"
              "__constant__ struct plain d = {7}, e{8};\n__device__ union { int n; float f; } u;\n"
              "__constant__ class alignas(16) { public: int x; } aligned;"),
         0, {});
  // All of them are the device's.
  expect(with("__constant__ struct named { int x; } b = {7}, c = {8};\n"
              "__device__ struct other { int x; } t, *p;\n"
              "__device__ enum { green } u = green, v[2] = {green};\nstruct plain { int x; };\n"
              "plain f() { return {1}; }\n"
              "__global__ void use(int* to) { p = &t; *to = b.x + c.x + p->x + u + v[1]; }"),
         0, {});
  expect(with("static __constant__ char all[65536]; extern __constant__ int other[100000];"), 0, {});
}

TEST_CASE("emulate: the device's heap is as large as its limit, and limits are told as they were set") {
  const temporary_directory directory;
  const std::string source = (directory / "heap.cu").string();
  put(source, R"cuda(
#include <cstdio>
__global__ void take(int* without, int bytes) {
  char* own = static_cast<char*>(malloc(bytes));
  char* more = new char[bytes];
  __syncthreads();
  if (own == nullptr) atomicAdd(without, 1);
  if (more == nullptr) atomicAdd(without + 1, 1);
  free(own);
  delete[] more;
}
#ifdef NOT_CHECKED
__global__ void write() {
  volatile int* own = static_cast<int*>(malloc(1 << 24));
  own[5] = 1;
}
#endif
int main() {
  int* without;
  cudaMallocManaged(&without, 8);
  for (size_t mib : {0, 16}) {
    if (mib != 0 && cudaDeviceSetLimit(cudaLimitMallocHeapSize, mib << 20) != cudaSuccess) return 3;
    for (int round = 0; round < 2; ++round) {
      without[0] = without[1] = 0;
      take<<<1, 128>>>(without, 65536);
      cudaDeviceSynchronize();
      printf("%d ", without[0] + without[1]);
    }
  }
  size_t heap, stack;
  cudaDeviceSetLimit(cudaLimitStackSize, 16384);
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  printf("%zu %zu %d\n", heap, stack, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
#ifdef NOT_CHECKED
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20);
  write<<<1, 1>>>();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
#endif
}
)cuda");
  expect(emulate({source}), 0, {"129 129 1 1 16777216 16384 1\n"});
  expect(emulate({"-DNOT_CHECKED", source}), 1,
         {"an illegal memory access was encountered", "heap.cu:15: write"});
}

TEST_CASE("emulate: assert() is there without an include, as it is with nvcc") {
  const temporary_directory directory;
  const std::string source = (directory / "implied.cu").string();
  put(source,
      "__global__ void k(int a) { assert(a == 3); }\nint main() {\n  k<<<1, 1>>>(3);\n  assert(true);\n  "
      "return cudaDeviceSynchronize();\n}\n");
  expect(emulate({source}), 0, {});
  put(source, "#include <cufftXt.h>\nint main() {}\n");
  expect(emulate({source}), 2, {"cufftXt.h: the callbacks"});
}

namespace {

// Processor time of what this process has started and waited for, in seconds.
double seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

constexpr const char* what_it_was_compiled_with = R"cuda(
#include <cassert>
#include <cstdio>
#include <omp.h>
#include <thrust/device_vector.h>
__device__ int largest(int a, int b) { return max(a, b); }
__global__ void fill(int* out) { *out = largest(__CUDACC_VER_MAJOR__, 7); }
int main() {
  thrust::device_vector<int> out(1);
  fill<<<1, 1>>>(out.data().get());
  int threads = 0;
#ifdef NO_THREADS
  threads = 3;
#else
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads += 1;
#endif
  std::printf("with ");
#ifdef NDEBUG
  std::printf("ndebug ");
#endif
#ifdef __OPTIMIZE__
  std::printf("optimized ");
#endif
  std::printf("%d %d %d\n", int(out[0]), threads, __cplusplus > 202002L);
})cuda";

}  // namespace

TEST_CASE("the headers of every .cu are precompiled, and taken as text where an option changes them") {
  const temporary_directory directory;
  const std::string source = (directory / "options.cu").string();
  put(source, what_it_was_compiled_with);
  expect(emulate({source}), 0, {"with 13 3 0\n"});
  expect(emulate({"-Xcompiler", "-fopenmp", "-arch=sm_70", source}), 0, {"with 13 3 0\n"});
  expect(emulate({"-DNDEBUG", "-std=c++23", source}), 0, {"with ndebug 13 3 1\n"});
  if (LAB_WITH_OBSERVED) expect(emulate({"--observe", "-DNO_THREADS", source}), 0, {"with 13 3 0\n"});

  // Names of the program's own, which the headers have as well; a source in C.
  const std::string names = (directory / "names.cu").string(), c = (directory / "root.c").string();
  put(names, R"cuda(
#include <cmath>
using namespace std;
__device__ int count;
using Value = unsigned char;
typedef unsigned short Word;
extern "C" double root(double);
__global__ void convert(float x, int* out) { count = 3; out[0] = (Value)x; out[1] = (Word)(-x); out[2] = count; }
int main() {
  int* out;
  cudaMallocManaged(&out, 12);
  convert<<<1, 1>>>(300.f, out);
  cudaDeviceSynchronize();
  printf("%d %d %d %g\n", out[0], out[1], out[2], root(9));
})cuda");
  put(c, "#include <math.h>\ndouble root(double x) { return sqrt(x); }\n");
  expect(emulate({names, c}), 0, {"44 0 3 3\n"});
  expect(emulate({"-DNDEBUG", names, c}), 0, {"44 0 3 3\n"});

  const std::string precompiled_folder = lab::front::find_toolchain(false).precompiled;
  if (!std::filesystem::exists(precompiled_folder + "/lab_prelude.h.gch")) return;
  const std::string small = (directory / "small.cu").string();
  put(small, "__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); return 0; }\n");
  const double begin = seconds_of_children();
  expect(emulate({small}), 0, {});
  const double precompiled = seconds_of_children() - begin;
  expect(emulate({"-DNDEBUG", small}), 0, {});  // which <assert.h> looks at
  const double as_text = seconds_of_children() - begin - precompiled;
  INFO(precompiled << " s, as text " << as_text << " s");
  CHECK(precompiled < 0.6 * as_text);  // a quarter
}
