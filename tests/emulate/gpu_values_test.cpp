// Values that a GPU has where a CPU has others or C++ has none.
#include <string>

#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::test::emulate;
using lab::test::expect;
using lab::test::put;
using lab::test::temporary_directory;

// Conversions of what no integer holds, and shifts by the width or more, in each way to write them.
constexpr const char* arithmetic = R"cuda(
#include <cstdio>
#include <climits>
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct S { unsigned bits : 5; int whole; float part; };
template <class T> struct pair_of { T a, b; };
struct mine { float value; __device__ operator float() const { return value; } };
struct whole_one { float value; __device__ operator float() const { return value; } __device__ operator int() const { return 7; } };
enum color { red, green = 1 << 3 };
template <int N> struct sized { static const int value = N; };
__device__ int quantize(float x) { return x * 255.0f; }
__device__ unsigned char to_byte(float x) { return (unsigned char)(x); }
template <class T> __device__ T half_of(T x) { const int n = sized<3>::value << 2; int a[n]; a[0] = 1; return x >> a[0]; }
template <typename T> __device__ T made(float x) { T first = (T)x; return first == static_cast<T>(x) ? first : T{99}; }
__device__ long long sum_of(int a, unsigned b) { return a + (long long)b; }
__global__ void k(const float* f, int by, int* wrong, unsigned char* pixel, int* out) {
  auto check = [&](int number, bool right) { if (!right) { printf("check %d fails\n", number); atomicAdd(wrong, 1); } };
  const float big = f[0], nan = f[1], negative = f[2];
  check(1, (int)big == INT_MAX && -(int)big == -INT_MAX && ~(int)nan == -1);
  check(2, int(negative * 1e20f) == INT_MIN);
  check(3, static_cast<unsigned>(negative) == 0u);
  int i = big, j = nan, m = 5;
  check(4, i == INT_MAX && j == 0 && m == 5);
  i = negative * 3e9f;
  check(5, i == INT_MIN);
  out[threadIdx.x] = big;
  check(6, out[threadIdx.x] == INT_MAX);
  pixel[0] = negative;
  check(7, pixel[0] == 0);
  check(8, quantize(big) == INT_MAX && to_byte(negative) == 0);
  check(9, (1 << by) == 0 && (-8 >> by) == -1 && (8u >> by) == 0u && (1ll << by) == 1ll << 32 && (-1ll >> (by + 40)) == -1);
  unsigned u = 5; u <<= by; check(10, u == 0);
  int v = -5; v >>= by; check(11, v == -1);
  check(12, (1 << by - 30 << 1) == 8 && 1 + 1 << by == 0);
  S s{}; s.bits = by; s.whole = big; s.part = 3; s.bits <<= 1;
  check(13, s.bits == 0 && s.whole == INT_MAX);
  s.bits = 31; s.bits <<= by; s.whole = -9; s.whole >>= by - 1; check(23, s.bits == 0 && s.whole == -1);
  S t[2]{}; S* last = t + 1; t[1].whole = 3; last->whole <<= by + 1; check(24, t[1].whole == 0);
  int z{};
  int product = 2; z += big; product *= nan; check(25, z == INT_MAX && product == 0);
  z = 7; z -= 2.5f; product = 3; product += z; check(26, z == 4 && product == 7);
  color c = green; check(14, (c << 2) == 32 && half_of(9) == 4);
  check(15, (long long)nan == LLONG_MIN && (unsigned long long)negative == 0 && (long long)(double(big)) == LLONG_MAX);
  check(16, (float)(int)(2.9f) == 2.0f && (int)f[3] + 1 == 4 && (int)floorf(f[3] / 2) * 2 == 2);
  const float* p = f; p = by > 0 ? f + 1 : f; check(17, isnan(*p));
  check(18, (size_t)p % 4 == 0 && (int)sizeof(float) == 4);
  unsigned char q = 300.7f * by / 32; check(19, q == 44);
  const __half half = __float2half(INFINITY), below = __float2half(-300.0f);
  check(20, (int)half == INT_MAX && (long long)half == LLONG_MAX && static_cast<unsigned>(below) == 0u && (int)below == -300);
  short word = half; signed char byte = below; i = half; check(21, word == SHRT_MAX && byte == -128 && i == INT_MAX);
  check(27, made<int>(big) == INT_MAX && made<unsigned>(negative) == 0u && made<double>(0.5f) == 0.5 && sum_of(int(nan), unsigned(negative)) == 0);
  check(22, int(__float2bfloat16(INFINITY)) == INT_MAX && (int)mine{-1e20f} == INT_MIN && (int)whole_one{2.5f} == 7 && (int)pair_of<float>{2e20f, 1}.a == INT_MAX);
}
int main() {
  float host[4] = {1e30f, NAN, -1.5f, 3.7f}; float* f; int *wrong, *out; unsigned char* pixel;
  cudaMallocManaged(&f, sizeof host); cudaMallocManaged(&wrong, 4); cudaMallocManaged(&out, 4); cudaMallocManaged(&pixel, 1);
  for (int i = 0; i < 4; ++i) f[i] = host[i];
  *wrong = 0;
  k<<<1, 1>>>(f, 32, wrong, pixel, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%s: %d wrong\n", *wrong ? "WRONG" : "OK", *wrong);
  return *wrong != 0;
}
)cuda";

// Modifiers of inline PTX.
constexpr const char* modifiers = R"cuda(
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#define TWO(name, code, type, letter) \
  __device__ type name(type a, type b) { type r; asm(code " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b)); return r; }
TWO(add_down, "add.rm.f32", float, "f") TWO(add_up, "add.rp.f32", float, "f") TWO(add_chop, "add.rz.f32", float, "f")
TWO(subtract_up, "sub.rp.f64", double, "d") TWO(multiply_up, "mul.rp.f32", float, "f") TWO(divide_down, "div.rm.f32", float, "f")
TWO(add_flushed, "add.ftz.f32", float, "f") TWO(add_nearest, "add.rn.f32", float, "f")
__device__ float root_up(float a) { float r; asm("sqrt.rp.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
__device__ float inverse_down(float a) { float r; asm("rcp.rm.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
__device__ double fused_up(double a, double b, double c) { double r; asm("fma.rp.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c)); return r; }
#define COMPARE(name, code) __device__ int name(float a, float b) { int r; asm("{ .reg .pred p; " code " p, %1, %2; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "f"(a), "f"(b)); return r; }
COMPARE(unequal, "setp.ne.f32") COMPARE(unequal_or_nan, "setp.neu.f32") COMPARE(less_or_nan, "setp.ltu.f32") COMPARE(are_numbers, "setp.num.f32")
__global__ void all(int* wrong, float one, float third, float tiny) {
  auto check = [&](int number, bool right) { if (!right) { printf("check %d fails\n", number); atomicAdd(wrong, 1); } };
  const float below = nextafterf(1.0f, 0.0f), above = nextafterf(1.0f, 2.0f);
  check(1, add_down(one, -tiny) == below && add_down(one, tiny) == one && add_nearest(one, tiny) == one);
  check(2, add_up(one, tiny) == above && add_chop(one, -tiny) == below && add_chop(-one, tiny) == -below);
  check(3, subtract_up(1.0, -0x1p-70) == nextafter(1.0, 2.0) && multiply_up(third, 3.0f) == above);
  check(4, divide_down(1.0f, 3.0f) == nextafterf(third, 0.0f) && root_up(2.0f) > 0 && root_up(4.0f) == 2.0f);
  check(5, inverse_down(3.0f) == nextafterf(third, 0.0f) && fused_up(1.0, 1.0, 0x1p-80) == nextafter(1.0, 2.0));
  check(6, add_flushed(1e-39f, 0.0f) == 0.0f && add_nearest(1e-39f, 0.0f) == 1e-39f);
  int of_both, of_other, byte;
  asm("{ .reg .pred p, q; setp.gt.f32 p, %2, %3; setp.lt.or.f32 p|q, %2, %2, p; selp.s32 %0, 1, 0, p; selp.s32 %1, 1, 0, q; }" : "=r"(of_both), "=r"(of_other) : "f"(one), "f"(third));
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(byte) : "r"(-300));
  check(8, of_both == 1 && of_other == 1 && byte == -128);
  check(7, unequal(NAN, one) == 0 && unequal_or_nan(NAN, one) == 1 && less_or_nan(NAN, one) == 1 && are_numbers(one, NAN) == 0 && unequal(one, 2) == 1);
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, 4);
  *wrong = 0;
  all<<<1, 1>>>(wrong, 1.0f, 1.0f / 3.0f, 0x1p-30f);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%s: %d wrong\n", *wrong ? "WRONG" : "OK", *wrong);
  return *wrong != 0;
}
)cuda";

// Assignments to pointers of every kind, in templates and outside.
constexpr const char* assigned_pointers = R"cuda(
#include <cstdio>
#include <functional>
#include <span>
#include <string>
template <int step> __global__ void tiles(float* __restrict__ out, const float* __restrict__ in) {
  in = &in[step * blockIdx.x];
  out = &out[step * blockIdx.x];
  float* __restrict__ const own = out;
  float* __restrict__ next;
  next = own + threadIdx.x;
  *next = in[threadIdx.x] + 1;
}
__global__ void interleave(float* out, const float* in) {
  float x = in[threadIdx.x];
  out[threadIdx.x << 1] = x;
  out[((threadIdx.x >> 0) << 1) + 1] = x + 0.5f;
}
// Operands of inline PTX.
__global__ void copy(float* __restrict__ out, const float* __restrict__ in) {
  __shared__ float tile[4];
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\ncp.async.wait_all;" :: "r"(to), "l"(&in[threadIdx.x]) : "memory");
  float second; asm volatile("ld.global.f32 %0, [%1];" : "=f"(second) : "l"(in + 1));
  float* __restrict__ to_there;
  asm("mov.u64 %0, %1;" : "=l"(to_there) : "l"(out));
  *to_there = tile[3] + second;
}
float half(float x) { return x / 2; }
template <class T> T of_every_kind(T* p) {
  T a[4] = {1, 2, 3, 4}; T* volatile v; const T* c; void* w; T (*f)(T); std::function<T(T)> g; std::span<T> s; std::string t; const char* u; bool b;
  v = p; p = v; p = a; p = &p[1]; c = p; w = p; f = half; g = half; s = a; t = "abc"; u = "abc"; b = p; p = 0; p = nullptr; p = NULL;
  return f(*c) + g(*(T*)w) + s.size() + t.size() + u[3] + b;
}
int main() {
  float *in, *out;
  cudaMallocManaged(&in, 512); cudaMallocManaged(&out, 512);
  for (int i = 0; i < 128; ++i) in[i] = i;
  tiles<64><<<2, 64>>>(out, in);
  cudaDeviceSynchronize();
  printf("%g %g %g\n", out[5], out[127], of_every_kind(in));
  interleave<<<1, 64>>>(out, in);
  cudaDeviceSynchronize();
  copy<<<1, 1>>>(out, in);
  cudaDeviceSynchronize();
  printf("%g %g %g\n", out[126], out[127], out[0]);
}
)cuda";

// The atomic functions that nvcc 12.8 and later have built in.
constexpr const char* built_in_atomics = R"cuda(
#include <cstdio>
__global__ void k(unsigned* n, double* d, unsigned long long* m, int* flag) {
  __nv_atomic_fetch_add(n, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_add(d, 0.5, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(m, threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_fetch_sub(m + 1, 1, __NV_ATOMIC_SEQ_CST);
  unsigned long long old = __nv_atomic_load_n(m + 2, __NV_ATOMIC_RELAXED);
  while (!__nv_atomic_compare_exchange_n(m + 2, &old, old + 3, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED)) {}
  __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  if (threadIdx.x == 3) { int one = 1, was; __nv_atomic_exchange(flag, &one, &was, __NV_ATOMIC_RELEASE); __nv_atomic_store_n(flag + 1, was + 7, __NV_ATOMIC_RELEASE); }
}
int main() {
  unsigned* n; double* d; unsigned long long* m; int* f;
  cudaMallocManaged(&n, 4); cudaMallocManaged(&d, 8); cudaMallocManaged(&m, 24); cudaMallocManaged(&f, 8);
  *n = 0; *d = 0; m[0] = 0; m[1] = 1000; m[2] = 0; f[0] = f[1] = 0;
  k<<<4, 64>>>(n, d, m, f);
  cudaDeviceSynchronize();
  printf("%u %g %llu %llu %llu %d %d\n", *n, *d, m[0], m[1], m[2], f[0], f[1]);
}
)cuda";

// Conversions between half and bfloat16, also where the types are parameters of a template.
constexpr const char* narrow_conversions = R"cuda(
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class To, class From> __global__ void convert(To* to, const From* from) {
  to[threadIdx.x] = (To)from[threadIdx.x];
  to[threadIdx.x] += static_cast<To>(from[threadIdx.x]);
}
__global__ void each(half* h, __nv_bfloat16* b, float* f) {
  half x = (half)b[0];
  b[1] = (__nv_bfloat16)h[1];
  b[2] = __nv_bfloat16(x);
  h[2] = static_cast<half>(b[1]) + half(b[2]) + half(1.0f) + (half)2;
  *f = (float)(half)1.5f;
}
__global__ void of_variables(float* x, int n) {
  for (int half = n / 2; (half) > 0; half = (half) / 2) *x += (half) + 1;
}
int main() {
  half* h; __nv_bfloat16* b; float* f;
  cudaMallocManaged(&h, 64); cudaMallocManaged(&b, 64); cudaMallocManaged(&f, 4);
  for (int i = 0; i < 32; ++i) b[i] = __float2bfloat16(i + 0.5f);
  convert<<<1, 32>>>(h, b); convert<<<1, 32>>>(b, h); convert<<<1, 32>>>(h, h);
  cudaDeviceSynchronize();
  printf("%g %g\n", (float)h[3], (float)b[31]);
  b[0] = __float2bfloat16(2.5f); h[1] = __float2half(4.0f);
  each<<<1, 1>>>(h, b, f); of_variables<<<1, 1>>>(f, 16);
  cudaDeviceSynchronize();
  printf("%g %g\n", (float)h[2], *f);
}
)cuda";

constexpr const char* kernel_elsewhere = R"cuda(
__global__ void add(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + 1;
}
)cuda";
constexpr const char* launches_by_address = R"cuda(
#include <cstdio>
extern __global__ void add(const float* a, float* out, int n);
void launch(const void* kernel, void** arguments) { puts(cudaGetErrorString(cudaLaunchKernel(kernel, 1, 32, arguments, 0, 0))); }
int main() {
  float *a, *out, first;
  int n = 32;
  cudaMalloc(&a, 128); cudaMalloc(&out, 128); cudaMemset(a, 0, 128);
  void* arguments[] = {&a, &out, &n};
  launch((const void*)add, arguments);
  cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
  printf("%g\n", first);
  cudaLaunchConfig_t config{};
  config.gridDim = 1; config.blockDim = 32;
  cudaMemset(out, 0, 128);
  puts(cudaGetErrorString(cudaLaunchKernelExC(&config, (const void*)add, arguments)));
  cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
  printf("%g\n", first);
}
)cuda";

}  // namespace

TEST_CASE("conversions saturate and shifts shift everything out, as on a GPU") {
  const temporary_directory directory;
  const std::string source = (directory / "arithmetic.cu").string();
  put(source, arithmetic);
  expect(emulate({source}), 0, {"no error", "OK: 0 wrong"});
}

TEST_CASE("pointers that promise not to overlap, and elements behind a shift, are assigned") {
  const temporary_directory directory;
  const std::string source = (directory / "tiles.cu").string();
  put(source, assigned_pointers);
  expect(emulate({source}), 0, {"6 128 10\n63 63.5 4\n"});
}

TEST_CASE("atomic functions with an order and a scope are built in") {
  const temporary_directory directory;
  const std::string source = (directory / "atomics.cu").string();
  put(source, built_in_atomics);
  expect(emulate({source}), 0, {"512 128 63 744 768 1 8\n"});
}

TEST_CASE("half and bfloat16 are converted to each other") {
  const temporary_directory directory;
  const std::string source = (directory / "convert.cu").string();
  put(source, narrow_conversions);
  expect(emulate({source}), 0, {"14 126\n9.5 20.5\n"});
}

TEST_CASE("each modifier of inline PTX is honoured or refused by name") {
  const temporary_directory directory;
  const std::string source = (directory / "modifiers.cu").string();
  put(source, modifiers);
  expect(emulate({source}), 0, {"no error", "OK: 0 wrong"});
  for (const std::string statement :
       {"add.rna.f32 %0, %0, %0;", "max.NaN.f32 %0, %0, %0;", "fma.rn.relu.f32 %0, %0, %0, %0;",
        "min.xorsign.abs.f32 %0, %0, %0;", "ld.param.f32 %0, [%1];", "st.async.f32 [%1], %0;"}) {
    put(source, "__global__ void k(float f, float* p) { asm(\"" + statement +
                    "\" : \"+f\"(f) : \"l\"(p)); }\nint main() {}\n");
    expect(emulate({source}), 2,
           {"modifiers.cu:1: this inline PTX is not emulated", statement.substr(0, statement.find(' '))});
  }
}

TEST_CASE("a kernel of another file is launched by its address") {
  const temporary_directory directory;
  const std::string kernel = (directory / "kernel.cu").string(), main = (directory / "main.cu").string();
  put(kernel, kernel_elsewhere);
  put(main, launches_by_address);
  expect(emulate({main, kernel}), 0, {"no error\n1\nno error\n1\n"});
}

TEST_CASE("emulate: addresses know their spaces, and the rest of CUDA's mathematics has its values") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "spaces.cu").string();
  lab::test::put(source, R"cuda(
#include <cstdio>
__device__ int variable;
__global__ void k(int* global, int* out) {
  __shared__ int tile[32];
  extern __shared__ int dynamic[];
  tile[threadIdx.x] = threadIdx.x * 3;
  dynamic[threadIdx.x] = threadIdx.x * 5;
  __syncthreads();
  const size_t number = __cvta_generic_to_shared(&tile[31 - threadIdx.x]);
  int value, local = 0;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"((unsigned)number));
  value += *static_cast<int*>(__cvta_shared_to_generic(__cvta_generic_to_shared(&dynamic[threadIdx.x])));
  value += *static_cast<int*>(__cvta_global_to_generic(__cvta_generic_to_global(global)));
  int spaces = __isShared(tile) | __isShared(dynamic) << 1 | __isShared(global) << 2 | __isShared(&local) << 3;
  spaces |= __isGlobal(global) << 4 | __isGlobal(&variable) << 5 | __isGlobal(tile) << 6 | __isGlobal(&local) << 7;
  spaces |= __isLocal(&local) << 8 | __isLocal(global) << 9 | __isLocal(dynamic) << 10;
  out[threadIdx.x] = value * 10000 + spaces;
}
__global__ void numbers(double* out) {
  const double values[] = {3e200, 4e200};
  const float few[] = {1, 2, 2};
  out[0] = cyl_bessel_i0(2.0); out[1] = cyl_bessel_i1(-1.0); out[2] = erfcx(30.0); out[3] = erfcinvf(0.5f);
  out[4] = norm(2, values); out[5] = normf(3, few); out[6] = rnorm4d(1, 1, 1, 1); out[7] = rnorm3d(0, 3, 4);
  out[8] = __fmaf_ieee_rn(2, 3, 4); out[9] = __fmaf_ieee_ru(1e-30f, 1e-30f, 1); out[10] = erfcxf(0.5f);
}
int main() {
  int *global, *out; double* reals;
  cudaMallocManaged(&global, 4); cudaMallocManaged(&out, 128); cudaMallocManaged(&reals, 128);
  *global = 100;
  k<<<1, 32, 128>>>(global, out);
  numbers<<<1, 1>>>(reals);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  printf("%d %d\n", out[0], out[31]);
  for (int i = 0; i < 11; ++i) printf("%.7g ", reals[i]);
}
)cuda");
  lab::test::expect(
      lab::test::emulate({source}), 0,
      {"1930307 2550307", "2.279585 -0.5651591 0.01879589 0.4769363 5e+200 3 0.5 0.2 10 1 0.6156904"});
  lab::test::put(source,
                 "__global__ void k(int* a) { *a = __isGridConstant(a); }\nint main() { k<<<1, 1>>>(0); }\n");
  lab::test::expect(lab::test::emulate({source}), 2, {"spaces.cu:1: __isGridConstant:"});
}
