// Matrix units as programs use them: inline PTX and nvcuda::wmma.
#include <string>

#include "tests/emulate/emulate_call.hpp"

namespace {

constexpr const char* matrix_program = R"cuda(
#include <mma.h>
#include <stdio.h>
using namespace nvcuda;
__global__ void by_hand(const half* a, const half* b, float* d, half* e) {
  __shared__ __align__(16) half tile_a[256], tile_b[128];
  for (int i = threadIdx.x; i < 256; i += 32) tile_a[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) tile_b[i] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2], re[2] = {0, 0};
  float rd[4] = {1, 1, 1, 1};
  int lane = threadIdx.x;
  unsigned pa = __cvta_generic_to_shared(tile_a + lane % 16 * 16 + lane / 16 * 8);
  unsigned pb = __cvta_generic_to_shared(tile_b + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+f"(rd[0]), "+f"(rd[1]), "+f"(rd[2]), "+f"(rd[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};\n"
               : "=r"(re[0]), "=r"(re[1])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(re[0]), "r"(re[1]));
  for (int i = 0; i < 4; ++i) {
    int at = (lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2;
    d[at] = rd[i];
    e[at] = reinterpret_cast<half*>(re)[i];
  }
}
__global__ void by_wmma(const half* a, const half* b, half* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> fd;
  wmma::fill_fragment(fd, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(d, fd, 16, wmma::mem_row_major);
}
template <class T, class Stored, class Sum, int k>
__global__ void of_other_numbers(const Stored* a, const Stored* b, Sum* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, k, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, k, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, k, Sum> fd;
  wmma::fill_fragment(fd, 0);
  for (int first = 0; first < 32; first += k) {
    wmma::load_matrix_sync(fa, a + first, 32);
    wmma::load_matrix_sync(fb, b + first, 32);
    if constexpr (k == 8)
      for (auto& x : fa.x) x = wmma::__float_to_tf32(x);
    wmma::mma_sync(fd, fa, fb, fd);
  }
  wmma::store_matrix_sync(d, fd, 16, wmma::mem_row_major);
}
// With `more` a factor is what it is rounded to.
template <class T, class Stored, class Sum, int k>
int wrong_numbers(Stored (*of)(int), double more) {
  Stored *a, *b; Sum* d;
  cudaMallocManaged(&a, 512 * sizeof(Stored)); cudaMallocManaged(&b, 512 * sizeof(Stored)); cudaMallocManaged(&d, 1024);
  for (int i = 0; i < 512; ++i) a[i] = of(i * 7 % 251), b[i] = Stored(i * 5 % 13);
  of_other_numbers<T, Stored, Sum, k><<<1, 32>>>(a, b, d);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 256; ++i) {
    double sum = 0;
    for (int q = 0; q < 32; ++q) sum += (a[i / 16 * 32 + q] + more) * double(b[i % 16 * 32 + q]);
    wrong += d[i] != Sum(sum);
  }
  return wrong;
}
int main() {
  half *a, *b, *b8, *e, *w; float* d;
  cudaMallocManaged(&a, 512); cudaMallocManaged(&b, 512); cudaMallocManaged(&b8, 256);
  cudaMallocManaged(&d, 512); cudaMallocManaged(&e, 256); cudaMallocManaged(&w, 512);
  for (int i = 0; i < 256; ++i) a[i] = float(i * 7 % 11 - 5), b[i] = float(i * 5 % 13 - 6);
  for (int i = 0; i < 128; ++i) b8[i] = b[i / 8 * 16 + i % 8];
  by_hand<<<1, 32>>>(a, b8, d, e);
  by_wmma<<<1, 32>>>(a, b, w);
  cudaError_t error = cudaDeviceSynchronize();
  int wrong = error != cudaSuccess;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float(a[i * 16 + k]) * float(b[k * 16 + j]);
      wrong += float(w[i * 16 + j]) != sum;
      if (j < 8) wrong += d[i * 8 + j] != sum + 1, wrong += float(e[i * 8 + j]) != sum;
    }
  wrong += wrong_numbers<signed char, signed char, int, 16>([](int i) -> signed char { return i - 120; }, 0);
  wrong += wrong_numbers<unsigned char, unsigned char, int, 16>([](int i) -> unsigned char { return i; }, 0);
  wrong += wrong_numbers<wmma::precision::tf32, float, float, 8>([](int i) { return i % 16 + 16 + 3 / 256.f; },
                                                                 1 / 256.);
  printf("%d wrong\n", wrong);
  return wrong;
}
)cuda";

// What is left of the instructions: m16n8k8 and tf32 of ones, s8, and stmatrix.
constexpr const char* matrix_instructions = R"cuda(
#include <stdio.h>
__global__ void ones(float* sums, int* whole, unsigned* stored) {
  __shared__ __align__(16) unsigned tile[32];
  float half[4] = {}, brain[4] = {}, tensor[4] = {};
  int bytes[4] = {}, wide[4] = {};
  const unsigned h = 0x3c003c00, b = 0x3f803f80, t = 0x3f801fff, s = 0x01ff0201;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%0, %1, %2, %3};"
      : "+f"(half[0]), "+f"(half[1]), "+f"(half[2]), "+f"(half[3]) : "r"(h));
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
      : "+f"(brain[0]), "+f"(brain[1]), "+f"(brain[2]), "+f"(brain[3]) : "r"(b));
  asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%0, %1, %2, %3};"
      : "+f"(tensor[0]), "+f"(tensor[1]), "+f"(tensor[2]), "+f"(tensor[3]) : "r"(t));
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%0, %1, %2, %3};"
      : "+r"(bytes[0]), "+r"(bytes[1]), "+r"(bytes[2]), "+r"(bytes[3]) : "r"(s));
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
      : "+r"(wide[0]), "+r"(wide[1]), "+r"(wide[2]), "+r"(wide[3]) : "r"(s));
  unsigned at = __cvta_generic_to_shared(tile + threadIdx.x % 8 * 4);
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" :: "r"(at), "r"(threadIdx.x << 16) : "memory");
  __syncwarp();
  stored[threadIdx.x] = tile[threadIdx.x];
  if (threadIdx.x != 17) return;
  sums[0] = half[3], sums[1] = brain[0], sums[2] = tensor[1], whole[0] = bytes[2], whole[1] = wide[3];
}
int main() {
  float* sums; int* whole; unsigned* stored;
  cudaMallocManaged(&sums, 12); cudaMallocManaged(&whole, 8); cudaMallocManaged(&stored, 128);
  ones<<<1, 32>>>(sums, whole, stored);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  // A lane's upper half is the element of row 2 (lane % 4) + 1 and of column lane / 4 of what is transposed.
  printf("%g %g %g %d %d, row 3: %u %u\n", sums[0], sums[1], sums[2], whole[0], whole[1], stored[3 * 4] >> 16, stored[3 * 4 + 1] & 0xffff);
}
)cuda";

// wgmma of sums that do not lie side by side, and wmma, as PTX.
constexpr const char* ptx_program = R"cuda(
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>
constexpr int M = 64, N = 16, K = 32;
#ifndef TYPE
#define TYPE "f16.f16"
#endif
__device__ uint64_t encode(uint64_t bytes) { return (bytes & 0x3ffff) >> 4; }
// 8 x 8 by 8 x 8, those of k side by side.
__device__ int place_of(int row, int k) { return row / 8 * (K / 8) * 64 + k / 8 * 64 + row % 8 * 8 + k % 8; }
__device__ uint64_t descriptor(const half* tile) {
  return encode(__cvta_generic_to_shared(tile)) | encode(128) << 16 | encode(K / 8 * 128) << 32;
}
__global__ void by_warpgroup(const half* a, const half* b, float* d) {
  __shared__ __align__(128) half tile_a[M * K];
  __shared__ __align__(128) half tile_b[N * K];
  for (int i = threadIdx.x; i < M * K; i += 128) tile_a[place_of(i / K, i % K)] = a[i];
  for (int i = threadIdx.x; i < N * K; i += 128) tile_b[place_of(i / K, i % K)] = b[i];
#ifndef NO_PROXY_FENCE
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
  asm volatile("bar.sync 1, 128;" ::: "memory");
  float x = 0, y = 0, z[6] = {};
#ifndef NO_FENCE
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  for (int k = 0; k < K; k += 16)
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32." TYPE " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0; }"
                 : "+f"(y), "+f"(x), "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]), "+f"(z[4]), "+f"(z[5])
                 : "l"(descriptor(tile_a) + k / 8 * 8), "l"(descriptor(tile_b) + k / 8 * 8), "r"(k));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifndef NO_WAIT
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(0) : "memory");
#endif
  float* row = d + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * N + threadIdx.x % 4 * 2;
  row[0] = y, row[1] = x, row[8 * N] = z[0], row[8 * N + 1] = z[1];
  row[8] = z[2], row[9] = z[3], row[8 * N + 8] = z[4], row[8 * N + 9] = z[5];
}
__global__ void by_warp(const half* a, const half* b, float* d) {
  __shared__ __align__(32) half tile[256];
  unsigned ra[8], rb[8];
  float rd[8] = {};
  for (int k = 0; k < K; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = a[i / 16 * K + k + i % 16];
    __syncwarp();
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]), "=r"(ra[4]), "=r"(ra[5]), "=r"(ra[6]), "=r"(ra[7])
                 : "r"((unsigned)__cvta_generic_to_shared(tile)));
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]), "=r"(rb[4]), "=r"(rb[5]), "=r"(rb[6]), "=r"(rb[7])
                 : "l"(b + k), "r"(K));
    asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
                 : "+f"(rd[0]), "+f"(rd[1]), "+f"(rd[2]), "+f"(rd[3]), "+f"(rd[4]), "+f"(rd[5]), "+f"(rd[6]), "+f"(rd[7])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(ra[4]), "r"(ra[5]), "r"(ra[6]), "r"(ra[7]),
                   "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "r"(rb[4]), "r"(rb[5]), "r"(rb[6]), "r"(rb[7]));
    __syncwarp();
  }
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
               :: "l"(d), "f"(rd[0]), "f"(rd[1]), "f"(rd[2]), "f"(rd[3]), "f"(rd[4]), "f"(rd[5]), "f"(rd[6]), "f"(rd[7]), "r"(N));
}
int main() {
  half *a, *b; float *d, *e;
  cudaMallocManaged(&a, M * K * 2); cudaMallocManaged(&b, N * K * 2);
  cudaMallocManaged(&d, M * N * 4); cudaMallocManaged(&e, 16 * N * 4);
  for (int i = 0; i < M * K; ++i) a[i] = float(i * 7 % 11 - 5);
  for (int i = 0; i < N * K; ++i) b[i] = float(i * 5 % 13 - 6);
  by_warpgroup<<<1, 128>>>(a, b, d);
  by_warp<<<1, 32>>>(a, b, e);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < M * N; ++i) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += float(a[i / N * K + k]) * float(b[i % N * K + k]);
    wrong += d[i] != sum;
    if (i < 16 * N) wrong += e[i] != sum;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
)cuda";

}  // namespace

TEST_CASE("mma.sync, ldmatrix, stmatrix and wmma of programs give their products") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "matrix.cu").string();
  lab::test::put(source, matrix_program);
  lab::test::expect(lab::test::emulate({source}), 0, {"0 wrong\n"});
  if (LAB_WITH_OBSERVED) {
    const lab::test::outcome observed = lab::test::emulate({"--observe", source});
    lab::test::expect(observed, 0, {"0 wrong\n"});
    CHECK(observed.text.find("lab: ") == std::string::npos);
  }
  lab::test::put(source, matrix_instructions);
  lab::test::expect(lab::test::emulate({source}), 0, {"no error\n8 16 4 28 56, row 3: 5 9\n"});
}

TEST_CASE("wgmma and wmma as PTX give their products") {
  using lab::test::emulate, lab::test::expect;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "ptx.cu").string();
  lab::test::put(source, ptx_program);
  expect(emulate({source}), 0, {"0 wrong\n"});
  expect(emulate({"-DNO_WAIT", source}), 1, {"1024 wrong\n"});
  expect(emulate({"-DNO_FENCE", source}), 1,
         {"ptx.cu:29: by_warpgroup: ", "begins a product with no wgmma_fence() before it"});
  expect(emulate({R"(-DTYPE="e4m3.e4m3")", source}), 2,
         {"ptx.cu:29: this matrix instruction is not emulated", "m64n16k16.f32.e4m3.e4m3"});
  if (!LAB_WITH_OBSERVED) return;
  expect(emulate({"--observe", source}), 0, {"0 wrong\n"});
  expect(emulate({"--observe", "-DNO_PROXY_FENCE", source}), 1,
         {"ptx.cu:29: by_warpgroup: ", "writes at", "with no fence_proxy_async() between"});
}
