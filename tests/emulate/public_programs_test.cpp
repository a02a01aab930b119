// What programs that others have written do, right or wrong, and nvcc takes.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::test::emulate;
using lab::test::expect;

// A kernel whose outcome is the same for the same memory, launched again and again, while the program writes
// to device memory by every way there is.
constexpr const char* written_between = R"cuda(
#include <cstdio>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <thrust/device_vector.h>
constexpr int n = 1 << 16;
__device__ int factor = 1;
__global__ void sums(const int* a, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = a[i];
  for (int k = 0; k < 400; ++k) v = v * 0.5f + a[(i + k) % n] * 0.5f;
  out[i] = (int)(v + 0.5f) * factor;
}
__global__ void set(int* a, int to) { a[blockIdx.x * blockDim.x + threadIdx.x] = to; }
__global__ void set_noisily(int* a, int to) { if (threadIdx.x + blockIdx.x == 0) printf("set "); a[blockIdx.x * blockDim.x + threadIdx.x] = to; }
int main() {
  thrust::device_vector<int> vector(n, 1);
  int *a = thrust::raw_pointer_cast(vector.data()), *out, *other, *managed, seen, host[n];
  cudaMalloc(&out, n * 4); cudaMalloc(&other, n * 4); cudaMallocManaged(&managed, n * 4);
  const auto tell = [&](const int* from) {
    for (int r = 0; r < 6; ++r) sums<<<n / 256, 256>>>(from, out);
    cudaMemcpy(&seen, out + n / 2, 4, cudaMemcpyDeviceToHost);
    printf("%d ", seen);
  };
  tell(a);
  for (int& value : host) value = 2;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice); tell(a);
  thrust::fill(vector.begin(), vector.end(), 3); tell(a);
  for (int i = 0; i < n; ++i) managed[i] = 4;
  tell(managed);
  cudaMemcpy(a, managed, n * 4, cudaMemcpyDeviceToDevice); tell(a);
  set<<<n / 256, 256>>>(a, 5); tell(a);
  set_noisily<<<n / 256, 256>>>(a, 6); cudaDeviceSynchronize(); tell(a);
  cudaMemset2D(a, n, 0, n, 4); tell(a);
  seen = 2; cudaMemcpyToSymbol(factor, &seen, 4); set<<<n / 256, 256>>>(a, 3); tell(a);
  seen = 1; cudaMemcpyToSymbol(factor, &seen, 4);
  const float eight = 1.12103877e-44f, one = 1, zero = 0;  // the bits of an 8, which a product with 1 leaves
  cublasHandle_t h; cublasCreate(&h);
  set<<<n / 256, 256>>>(other, 8); cublasScopy(h, n, (float*)other, 1, (float*)a, 1); tell(a);
  set<<<n / 256, 256>>>(other, 1);
  size_t room = 0; void* temporary = nullptr;
  cub::DeviceScan::InclusiveSum(temporary, room, other, a, n); cudaMalloc(&temporary, room);
  cub::DeviceScan::InclusiveSum(temporary, room, other, a, n); tell(a);
  cudaFree(other); cudaMalloc(&other, n * 4); cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToDevice); tell(other);
  vector[n / 2] = 1 << 20; tell(a);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  for (int r = 0; r < 400; ++r) sums<<<n / 256, 256>>>(a, out);
}
)cuda";

// What nvcc compiles and runs: functions without their return, a redeclared min(), a kernel by its address.
constexpr const char* habits = R"cuda(
#include <cstdint>
#include <cstdio>
int32_t min(int32_t a, int32_t b);
__device__ int half(int x) { return x / 2; }
__global__ void add(int* a, float by, int n) { if (threadIdx.x < n) a[threadIdx.x] += min((int)by, 7); }
static cudaError_t again(const void* kernel, void** arguments) {
  return cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, 0);
}
__device__ float forgets_on_device(float x) { if (x > 5) return x; }
template <class T> struct of { template <int n> static __device__ int f(int x) { return x + n; } template <class U, int n> __device__ int g(U x) { return x * n; } };
template <class T> __device__ int depends(of<T>* a) { switch (a - a) { case 1: int q = 5; return q; case 0: return of<T>::f<3>(1) - a->g<T, 2>(1); } return 0; }
__global__ void uses(float* out) { *out = forgets_on_device(1); of<int> a; *out = depends(&a); }
int forgets(int x) { if (x > 100) return 3; printf("forgot %d ", min(x, 5)); }
unsigned long long* forgets_pointer(int x) { if (x > 100) return nullptr; printf("pointer "); }
static inline cudaError_t check(cudaError_t error) { if (error != cudaSuccess) { printf("failed "); } }
int main(int count, char**) {
  int* a; float* out; cudaMallocManaged(&a, 128); cudaMallocManaged(&out, 4);
  float by = 3; int n = 32; void* arguments[] = {&a, &by, &n};
  const void* kernel = (const void*)add;
  check(again(kernel, arguments)); uses<<<1, 1>>>(out); check(cudaDeviceSynchronize());
  forgets(7); forgets_pointer(8);
  printf("%d %g ", a[31], *out);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array; cudaMallocArray(&array, &format, 4, 4);
  cudaResourceDesc resource{}, got{}; resource.resType = cudaResourceTypeArray; resource.res.array.array = array;
  cudaTextureDesc how{}; how.filterMode = cudaFilterModeLinear; cudaTextureDesc had{};
  cudaTextureObject_t image; cudaCreateTextureObject(&image, &resource, &how, nullptr);
  cudaGetTextureObjectResourceDesc(&got, image); cudaGetTextureObjectTextureDesc(&had, image);
  printf("%d %d\n", got.res.array.array == array, (int)had.filterMode);
  if (count == 1) return 0;
  printf("unknown %d\n", again((const void*)main, arguments));
  cudaMemcpy(nullptr, a, 4, cudaMemcpyDefault);
  cudaFree(a + 1);
  add<<<1, 2048>>>(a, 1, 2);
  int mine[3]; add<<<1, 1>>>(mine, 1, 2);
  return cudaDeviceSynchronize() == cudaSuccess ? 1 : 6;
}
)cuda";

// Names that programs define again, a kernel declared before its parameters were known, an array aligned to
// more than a page, and what Thrust's headers include.
constexpr const char* names_again = R"cuda(
#include <thrust/device_vector.h>
const int warpSize = 32;
struct has_own { static constexpr int warpSize = 64; };
void cudaError(const char* what, int line) {
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) { printf("%s %d %s\n", what, line, cudaGetErrorString(error)); exit(1); }
}
__global__ void k(/* later */);
__global__ void k(int* out, int n) {
  __shared__ __align__(16384) int tile[8192];
  tile[threadIdx.x] = threadIdx.x + n;
  __syncthreads();
  if (threadIdx.x == 0) *out = tile[warpSize - 1] + (int)((size_t)&tile[1] % 16384);
}
template <class T, class U> struct loader {
  loader(T first) : first_(first) {}
  __device__ T load(int i) const { return first_ + (T)i; }
  T first_;
};
template <class Load> __global__ void use(Load load, float* out) { *out += load.load(threadIdx.x + 1); }
template <class Load> void launch(Load load, float* out) { use<<<1, 1>>>(load, out); }
int main() {
  thrust::device_vector<int> out(1);
  thrust::device_vector<float> sum(1);
  loader<float, loader<int, int>> load(2.5f);
  launch(load, thrust::raw_pointer_cast(sum.data()));
  cudaError("launch", __LINE__);
  k<<<1, 64>>>(thrust::raw_pointer_cast(out.data()), 5);
  assert(cudaDeviceSynchronize() == cudaSuccess);
  std::cout << out[0] << " " << sum[0] << " " << has_own::warpSize << " " << (FLT_MAX > 1) << std::endl;
}
)cuda";

// `using namespace std;` beside names that the standard library has in headers which CUDA's do not include.
constexpr const char* names_of_library = R"cuda(
#include <iostream>
using namespace std;
__device__ int count;
int search[4] = {1, 2, 3, 4}, *sort = search;
float sample = 1.5f;
struct vector {
  float x, y;
  __host__ __device__ vector(float a, float b) : x(a), y(b) {}
  __host__ __device__ vector operator+(const vector& other) const { return vector(x + other.x, y + other.y); }
};
typedef struct { int first[2]; } array;
template <class T> struct optional { T value; };
__device__ vector twice(const vector& v) { return v + v; }
__global__ void k(vector* out, array a, optional<int> o) {
  vector sum = twice(*out);
  sum = sum + vector(a.first[1], o.value);
  atomicAdd(&count, 1);
  if (count > 0) count = count + 2.0f;
  *out = sum;
}
int of(int count) { int unique = 3; { auto sample = 5; count += sample; } return count + unique; }
int main() {
  vector* out; array a{{1, 2}}; optional<int> o{7}; int transform = 4;
  cudaMallocManaged(&out, sizeof(vector));
  *out = vector(1, 2);
  k<<<1, 1>>>(out, a, o);
  int seen; cudaMemcpyFromSymbol(&seen, count, sizeof(count));
  sample = sample * 2.0;
  search[0] += sort[3];
  cout << out->x << " " << out->y << " " << seen << " " << sample << " " << search[0] << " " << of(2) + transform << endl;
}
)cuda";

constexpr const char* reduce_by_argument = R"cuda(
#include <iostream>
#include <thrust/adjacent_difference.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
using namespace std;
int main() {
  thrust::device_vector<int> values(3, 2), sums(3);
  thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
  thrust::adjacent_difference(sums.begin(), sums.end(), sums.begin(), thrust::plus<int>());
  cout << sums[0] << " " << sums[1] << " " << sums[2] << " " << reduce(values.begin(), values.end()) << endl;
}
)cuda";

// A word is tested before an atomic function of its own, beside those of others; and three times what looks
// like it and is a race.
constexpr const char* tested_before_atomics = R"cuda(
#include <cstdio>
__global__ void greatest(const int* a, int* best) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (*best < a[i]) atomicMax(best, a[i]);
}
struct stack {
  int top, size; int* data;
  __device__ bool push(int value) {
    if (top < size) { const int at = atomicAdd(&top, 1); if (at < size) { data[at] = value; return true; } }
    return false;
  }
};
__global__ void pushes(int* out) {
  __shared__ stack s; __shared__ int room[128];
  if (threadIdx.x == 0) { s.top = 0; s.size = 128; s.data = room; }
  __syncthreads();
  s.push(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s.top;
}
__global__ void search(int* level, int now, int later) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (level[v] == now) atomicCAS(&level[(v * 7 + 4) % 1024], -1, v % 2 == 0 ? now + 1 : later);
}
__global__ void takes(int* counter, int* out) { const int at = *counter; atomicAdd(counter, 1); out[at] = 1; }
__global__ void reads_sum(int* sum, int* out) { atomicAdd(sum, 1); out[blockIdx.x] = *sum; }
__global__ void overwrites(int* sum) { if (*sum < 5) atomicAdd(sum, 1); if (threadIdx.x == 0 && blockIdx.x == 1) *sum = 7; }
int main(int count, char**) {
  int *a, *b; cudaMallocManaged(&a, 4096); cudaMallocManaged(&b, 4096);
  for (int i = 0; i < 1024; ++i) a[i] = i * 7 % 1000;
  b[0] = 0; greatest<<<8, 128>>>(a, b); cudaDeviceSynchronize(); printf("%d ", b[0]);
  pushes<<<1, 128>>>(b); cudaDeviceSynchronize(); printf("%d ", b[0]);
  for (int i = 0; i < 1024; ++i) a[i] = i % 3 == 0 ? 0 : -1;
  search<<<8, 128>>>(a, 0, count == 5 ? 2 : 1); cudaDeviceSynchronize(); printf("%d ", a[24 * 7 + 4]);
  b[0] = 0;
  if (count == 2) takes<<<2, 64>>>(b, a);
  if (count == 3) reads_sum<<<4, 1>>>(b, a);
  if (count == 4) overwrites<<<2, 64>>>(b);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

// Global objects that call the runtime before main() and behind it.
constexpr const char* global_objects = R"cuda(
#include <cstdio>
#include <cufft.h>
#include <thrust/device_vector.h>
struct pool {
  int *memory, *managed = nullptr; cudaStream_t stream = nullptr; cufftHandle plan;
  pool() { cudaMalloc(&memory, 128); cudaMemset(memory, 0, 128); cufftPlan1d(&plan, 8, CUFFT_C2C, 1); }
  ~pool() {
    int seen = 0; cudaMemcpy(&seen, memory + 31, 4, cudaMemcpyDeviceToHost);
    const int failures = (cudaFree(memory) != cudaSuccess) + (cudaFree(managed) != cudaSuccess) +
                         (cudaStreamDestroy(stream) != cudaSuccess) + (cufftDestroy(plan) != CUFFT_SUCCESS);
    printf("left %d failed %d again %d\n", seen, failures, (int)cudaFree(memory));
  }
} everything;
thrust::device_vector<int> vector(32, 7), later;
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
int main() {
  cudaMallocManaged(&everything.managed, 128); cudaStreamCreate(&everything.stream);
  later.resize(100, 3);
  add<<<1, 32, 0, everything.stream>>>(everything.memory, thrust::raw_pointer_cast(vector.data()));
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

// Kernels that say how many threads their blocks have at most.
constexpr const char* launch_bounds = R"cuda(
#include <cstdio>
#include <tuple>
template <class T> struct config { static constexpr int threads = 96; };
constexpr int block = 128;
namespace one {
__global__ void __launch_bounds__(block) bounded(int* p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(64, 2) bounded(float* p) { p[threadIdx.x] = 1; }
}
namespace {
__global__ __launch_bounds__(block / 2, 4) void halved(int* p) { auto [a, b] = std::make_tuple(1, 2.5f); p[threadIdx.x] = a + (int)b; }
}
extern "C" __launch_bounds__(2 * block) __global__ void twice(int* p) { p[threadIdx.x] = 1; }
extern "C" { __global__ void __launch_bounds__(32) last(int* p) { *p = 1; } }
template <int threads> __global__ void __launch_bounds__(threads) any(int* p) { p[threadIdx.x] = threads; }
__global__ void __launch_bounds__(config<int>::threads) of_config(int* p) { *p = 1; }
static void tell() { printf("%d ", (int)cudaGetLastError()); }
int main(int count, char**) {
  int* p; cudaMalloc(&p, 4096);
  halved<<<1, 64>>>(p); tell();
  twice<<<1, dim3(16, 16)>>>(p); tell();
  any<64><<<1, 64>>>(p); tell();
  of_config<<<1, 96>>>(p); tell();
  last<<<1, 32>>>(p); tell();
  one::bounded<<<1, 128>>>(p); tell();
  one::bounded<<<1, 64>>>((float*)p); tell();
  cudaFuncAttributes attributes; cudaFuncGetAttributes(&attributes, halved);
  int grid, size; cudaOccupancyMaxPotentialBlockSize(&grid, &size, last);
  printf("most %d %d\n", attributes.maxThreadsPerBlock, size);
  const cudaExtent extent = make_cudaExtent(10, 3, 2);
  cudaPitchedPtr layers; char seen[60]; int sum = 0;
  cudaMalloc3D(&layers, extent); cudaMemset3D(layers, 1, extent);
  cudaMemset3DAsync(layers, 2, make_cudaExtent(10, 1, 2));
  cudaMemcpy3DParms copy = {}; copy.srcPtr = layers; copy.dstPtr = make_cudaPitchedPtr(seen, 10, 10, 3); copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost; cudaMemcpy3D(&copy);
  for (char c : seen) sum += c;
  printf("sum %d\n", sum);
  if (count == 1) return 0;
  halved<<<1, 65>>>(p); tell();
  twice<<<1, dim3(16, 17)>>>(p); tell();
  void* arguments[] = {&p}; cudaLaunchKernel((void*)last, 1, 64, arguments, 0, 0); tell();
}
)cuda";

// Shifts and comparisons among the template arguments of launches; functions that call each other and are
// inlined by force; a lane that has left, whose value is not used; and what headers of libraries bring along.
constexpr const char* launches_of_templates = R"cuda(
#include <cub/cub.cuh>
#include <cublasLt.h>
#include <curand_kernel.h>
#include <cstdio>
template <int M, int L = 0> __global__ void k() { printf(" %d,%d", M, L); }
template <class T, int N> void launch() {
  k<(N << 2)><<<1, 1>>>(); k<N << 1><<<1 << (N >> 1), 1 << (N >> 2)>>>(); k<sizeof(T) < 8><<<1, 1>>>();
}
template <class T> struct of { template <int A> static constexpr int twice = 2 * A; };
__device__ __forceinline__ int odd(int n);
__device__ __forceinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __forceinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ __forceinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__global__ void calls(int n) { printf(" %d %d", factorial(n), even(n)); }
__global__ void half_warp(float* out) {  // 16 x 16: the warp's other half leaves
  float v = threadIdx.x;
  if (threadIdx.y != 0) return;
  for (int o = 8; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 8 == 0) out[threadIdx.x / 8] = v;
}
__global__ void bits() {
  using key = cub::Traits<float>;
  printf(" %x %x", key::TwiddleIn(__float_as_uint(-1.f)), key::TwiddleOut(key::TwiddleIn(0x3f800000u)));
}
int main() {
  k<(1 << 2)><<<1, 1>>>(); k<(8 >> 1)><<<1, 1>>>(); k<3, ((1 << 2) - 1)><<<1, 1>>>(); k<3, 1 << 2><<<1, 1>>>();
  k<(3 > 2 ? 1 << 3 : 2)><<<1, 1>>>(); k<(8 >> 1), (2 < 1)><<<1, 1>>>(); k< 1<<3 ><<<1, 1>>>();
  k<sizeof(int) < 8><<<1, 1>>>(); k<sizeof(int) <= 8 ? 1 : 2><<<1, 1>>>(); k<of<float>::twice<7>><<<1, 1>>>();
  k<sizeof(int) >= 4><<<1, 1>>>();
  auto p = k<(1 << 3)>; p<<<1, 1>>>(); (k<(1 << 3)>)<<<1, 1>>>();
  launch<int, 2>();
  calls<<<1, 1>>>(6); bits<<<1, 1>>>();
  float* sum; cudaMallocManaged(&sum, 8);
  half_warp<<<1, dim3(16, 16)>>>(sum);
  printf(" %s", cudaGetErrorString(cudaDeviceSynchronize())); printf(" %g %d", sum[0], sum[1] < -1e6f);
  curandGenerator_t g; cublasLtMatmulDescOpaque_t op; cublasLtMatrixLayoutOpaque_t a; cublasLtMatmulPreferenceOpaque_t most;
  printf(" %d\n", curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT) | cublasLtMatmulDescInit(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F) |
                  cublasLtMatrixLayoutInit(&a, CUDA_R_32F, 16, 16, 16) | cublasLtMatmulPreferenceInit(&most));
}
)cuda";

}  // namespace

TEST_CASE("global objects of a program use the runtime before main and behind it") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "globals.cu").string();
  lab::test::put(source, global_objects);
  // What is freed twice is told, as anywhere.
  expect(emulate({source}), 0, {"no error\n", "left 7 failed 0 again 1\n", "globals.cu:12: cudaFree: "});
  if (LAB_WITH_OBSERVED)
    expect(emulate({"--observe", source}), 0, {"no error\n", "left 7 failed 0 again 1\n"});
}

TEST_CASE("a test before an atomic function is no race, and a value that is used is one") {
  if (!LAB_WITH_OBSERVED) return;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "tests.cu").string();
  lab::test::put(source, tested_before_atomics);
  const std::string object = lab::test::compiled({"--observe"}, source);
  const lab::test::outcome right = emulate({"--observe", object});
  expect(right, 0,
         {"999 128 1 no error", "tests.cu:5: greatest: ", "tests.cu:10: pushes: ",
          "it is a test before an atomic function on the same word"});
  CHECK(right.text.find("fault: ") == std::string::npos);
  expect(emulate({"--observe", object, "--", "1"}), 1, {"fault: ", "tests.cu:26: takes: "});
  expect(emulate({"--observe", object, "--", "1", "2"}), 1, {"fault: ", "tests.cu:27: reads_sum: "});
  expect(emulate({"--observe", object, "--", "1", "2", "3"}), 1, {"fault: ", "tests.cu:28: overwrites: "});
  expect(emulate({"--observe", object, "--", "1", "2", "3", "4"}), 1, {"fault: ", "tests.cu:24: search: "});
}

TEST_CASE("a launch finds what anybody has written since the last one, and is told when nobody has") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "between.cu").string(), json = (directory / "report.json").string();
  lab::test::put(source, written_between);
  // The sum over 400 neighbours in the middle of 1, 2, 3, .. is n / 2 + 400, and nearly all of it the last
  // ones'.
  expect(emulate({"--json", json, source}), 0,
         {"1 2 3 4 4 5 set 6 0 6 8 33167 2 ", "no error", "launches were not computed again"});
  const auto recalled = nlohmann::json::parse(lab::test::get(json)).at("recalled_launches").get<int>();
  CHECK(recalled >= 395);
}

TEST_CASE("shifts in template arguments, inlined calls of each other, and a lane that has left") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "launches.cu").string();
  lab::test::put(source, launches_of_templates);
  const std::string printed =
      " 4,0 4,0 3,3 3,4 8,0 4,0 8,0 1,0 1,0 14,0 1,0 8,0 8,0 8,0 4,0 4,0 1,0 720 1 407fffff 3f800000 no "
      "error";
  // Where it is used, it is a value that nobody can take for one.
  expect(emulate({source}), 0,
         {printed + " 120 1 0\n",
          "warning: ", "launches.cu:19: ", "reads lane 16 in __shfl_down_sync, which has left the kernel"});
}

TEST_CASE("what nvcc lets pass runs, and a call that is wrong is told with its line") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "habits.cu").string();
  lab::test::put(source, habits);
  expect(emulate({source}), 0, {"forgot 5 pointer 3 2 1 1\n"});
  expect(emulate({source, "--", "wrong"}), 6,
         {"unknown 98",
          "habits.cu:8: cudaLaunchKernel: the parameters of the kernel at this address are not known",
          "habits.cu:33: cudaMemcpy: the destination is null", "habits.cu:34: cudaFree: ",
          "habits.cu:35: add: launch refused: it asks for a block of (2048,1,1) threads",
          "habits.cu:36: add: argument 1 of its launch points to host memory"});
}

TEST_CASE("names of CUDA's and of the device may be a program's own, as nvcc lets them") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "names.cu").string();
  lab::test::put(source, names_again);
  expect(emulate({source}), 0, {"40 3.5 64 1\n"});
  if (LAB_WITH_OBSERVED) expect(emulate({"--observe", source}), 0, {"40 3.5 64 1\n"});
}

TEST_CASE("a program's own names stand beside the standard library's") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "library.cu").string();
  lab::test::put(source, names_of_library);
  expect(emulate({source}), 0, {"4 11 3 3 5 14\n"});
  lab::test::put(source, reduce_by_argument);
  expect(emulate({source}), 0, {"2 6 10 6\n"});
}

TEST_CASE("a block of more threads than __launch_bounds__ says is refused") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "bounds.cu").string();
  lab::test::put(source, launch_bounds);
  expect(emulate({source}), 0, {"0 0 0 0 0 0 0 most 64 32\nsum 80\n"});
  expect(emulate({source, "--", "wrong"}), 1,
         {"sum 80\n1 1 1 ",
          "bounds.cu:39: (anonymous namespace)::halved: launch refused: it asks for a block of 65 threads, "
          "where "
          "__launch_bounds__ says 64",
          "bounds.cu:40: twice: ", "bounds.cu:41: last: "});
}
