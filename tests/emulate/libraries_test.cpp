// cuBLAS, cuRAND, CUB and Thrust as programs call them.
#include <string>

#include "tests/emulate/emulate_call.hpp"

using lab::test::emulate;
using lab::test::expect;

namespace {

constexpr const char* blas_calls = R"cuda(
#include <cublas_v2.h>
#include <cmath>
#include <cstdio>
#include <vector>
template <class T> T* device(const std::vector<T>& values) {
  T* copy; cudaMalloc(&copy, values.size() * sizeof(T));
  cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return copy;
}
template <class T> void show(const char* name, const T* from, int n) {
  std::vector<T> values(n);
  cudaMemcpy(values.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
  printf("%s", name);
  for (T value : values) printf(" %g", (double)value);
  printf("\n");
}
int main(int count, char**) {
  cublasHandle_t h; cublasCreate(&h); static_assert(CUBLAS_GEMM_ALGO23 == 23 && CUBLAS_GEMM_ALGO15_TENSOR_OP == 115);
  const float one = 1, zero = 0, two = 2, three = 3;
  float* x = device<float>({3, -4, 0, 1});
  float norm, dot, sum; int at;
  cublasSnrm2(h, 2, x, 1, &norm); cublasSdot(h, 4, x, 1, x, 1, &dot); cublasSasum(h, 4, x, 1, &sum);
  cublasIsamax(h, 4, x, 1, &at);
  printf("vectors %g %g %g %d\n", norm, dot, sum, at);
  float* on_device = device<float>({0});
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  cublasSdot(h, 4, x, 1, x, 1, on_device); show("dot", on_device, 1);
  cublasSaxpy(h, 2, on_device, x, 1, x + 2, 1); show("axpy", x, 4);
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  // No size is a multiple of a tile's, and each form is compared with the sums themselves.
  const int m = 37, n = 29, k = 18;
  std::vector<float> a(m * k), b(k * n), c(m * n, 1), found(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = i * 7 % 13 - 6;
  for (int i = 0; i < k * n; ++i) b[i] = i * 5 % 11 - 5;
  int wrong = 0;
  for (int form = 0; form < 4; ++form) {
    const bool ta = form & 1, tb = form & 2;
    float* result = device(c);
    cublasSgemm(h, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &two, device(a),
                ta ? k : m, device(b), tb ? n : k, &three, result, m);
    cudaMemcpy(found.data(), result, m * n * 4, cudaMemcpyDeviceToHost);
    for (int j = 0; j < n; ++j) for (int i = 0; i < m; ++i) {
      float s = 0;
      for (int q = 0; q < k; ++q) s += (ta ? a[q + i * k] : a[i + q * m]) * (tb ? b[j + q * n] : b[q + j * k]);
      wrong += found[i + j * m] != 2 * s + 3;
    }
  }
  printf("products %d\n", wrong);
  float *lower = device<float>({2, 1, 4, 0, 1, 3, 0, 0, 5}), *right = device<float>({2, 3, 27});
  cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 1, &one, lower, 3, right, 3);
  show("solved", right, 3);
  float *six = device<float>({1, 2, 3, 4, 5, 6}), *made = device(std::vector<float>(6, 1)), *square = device(std::vector<float>(9, 7));
  cublasStrmm(h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 2, 3, &one, lower, 3, six, 2, made, 2);
  cublasStrsm(h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 2, 3, &one, lower, 3, made, 2);
  show("there and back", made, 6);
  cublasSger(h, 2, 3, &one, six, 1, six + 3, 1, made, 2); show("ger", made, 6);
  cublasSsyrk(h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 3, 2, &one, six, 3, &zero, square, 3); show("syrk", square, 9);
  cublasSsymv(h, CUBLAS_FILL_MODE_UPPER, 3, &one, square, 3, six, 1, &zero, made, 1); show("symv", made, 3);
  cublasSgemv(h, CUBLAS_OP_T, 3, 2, &one, six, 3, six, -1, &zero, made, 1); show("backwards", made, 2);
  cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, six, 2, &one, six, 3, made, 3); show("geam", made, 6);
  const cuComplex i = make_cuComplex(0, 1), none = make_cuComplex(0, 0);
  cuComplex *z = device<cuComplex>({{1, 2}, {3, 4}}), *zz = device<cuComplex>({{0, 0}}), d;
  cublasCgemm(h, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, 2, &i, z, 2, z, 2, &none, zz, 1);
  cublasCdotu(h, 2, z, 1, z, 1, &d);
  show("complex", (float*)zz, 2); printf("dot %g %g\n", d.x, d.y);
  const float** lists = device<const float*>({six, six + 3});
  float** results = device<float*>({made, made + 1});
  cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &one, lists, 1, lists, 3, &zero, results, 1, 2);
  show("batched", made, 2);
  cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &zero, (const void* const*)lists, CUDA_R_32F, 1, (const void* const*)lists, CUDA_R_32F, 3,
                      &zero, (void* const*)results, CUDA_R_32F, 1, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  show("cleared", made, 2);
  cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &one, (const void* const*)lists, CUDA_R_32F, 1, (const void* const*)lists, CUDA_R_32F, 3,
                      &zero, (void* const*)results, CUDA_R_32F, 1, 2, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
  show("by type", made, 2);
  const __half by = 2, nothing = 0; __half* halves = device<__half>({1, 2, 3, 4, 5}); const __half** half_lists = device<const __half*>({halves, halves + 1}); __half** half_results = device<__half*>({halves + 4, halves + 3});
  cublasHgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &by, half_lists, 1, half_lists, 2, &nothing, half_results, 1, 2);
  __half back[2]; cudaMemcpy(back, halves + 3, sizeof back, cudaMemcpyDefault); printf("halves %g %g\n", float(back[1]), float(back[0]));
  // cuBLAS refuses a distance that does not hold a column, and does nothing.
  printf("refused %d %d", cublasSgemv(h, CUBLAS_OP_N, 100, 2, &one, six, 2, six, 1, &zero, made, 1),
         cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &one, six, 2, six, 3, &zero, made, 2));
  printf(" %s\n", cudaGetErrorString(cudaGetLastError()));
  if (count > 1) {
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N,
                2, 2, 1000000, &one, six, 2, six, 1000000, &zero, made, 2);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 9 : 8;
  }
}
)cuda";

constexpr const char* collectives = R"cuda(
#include <cub/block/block_scan.cuh>
#include <cub/cub.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_partition.cuh>
#include <nvtx3/nvToolsExt.h>
#include <thrust/complex.h>
#include <cstdio>
struct running {
  int total;
  __device__ int operator()(int tile) { const int before = total; total += tile; return before; }
};
struct twice { __host__ __device__ int operator()(int x) const { return 2 * x; } };
// 64 threads take a tile after another.
__global__ void prefixes(const int* in, int* exclusive, int* inclusive, int* largest, int n) {
  using scan = cub::BlockScan<int, 64>;
  __shared__ typename scan::TempStorage room;
  running before{100}, by_two{0};
  auto highest = [most = -1](int tile) mutable { const int old = most; most = max(most, tile); return old; };
  for (int first = 0; first < n; first += 64) {
    const int i = first + threadIdx.x, mine = i < n ? in[i] : 0;
    int result;
    scan(room).ExclusiveSum(mine, result, before); __syncthreads();
    if (i < n) exclusive[i] = result;
    scan(room).InclusiveScan(mine, result, cub::Max(), highest); __syncthreads();
    if (i < n) largest[i] = result;
  }
  for (int first = 0; first < n; first += 128) {
    int items[2];
    for (int k = 0; k < 2; ++k) items[k] = first + 2 * threadIdx.x + k < n ? in[first + 2 * threadIdx.x + k] : 0;
    scan(room).InclusiveSum(items, items, by_two); __syncthreads();
    for (int k = 0; k < 2; ++k) if (first + 2 * threadIdx.x + k < n) inclusive[first + 2 * threadIdx.x + k] = items[k];
  }
}
__global__ void add_one(unsigned short* word) {
  unsigned short seen = *word, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(word, assumed, (unsigned short)(assumed + 3));
  } while (seen != assumed);
}
struct extent { int least, most; };
__device__ __forceinline__ extent both(extent a, extent b) { return {min(a.least, b.least), max(a.most, b.most)}; }
__global__ void extents(const int* in, int* out) {
  using reduction = cub::BlockReduce<extent, 64>;
  __shared__ typename reduction::TempStorage room;
  const extent all = reduction(room).Reduce(extent{in[threadIdx.x], in[threadIdx.x]}, both);
  if (threadIdx.x == 0) out[0] = all.least, out[1] = all.most;
}
__global__ void hyperbolic(float* out) { *out = __tanhf(0.f) + 2.5f; }
int main() {
  nvtxEventAttributes_t range = {};
  range.payloadType = NVTX_PAYLOAD_TYPE_INT64; range.payload.llValue = 3;
  const nvtxRangeId_t started = nvtxRangeStartEx(&range);
  const nvtxDomainHandle_t domain = nvtxDomainCreate("domain");
  nvtxDomainRangePushEx(domain, &range); nvtxDomainRangePop(domain); nvtxRangeEnd(started);
  const int n = 300;
  int *in, *a, *b, *c, *number;
  cudaMallocManaged(&in, n * 4); cudaMallocManaged(&a, n * 4); cudaMallocManaged(&b, n * 4);
  cudaMallocManaged(&c, n * 4); cudaMallocManaged(&number, 4);
  for (int i = 0; i < n; ++i) in[i] = i * 7 % 64 + i / 2;
  prefixes<<<1, 64>>>(in, a, b, c, n); cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0, sum = 0, most = -1; i < n; ++i) {
    wrong += a[i] != 100 + sum;
    most = in[i] > most ? in[i] : most;
    wrong += b[i] != (sum += in[i]);
    wrong += c[i] != most;
  }
  printf("scans %d", wrong);
  void* room = nullptr; size_t bytes = 0;
  const auto call = [&](const auto& f) { room = nullptr; f(); cudaMalloc(&room, bytes); f(); cudaFree(room); };
  cub::TransformInputIterator<int, twice, int*> doubled(in, twice());
  call([&] { return cub::DeviceReduce::Sum(room, bytes, doubled, number, n); });
  printf(", doubled %d", *number - 2 * (b[n - 1]));
  call([&] { return cub::DevicePartition::If(room, bytes, in, a, number, n, [](int x) { return x > 99; }); });
  printf(", %d parts %d %d", *number, a[0], a[n - 1] == in[0]);
  call([&] { return cub::DeviceMergeSort::SortKeys(room, bytes, a, n, [](int x, int y) { return x > y; }); });
  printf(", sorted %d", a[0] >= a[1] && a[n - 2] >= a[n - 1]);
  cub::DeviceFor::Bulk(n, [a] __device__(int i) { a[i] = i; }); cudaDeviceSynchronize();
  printf(", bulk %d", a[n - 1]);
  extents<<<1, 64>>>(a + 5, b); cudaDeviceSynchronize();
  printf(", extent %d %d", b[0], b[1]);
  float* sum; cudaMallocManaged(&sum, 4); hyperbolic<<<1, 1>>>(sum); cudaDeviceSynchronize();
  printf(", tanh %g", *sum);
  unsigned short* words; cudaMalloc(&words, 8); cudaMemset(words, 0, 8);
  add_one<<<2, 64>>>(words + 1);
  unsigned short counted[4]; cudaMemcpy(counted, words, 8, cudaMemcpyDeviceToHost);
  const thrust::complex<float> z(3, 4);
  printf(", words %d %d %d, complex %g %g %g\n", counted[0], counted[1], counted[2], thrust::abs(z), thrust::norm(z),
         thrust::conj(z).imag());
}
)cuda";

constexpr const char* host_generator = R"cuda(
#include <cstdio>
#include <curand.h>
int main() {
  curandGenerator_t generator;
  float *numbers, sum = 0;
  cudaMallocManaged(&numbers, 4000);
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MRG32K3A);
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY);
  curandSetPseudoRandomGeneratorSeed(generator, 7);
  curandGenerateUniform(generator, numbers, 1000);
  cudaDeviceSynchronize();
  for (int i = 0; i < 1000; ++i) sum += numbers[i];
  printf("%d\n", sum > 450 && sum < 550);
}
)cuda";

// Algorithms that exchange the elements of zipped vectors.
constexpr const char* exchanged = R"cuda(
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reverse.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>
#include <thrust/swap.h>
int main() {
  thrust::device_vector<int> a(101), b(101), c(101, -1), d(101, -2);
  thrust::sequence(a.begin(), a.end()); thrust::sequence(b.begin(), b.end(), 1000);
  const auto both = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
  const auto others = thrust::make_zip_iterator(thrust::make_tuple(c.begin(), d.begin()));
  thrust::reverse(both, both + 101);
  printf("%d %d %d\n", (int)a[0], (int)b[50], (int)b[100]);
  thrust::default_random_engine engine(3);
  thrust::shuffle(thrust::device, both, both + 101, engine);
  thrust::reverse(c.begin(), c.end() - 1);
  thrust::swap_ranges(both, both + 101, others);
  int moved = 0, apart = 0, sum = 0;
  for (int i = 0; i < 101; ++i) { moved += c[i] != 100 - i; apart += d[i] - c[i] != 1000; sum += c[i]; }
  printf("%d %d %d %d %d\n", moved > 50, apart, sum, (int)a[7], (int)b[100]);
}
)cuda";

// What CUB orders, exchanges and compares in a block and in a warp: how many results are wrong.
constexpr const char* items = R"cuda(
#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <cstdio>
constexpr int threads = 64, items = 3, all = threads * items;
using Exchange = cub::BlockExchange<int, threads, items>;
using Radix = cub::BlockRadixSort<unsigned, threads, items, int>;
using Floats = cub::BlockRadixSort<float, threads, items>;
using Merge = cub::BlockMergeSort<int, threads, items>;
using Pairs = cub::BlockMergeSort<int, threads, items, char>;
using Heads = cub::BlockDiscontinuity<int, threads>;
using Left = cub::BlockAdjacentDifference<int, threads>;
using Shuffle = cub::BlockShuffle<int, threads>;
using Bins = cub::BlockHistogram<unsigned char, threads, items, 16, cub::BLOCK_HISTO_ATOMIC>;
using Scan = cub::BlockScan<int, threads>;
__device__ int wrong;
#define SAME(a, b) do { if ((a) != (b)) { atomicAdd(&wrong, 1); printf("%d: thread %d: %g, not %g\n", __LINE__, threadIdx.x, (double)(a), (double)(b)); } } while (0)
struct differ { __device__ bool operator()(int a, int b) const { return a != b; } };
struct by_index { __device__ bool operator()(const int& a, const int& b, int i) const { return i % 5 == 0 || b < a; } };
struct minus { __device__ int operator()(const int& a, const int& b) const { return a - b; } };
struct greater { __device__ bool operator()(const int& a, const int& b) const { return a > b; } };
__host__ __device__ inline unsigned key(int i) { return (i * 2654435761u) ^ (i << 7); }
__global__ void block() {
  __shared__ union { Exchange::TempStorage exchange; Radix::TempStorage radix; Floats::TempStorage floats; Merge::TempStorage merge; Pairs::TempStorage pairs;
    Heads::TempStorage heads; Left::TempStorage left; Shuffle::TempStorage shuffle; Bins::TempStorage bins; Scan::TempStorage scan; } room;
  const int t = threadIdx.x, first = t * items;
  int a[items], b[items], c[items];
  for (int i = 0; i < items; ++i) a[i] = first + i;
  Exchange(room.exchange).BlockedToWarpStriped(a, b);
  for (int i = 0; i < items; ++i) SAME(b[i], t / 32 * 32 * items + t % 32 + i * 32);
  __syncthreads();
  Exchange(room.exchange).WarpStripedToBlocked(b);
  for (int i = 0; i < items; ++i) { SAME(b[i], a[i]); c[i] = first + i == 7 ? -1 : all - 1 - (first + i); }
  __syncthreads();
  Exchange(room.exchange).ScatterToStripedGuarded(a, b, c);
  for (int i = 0; i < items; ++i) { const int at = t + i * threads; if (at != all - 8) SAME(b[i], all - 1 - at); }
  __syncthreads();
  // Some bits alone: 8 to 11, of which equal ones keep their order.
  unsigned keys[items];
  for (int i = 0; i < items; ++i) { keys[i] = key(first + i); b[i] = first + i; }
  Radix(room.radix).Sort(keys, b, 8, 12);
  for (int i = 0; i < items; ++i) {
    int rank = 0;
    const unsigned own = key(b[i]) >> 8 & 15;
    for (int k = 0; k < all; ++k) { const unsigned other = key(k) >> 8 & 15; rank += other < own || (other == own && k < b[i]); }
    SAME(rank, first + i); SAME(keys[i], key(b[i]));
  }
  __syncthreads();
  float f[items];
  for (int i = 0; i < items; ++i) f[i] = first + i == 5 ? __int_as_float(0x7fc00000) : first + i == 9 ? -INFINITY : (float)((first + i) * 37 % all) - 80.5f;
  Floats(room.floats).SortDescendingBlockedToStriped(f);
  if (t == 0) SAME(f[0] != f[0], 1);
  if (t == threads - 1) SAME(f[items - 1], -INFINITY);
  if (t == 1) SAME(f[0], (float)(all - 1) - 80.5f);
  __syncthreads();
  for (int i = 0; i < items; ++i) b[i] = (first + i) * 37 % all;
  Merge(room.merge).Sort(b, greater());
  for (int i = 0; i < items; ++i) SAME(b[i], all - 1 - (first + i));
  __syncthreads();
  char letters[items];
  for (int i = 0; i < items; ++i) { b[i] = (first + i) % 4; letters[i] = first + i < 100 ? 'a' : 'b'; }
  Pairs(room.pairs).StableSort(b, letters, [] __device__ (int x, int y) { return x < y; }, 101, 99);
  for (int i = 0; i < items; ++i) { if (first + i < 101) { SAME(b[i], first + i < 26 ? 0 : (first + i - 1) / 25); if (first + i == 25) SAME(letters[i], 'b'); else SAME(letters[i], 'a'); } else SAME(b[i], 99); }
  __syncthreads();
  int heads[items], tails[items];
  for (int i = 0; i < items; ++i) b[i] = (first + i) / 4;
  Heads(room.heads).FlagHeads(heads, b, differ());
  for (int i = 0; i < items; ++i) SAME(heads[i], (first + i) % 4 == 0);
  __syncthreads();
  Heads(room.heads).FlagHeadsAndTails(heads, 0, tails, all / 4 - 1, b, differ());
  for (int i = 0; i < items; ++i) { SAME(heads[i], (first + i) % 4 == 0 && first + i > 0); SAME(tails[i], (first + i) % 4 == 3 && first + i < all - 1); }
  __syncthreads();
  Heads(room.heads).FlagTails(tails, b, by_index());
  for (int i = 0; i < items; ++i) SAME(tails[i], first + i == all - 1 || (first + i + 1) % 5 == 0);
  __syncthreads();
  for (int i = 0; i < items; ++i) b[i] = (first + i) * (first + i);
  Left(room.left).SubtractLeft(b, b, minus());
  for (int i = 0; i < items; ++i) SAME(b[i], first + i == 0 ? 0 : 2 * (first + i) - 1);
  __syncthreads();
  for (int i = 0; i < items; ++i) b[i] = (first + i) * (first + i);
  Left(room.left).SubtractLeftPartialTile(b, c, minus(), 10, -1);
  for (int i = 0; i < items; ++i) SAME(c[i], first + i >= 10 ? b[i] : first + i == 0 ? 1 : 2 * (first + i) - 1);
#ifndef AT_ONCE
  __syncthreads();
#endif
  Left(room.left).SubtractRightPartialTile(b, c, minus(), 10);
  for (int i = 0; i < items; ++i) SAME(c[i], first + i >= 9 ? b[i] : -2 * (first + i) - 1);
  __syncthreads();
  Left(room.left).SubtractRight(b, c, minus(), all * all);
  for (int i = 0; i < items; ++i) SAME(c[i], -2 * (first + i) - 1);
  __syncthreads();
  int other = -7;
  Shuffle(room.shuffle).Offset(t, other, -2);
  SAME(other, t < 2 ? -7 : t - 2);
  __syncthreads();
  Shuffle(room.shuffle).Rotate(t, other, 3);
  SAME(other, (t + 3) % threads);
  __syncthreads();
  b[0] = c[0] = -1;
  Shuffle(room.shuffle).Up(a, b, other);
  for (int i = 0; i < items; ++i) SAME(b[i], first + i - 1);
  SAME(other, all - 1);
  __syncthreads();
  c[items - 1] = all;
  Shuffle(room.shuffle).Down(a, c);
  for (int i = 0; i < items; ++i) SAME(c[i], first + i + 1);
  __syncthreads();
  __shared__ unsigned counts[16];
  unsigned char small[items];
  for (int i = 0; i < items; ++i) small[i] = (first + i) % 13;
  Bins(room.bins).Histogram(small, counts);
  __syncthreads();
  if (t < 16) SAME(counts[t], t >= 13 ? 0u : (all - t + 12u) / 13);
  __syncthreads();
  Scan(room.scan).InclusiveScan(a, b, 1000, cub::Sum());
  for (int i = 0; i < items; ++i) SAME(b[i], 1000 + (first + i) * (first + i + 1) / 2);
  __syncthreads();
  Scan(room.scan).ExclusiveScan(a, b, cub::Max(), other);
  for (int i = 0; i < items; ++i) if (first + i > 0) SAME(b[i], first + i - 1);
  SAME(other, all - 1);
  __syncthreads();
  Scan(room.scan).InclusiveScan(a, b, 1000, cub::Max(), other);
  for (int i = 0; i < items; ++i) SAME(b[i], 1000);
  SAME(other, all - 1);
  __syncthreads();
  const short narrow = t;
  Scan(room.scan).ExclusiveScan(narrow, other, cub::Max());
  if (t > 0) SAME(other, t - 1);
  // Each has storage of its own.
  Shuffle().Up(a, b); Heads().FlagHeads(heads, a, differ()); Left().SubtractLeft(a, b, minus());
}
__global__ void warps() {
  using Exchange = cub::WarpExchange<int, 2, 16>;
  using Sort = cub::WarpMergeSort<int, 2, 16>;
  __shared__ Exchange::TempStorage exchange[4];
  __shared__ Sort::TempStorage sort[4];
  __shared__ cub::WarpReduce<int>::TempStorage reduce[2];
  __shared__ cub::WarpScan<int>::TempStorage scan[2];
  const int t = threadIdx.x, lane = t % 32, part = t % 16;
  int a[2] = {2 * part, 2 * part + 1};
  Exchange(exchange[t / 16]).BlockedToStriped(a, a);
  SAME(a[0], part); SAME(a[1], part + 16);
  Sort(sort[t / 16]).Sort(a, greater());
  SAME(a[0], 31 - 2 * part); SAME(a[1], 30 - 2 * part);
  const int head = cub::WarpReduce<int>(reduce[t / 32]).HeadSegmentedSum(lane, lane % 5 == 0);
  if (lane % 5 == 0) SAME(head, lane == 30 ? 61 : 5 * lane + 10);
  const int tail = cub::WarpReduce<int>(reduce[t / 32]).TailSegmentedReduce(lane, lane % 5 == 0, cub::Max());
  if (lane % 5 == 1) SAME(tail, lane == 31 ? 31 : lane + 4);
  int before, whole;
  cub::WarpScan<int>(scan[t / 32]).ExclusiveScan(lane * 3, before, cub::Max(), whole);
  if (lane > 0) SAME(before, 3 * lane - 3);
  SAME(whole, 93);
  int inclusive;
  cub::WarpScan<int>(scan[t / 32]).Scan(1, inclusive, before, cub::Sum());
  SAME(inclusive, lane + 1); if (lane > 0) SAME(before, lane);
  SAME(cub::WarpScan<int>(scan[t / 32]).Broadcast(lane, 9), 9);
  cub::WarpScan<int>(scan[t / 32]).ExclusiveScan(lane, before, 7, cub::Sum(), whole);
  SAME(before, 7 + lane * (lane - 1) / 2); SAME(whole, 496);
  cub::WarpScan<int>(scan[t / 32]).InclusiveScan(lane, inclusive, 7, cub::Sum());
  SAME(inclusive, 7 + lane * (lane + 1) / 2);
  if (t < 16) Exchange(exchange[0]).StripedToBlocked(a, a);  // a part of a warp alone
  __syncthreads();
}
__global__ void part_of_a_warp(int* counts) {
  using Exchange = cub::WarpExchange<int, 2, 16>;
  __shared__ Exchange::TempStorage storage;
  int a[2] = {2 * (int)threadIdx.x, 2 * (int)threadIdx.x + 1};
  if (threadIdx.x < 16) { Exchange(storage).BlockedToStriped(a, a); SAME(a[1], threadIdx.x + 16); }
  __syncthreads();
  using Bins = cub::BlockHistogram<unsigned char, 32, 2, 4, cub::BLOCK_HISTO_ATOMIC>;
  unsigned char bins[2] = {1, 3};
  Bins().Composite(bins, counts);  // of all blocks
}
__global__ void fewer_than_a_warp() {
  __shared__ cub::WarpScan<int>::TempStorage scan;
  const int lane = threadIdx.x;
  int result, inclusive;
  cub::WarpScan<int>(scan).ExclusiveSum(lane, result);
  SAME(result, lane * (lane - 1) / 2);
  cub::WarpScan<int>(scan).InclusiveScan(lane, result, 7, cub::Sum());
  SAME(result, 7 + lane * (lane + 1) / 2);
  cub::WarpScan<int>(scan).Scan(lane, inclusive, result, 7, cub::Sum());
  SAME(result, 7 + lane * (lane - 1) / 2); SAME(inclusive, result + lane);
}
int main() {
  fewer_than_a_warp<<<1, 20>>>();
  block<<<2, threads>>>();
  warps<<<1, 64>>>();
  int* counts; cudaMalloc(&counts, 16); cudaMemset(counts, 0, 16);
  part_of_a_warp<<<500, 32>>>(counts);
  int last; cudaMemcpy(&last, counts + 3, 4, cudaMemcpyDeviceToHost);
  const int failed = cudaDeviceSynchronize();
  int found; cudaMemcpyFromSymbol(&found, wrong, 4);
  printf("%d %d %d\n", failed, found, last);
}
)cuda";

}  // namespace

TEST_CASE("cuBLAS gives the results of the library, on either side, and refuses what it refuses") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "blas.cu").string();
  lab::test::put(source, blas_calls);
  const lab::test::strings results{"vectors 5 26 8 2\n",
                                   "dot 26\naxpy 3 -4 78 -103\n",
                                   "products 0\n",
                                   "solved 1 2 3.4\n",
                                   "there and back 1 2 3 4 5 6\n",
                                   "ger 5 10 8 14 11 18\n",
                                   "syrk 17 7 7 22 29 7 27 36 45\n",
                                   "symv 142 188 234\n",
                                   "backwards 10 28\n",
                                   "geam 2 5 8 6 9 12\n",
                                   "complex 0 30\ndot -10 28\n",
                                   "batched 14 77\n",
                                   "cleared 0 0\n",
                                   "by type 14 77\n",
                                   "halves 10 26\n",
                                   "** On entry to SGEMV parameter number 6",
                                   "** On entry to SGEMM parameter number 8",
                                   "refused 7 7 no error\n"};
  expect(emulate({source}), 0, results);
  if (!LAB_WITH_OBSERVED) return;
  const lab::test::outcome observed = emulate({"--observe", source});
  expect(observed, 0, results);
  CHECK(observed.text.find("lab: ") == std::string::npos);
  // A fault within the library is one of the call.
  expect(emulate({source, "--", "too far"}), 9,
         {"fault: ", "blas.cu:85: in a library's kernel, ", "reads 4 bytes at "});
}

TEST_CASE("CUB's sorts, exchanges, neighbours and histograms of a block, and its parts of a warp") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "items.cu").string();
  lab::test::put(source, items);
  expect(emulate({source}), 0, {"0 0 16000\n"});
  if (LAB_WITH_OBSERVED) expect(emulate({"--observe", source}), 0, {"0 0 16000\n"});
  expect(emulate({"-DAT_ONCE", source}), 1,
         {" uses a TempStorage that the collective at ", "items.cu:81 has used, "});
}

TEST_CASE("CUB's scans behind a prefix and its algorithms, 16-bit words and complex numbers") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "collectives.cu").string();
  lab::test::put(source, collectives);
  const std::string expected =
      "scans 0, doubled 0, 163 parts 103 1, sorted 1, bulk 299, extent 5 68, tanh 2.5, words 0 384 0, "
      "complex 5 25 -4";
  expect(emulate({source}), 0, {expected});
  if (LAB_WITH_OBSERVED) expect(emulate({"--observe", source}), 0, {expected});
}

TEST_CASE("a generator of the host fills an array, in whatever order it is asked for") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "numbers.cu").string();
  lab::test::put(source, host_generator);
  expect(emulate({source}), 0, {"1\n"});
}

TEST_CASE("the elements of zipped vectors are exchanged together") {
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "exchanged.cu").string();
  lab::test::put(source, exchanged);
  expect(emulate({source}), 0, {"100 1050 1000\n1 0 5050 -1 -2\n"});
}
