// The standard repertory of kernels, each as it is taught, in sizes whose counters follow by hand.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda.hpp"
#include "tests/device_array.hpp"
#include "tests/textbook/textbook.hpp"

namespace lab::textbook {
namespace {

constexpr int n = 1024, block = 256, side = 64;

template <class T>
using array = test::device_array<T>;

// Small whole numbers: sums of them are exact in any order.
std::vector<float> numbers(int count, int modulus = 7) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) values[static_cast<std::size_t>(k)] = static_cast<float>(k * 5 % modulus);
  return values;
}
std::vector<int> whole(int count, int modulus) {
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) values[static_cast<std::size_t>(k)] = k * 37 % modulus;
  return values;
}

template <class T>
void expect(const array<T>& found, const std::vector<T>& wanted, double tolerance = 0) {
  const std::vector<T> values = found.values();
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!(std::abs(static_cast<double>(values[k]) - static_cast<double>(wanted[k])) <= tolerance)) {
      throw std::runtime_error("element " + std::to_string(k) + " is " + std::to_string(values[k]) +
                               ", not " + std::to_string(wanted[k]));
    }
  }
}

template <class... Parameters, class... Arguments>
void go(void (*kernel)(Parameters...), dim3 grid, dim3 threads, std::size_t shared,
        Arguments&&... arguments) {
  launch(kernel, grid, threads, shared, nullptr, std::forward<Arguments>(arguments)...);
  CUDA_CHECK(cudaDeviceSynchronize());
}

__device__ __forceinline__ int global_thread() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// ---- element by element

__global__ void saxpy(float a, const float* x, const float* y, float* z) {
  const int i = global_thread();
  z[i] = a * x[i] + y[i];
}
__global__ void saxpy_strided(float a, const float* x, const float* y, float* z, int count) {
  for (int i = global_thread(); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
    z[i] = a * x[i] + y[i];
}
__global__ void saxpy_vectors(float a, const float4* x, const float4* y, float4* z) {
  const int i = global_thread();
  const float4 u = x[i], v = y[i];
  z[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}

template <int variant>
void run_saxpy() {
  const auto x = numbers(n), y = numbers(n, 11);
  std::vector<float> wanted(n);
  for (std::size_t k = 0; k < n; ++k) wanted[k] = 2 * x[k] + y[k];
  const array<float> dx(x), dy(y), dz(n);
  if constexpr (variant == 0) go(saxpy, n / block, block, 0, 2.0f, dx, dy, dz);
  if constexpr (variant == 1) go(saxpy_strided, 2, block, 0, 2.0f, dx, dy, dz, n);
  if constexpr (variant == 2) {
    go(saxpy_vectors, 1, block, 0, 2.0f, reinterpret_cast<const float4*>(static_cast<float*>(dx)),
       reinterpret_cast<const float4*>(static_cast<float*>(dy)),
       reinterpret_cast<float4*>(static_cast<float*>(dz)));
  }
  expect(dz, wanted);
}

__global__ void reverse(const int* from, int* to) {
  __shared__ int tile[block];
  const unsigned i = threadIdx.x;
  tile[i] = from[blockIdx.x * block + i];
  __syncthreads();
  to[(gridDim.x - 1 - blockIdx.x) * block + i] = tile[block - 1 - i];
}
void run_reverse() {
  auto values = whole(n, 1009);
  const array<int> from(values), to(n);
  go(reverse, n / block, block, 0, from, to);
  std::reverse(values.begin(), values.end());
  expect(to, values);
}

__global__ void gather(const float* from, const int* index, float* to) {
  const int i = global_thread();
  to[i] = from[index[i]];
}
__global__ void scatter(const float* from, const int* index, float* to) {
  const int i = global_thread();
  to[index[i]] = from[i];
}
template <bool is_scatter>
void run_permutation() {
  const auto values = numbers(n, 101);
  std::vector<int> index(n);
  std::vector<float> wanted(n);
  for (int k = 0; k < n; ++k) index[static_cast<std::size_t>(k)] = k * 33 % n;
  for (std::size_t k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(index[k]);
    (is_scatter ? wanted[at] : wanted[k]) = is_scatter ? values[k] : values[at];
  }
  const array<float> from(values), to(n);
  const array<int> where(index);
  go(is_scatter ? scatter : gather, n / block, block, 0, from, where, to);
  expect(to, wanted);
}

// ---- transpositions

__global__ void transpose_naive(const float* from, float* to) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  to[x * side + y] = from[y * side + x];
}
template <int padding>
__global__ void transpose_tile(const float* from, float* to) {
  __shared__ float tile[32][32 + padding];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = from[(y + k) * side + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) to[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
}
// Columns are turned within each row, so that a column lies in 32 banks without padding.
__global__ void transpose_swizzled(const float* from, float* to) {
  __shared__ float tile[32][32];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x ^ (threadIdx.y + k)] = from[(y + k) * side + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8)
    to[(y + k) * side + x] = tile[threadIdx.x][(threadIdx.y + k) ^ threadIdx.x];
}
template <int variant>
void run_transpose() {
  const auto values = numbers(side * side, 1013);
  std::vector<float> wanted(values.size());
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) wanted[x * side + y] = values[y * side + x];
  }
  const array<float> from(values), to(values.size());
  if constexpr (variant == 0) go(transpose_naive, dim3(side / 32, side / 8), dim3(32, 8), 0, from, to);
  if constexpr (variant == 1) go(transpose_tile<0>, dim3(side / 32, side / 32), dim3(32, 8), 0, from, to);
  if constexpr (variant == 2) go(transpose_tile<1>, dim3(side / 32, side / 32), dim3(32, 8), 0, from, to);
  if constexpr (variant == 3) go(transpose_swizzled, dim3(side / 32, side / 32), dim3(32, 8), 0, from, to);
  expect(to, wanted);
}

// ---- reductions: a block's sum, by M. Harris' steps and behind them

__global__ void sum_interleaved(const float* from, float* to) {
  __shared__ float part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[blockIdx.x * block + i];
  __syncthreads();
  for (unsigned step = 1; step < block; step *= 2) {
    if (i % (2 * step) == 0) part[i] += part[i + step];
    __syncthreads();
  }
  if (i == 0) to[blockIdx.x] = part[0];
}
__global__ void sum_strided_index(const float* from, float* to) {
  __shared__ float part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[blockIdx.x * block + i];
  __syncthreads();
  for (unsigned step = 1; step < block; step *= 2) {
    const unsigned at = 2 * step * i;
    if (at < block) part[at] += part[at + step];
    __syncthreads();
  }
  if (i == 0) to[blockIdx.x] = part[0];
}
__global__ void sum_sequential(const float* from, float* to) {
  __shared__ float part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[blockIdx.x * block + i];
  __syncthreads();
  for (unsigned half = block / 2; half > 0; half /= 2) {
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  if (i == 0) to[blockIdx.x] = part[0];
}
__device__ __forceinline__ float warp_sum(float value) {
  for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  return value;
}
__global__ void sum_last_warp(const float* from, float* to) {
  __shared__ float part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[blockIdx.x * block + i];
  __syncthreads();
  for (unsigned half = block / 2; half >= 64; half /= 2) {
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  if (i >= 32) return;
  const float sum = warp_sum(part[i] + part[i + 32]);
  if (i == 0) to[blockIdx.x] = sum;
}
__global__ void sum_shuffles(const float* from, float* to) {
  __shared__ float part[block / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = warp_sum(from[blockIdx.x * block + threadIdx.x]);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = warp_sum(lane < block / 32 ? part[lane] : 0);
  if (lane == 0) to[blockIdx.x] = sum;
}
__global__ void sum_atomic(const float* from, float* to) {
  const float sum = warp_sum(from[blockIdx.x * block + threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(&to[blockIdx.x], sum);
}
using reduction = void(const float*, float*);
template <reduction* kernel>
void run_sum() {
  const auto values = numbers(n);
  std::vector<float> wanted(n / block);
  for (std::size_t k = 0; k < n; ++k) wanted[k / block] += values[k];
  const array<float> from(values), to(n / block);
  go(kernel, n / block, block, 0, from, to);
  expect(to, wanted);
}

__device__ unsigned tickets = 0;
__global__ void sum_one_pass(const float* from, float* partial, float* to) {
  __shared__ bool is_last;
  const float sum = warp_sum(from[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  const float total = warp_sum(partial[threadIdx.x]);
  if (threadIdx.x == 0) *to = total;
}
void run_one_pass() {
  const auto values = numbers(n);
  const array<float> from(values), partial(32), to(1);
  go(sum_one_pass, 32, 32, 0, from, partial, to);
  float wanted = 0;
  for (const float value : values) wanted += value;
  expect(to, {wanted});
}

__global__ void dot(const float* a, const float* b, float* to) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) sum += a[i] * b[i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) *to = sum;
}
void run_dot() {
  const auto a = numbers(n), b = numbers(n, 3);
  float wanted = 0;
  for (std::size_t k = 0; k < n; ++k) wanted += a[k] * b[k];
  const array<float> da(a), db(b), to(1);
  go(dot, 1, 32, 0, da, db, to);
  expect(to, {wanted});
}

// ---- scans of a block, and what is made of them

__global__ void scan_hillis_steele(const int* from, int* to) {
  __shared__ int buffer[2][block];
  const int i = static_cast<int>(threadIdx.x);
  int in = 0;
  buffer[0][i] = from[i];
  __syncthreads();
  for (int distance = 1; distance < block; distance *= 2) {
    buffer[1 - in][i] = buffer[in][i] + (i >= distance ? buffer[in][i - distance] : 0);
    in = 1 - in;
    __syncthreads();
  }
  to[i] = buffer[in][i];
}
// G. Blelloch's, exclusive, then made inclusive.
__global__ void scan_blelloch(const int* from, int* to) {
  __shared__ int part[block];
  const int i = static_cast<int>(threadIdx.x);
  const int mine = part[i] = from[i];
  __syncthreads();
  for (int step = 1; step < block; step *= 2) {
    const int at = (i + 1) * 2 * step - 1;
    if (at < block) part[at] += part[at - step];
    __syncthreads();
  }
  if (i == 0) part[block - 1] = 0;
  __syncthreads();
  for (int step = block / 2; step > 0; step /= 2) {
    const int at = (i + 1) * 2 * step - 1;
    if (at < block) {
      const int left = part[at - step];
      part[at - step] = part[at];
      part[at] += left;
    }
    __syncthreads();
  }
  to[i] = part[i] + mine;
}
__device__ __forceinline__ int warp_scan(int value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}
__global__ void scan_warps(const int* from, int* to) {
  __shared__ int sums[block / 32];
  const unsigned i = threadIdx.x, warp = i / 32;
  const int mine = warp_scan(from[i]);
  if (i % 32 == 31) sums[warp] = mine;
  __syncthreads();
  int before = 0;
  for (unsigned k = 0; k < warp; ++k) before += sums[k];
  to[i] = before + mine;
}
template <void kernel(const int*, int*)>
void run_scan() {
  const auto values = whole(block, 13);
  std::vector<int> wanted(values);
  for (std::size_t k = 1; k < wanted.size(); ++k) wanted[k] += wanted[k - 1];
  const array<int> from(values), to(block);
  go(kernel, 1, block, 0, from, to);
  expect(to, wanted);
}

__global__ void keep_odd(const int* from, int* to, int* count) {
  __shared__ int sums[block / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int value = from[threadIdx.x];
  const unsigned kept = __ballot_sync(~0u, value % 2);
  if (lane == 0) sums[warp] = __popc(kept);
  __syncthreads();
  int at = __popc(kept & ((1u << lane) - 1));
  for (unsigned k = 0; k < warp; ++k) at += sums[k];
  if (value % 2 != 0) to[at] = value;
  if (threadIdx.x == block - 1) *count = at + value % 2;
}
void run_compaction() {
  const auto values = whole(block, 251);
  std::vector<int> wanted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(wanted),
               [](int value) { return value % 2 != 0; });
  const array<int> from(values), to(block), count(1);
  go(keep_odd, 1, block, 0, from, to, count);
  expect(to, wanted);
  expect(count, {static_cast<int>(wanted.size())});
}

// ---- histograms and sorts

__global__ void histogram_global(const int* from, int* bins) {
  atomicAdd(&bins[from[global_thread()]], 1);
}
__global__ void histogram_shared(const int* from, int* bins) {
  __shared__ int mine[64];
  if (threadIdx.x < 64) mine[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&mine[from[global_thread()]], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
template <void kernel(const int*, int*)>
void run_histogram() {
  const auto values = whole(n, 64);
  std::vector<int> wanted(64);
  for (const int value : values) ++wanted[static_cast<std::size_t>(value)];
  const array<int> from(values), bins(64);
  go(kernel, n / block, block, 0, from, bins);
  expect(bins, wanted);
}

__global__ void sort_bitonic(int* values) {
  __shared__ int tile[block];
  const unsigned i = threadIdx.x;
  tile[i] = values[i];
  __syncthreads();
  for (unsigned run = 2; run <= block; run *= 2) {
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      const unsigned other = i ^ distance;
      if (other > i && (tile[i] > tile[other]) == ((i & run) == 0)) {
        const int kept = tile[i];
        tile[i] = tile[other];
        tile[other] = kept;
      }
      __syncthreads();
    }
  }
  values[i] = tile[i];
}
__global__ void sort_odd_even(int* values) {
  __shared__ int tile[block];
  const unsigned i = threadIdx.x;
  tile[i] = values[i];
  __syncthreads();
  for (unsigned round = 0; round < block; ++round) {
    if (i % 2 == round % 2 && i + 1 < block && tile[i] > tile[i + 1]) {
      const int kept = tile[i];
      tile[i] = tile[i + 1];
      tile[i + 1] = kept;
    }
    __syncthreads();
  }
  values[i] = tile[i];
}
__global__ void sort_by_rank(int* values) {
  __shared__ int tile[block];
  const unsigned i = threadIdx.x;
  const int mine = tile[i] = values[i];
  __syncthreads();
  unsigned rank = 0;
  for (unsigned k = 0; k < block; ++k) rank += tile[k] < mine || (tile[k] == mine && k < i);
  values[rank] = mine;
}
// One bit after the other, each a stable partition.
__global__ void sort_radix(int* values) {
  __shared__ int tile[block];
  __shared__ int sums[block / 32];
  const unsigned i = threadIdx.x, warp = i / 32, below = (1u << i % 32) - 1;
  tile[i] = values[i];
  __syncthreads();
  for (int bit = 0; bit < 8; ++bit) {
    const int mine = tile[i];
    const unsigned zeros = __ballot_sync(~0u, (mine >> bit & 1) == 0);
    if (i % 32 == 0) sums[warp] = __popc(zeros);
    __syncthreads();
    int before = __popc(zeros & below), all = 0;
    for (unsigned k = 0; k < block / 32; ++k) {
      if (k < warp) before += sums[k];
      all += sums[k];
    }
    const int at = (mine >> bit & 1) == 0 ? before : all + static_cast<int>(i) - before;
    tile[at] = mine;
    __syncthreads();
  }
  values[i] = tile[i];
}
template <void kernel(int*)>
void run_sort() {
  auto values = whole(block, 251);
  const array<int> data(values);
  go(kernel, 1, block, 0, data);
  std::sort(values.begin(), values.end());
  expect(data, values);
}

// ---- stencils

__global__ void stencil_global(const float* from, float* to) {
  const int i = global_thread();
  float sum = 0;
  for (int k = -2; k <= 2; ++k) sum += from[i + 2 + k];
  to[i] = sum;
}
__global__ void stencil_tile(const float* from, float* to) {
  __shared__ float tile[block + 4];
  const unsigned i = threadIdx.x, begin = blockIdx.x * block;
  tile[i] = from[begin + i];
  if (i < 4) tile[block + i] = from[begin + block + i];
  __syncthreads();
  float sum = 0;
  for (unsigned k = 0; k < 5; ++k) sum += tile[i + k];
  to[begin + i] = sum;
}
__constant__ float weights[5] = {1, 1, 1, 1, 1};
__global__ void convolution_constant(const float* from, float* to) {
  const int i = global_thread();
  float sum = 0;
  for (int k = 0; k < 5; ++k) sum += weights[k] * from[i + k];
  to[i] = sum;
}
template <void kernel(const float*, float*)>
void run_stencil() {
  const auto values = numbers(n + 4);
  std::vector<float> wanted(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < 5; ++j) wanted[k] += values[k + j];
  }
  const array<float> from(values), to(n);
  go(kernel, n / block, block, 0, from, to);
  expect(to, wanted);
}
__global__ void jacobi(const float* from, float* to) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, at = y * side + x;
  if (x == 0 || y == 0 || x == side - 1 || y == side - 1) return;
  to[at] = from[at - 1] + from[at + 1] + from[at - side] + from[at + side];
}
void run_jacobi() {
  const auto values = numbers(side * side);
  std::vector<float> wanted(values.size());
  for (std::size_t at = side; at < values.size() - side; ++at) {
    if (at % side != 0 && at % side != side - 1)
      wanted[at] = values[at - 1] + values[at + 1] + values[at - side] + values[at + side];
  }
  const array<float> from(values), to(values.size());
  go(jacobi, dim3(side / 32, side / 8), dim3(32, 8), 0, from, to);
  expect(to, wanted);
}

// ---- matrix products in six steps

__global__ void product_columns_first(const float* a, const float* b, float* c) {
  const unsigned row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (unsigned k = 0; k < side; ++k) sum += a[row * side + k] * b[k * side + column];
  c[row * side + column] = sum;
}
__global__ void product_rows_first(const float* a, const float* b, float* c) {
  const unsigned column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (unsigned k = 0; k < side; ++k) sum += a[row * side + k] * b[k * side + column];
  c[row * side + column] = sum;
}
__global__ void product_tiles(const float* a, const float* b, float* c) {
  __shared__ float of_a[16][16], of_b[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (unsigned begin = 0; begin < side; begin += 16) {
    of_a[y][x] = a[row * side + begin + x];
    of_b[y][x] = b[(begin + y) * side + column];
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum += of_a[y][k] * of_b[k][x];
    __syncthreads();
  }
  c[row * side + column] = sum;
}
// Each thread computes four elements of a column.
__global__ void product_four_rows(const float* a, const float* b, float* c) {
  __shared__ float of_a[16][16], of_b[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16;
  float sum[4] = {};
  for (unsigned begin = 0; begin < side; begin += 16) {
    for (unsigned k = y; k < 16; k += 4) {
      of_a[k][x] = a[(row + k) * side + begin + x];
      of_b[k][x] = b[(begin + k) * side + column];
    }
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) {
      const float right = of_b[k][x];
      for (unsigned j = 0; j < 4; ++j) sum[j] += of_a[y + 4 * j][k] * right;
    }
    __syncthreads();
  }
  for (unsigned j = 0; j < 4; ++j) c[(row + y + 4 * j) * side + column] = sum[j];
}
// Each thread computes two by two.
__global__ void product_two_by_two(const float* a, const float* b, float* c) {
  __shared__ float of_a[16][16], of_b[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16, row = blockIdx.y * 16;
  float sum[2][2] = {};
  for (unsigned begin = 0; begin < side; begin += 16) {
    for (unsigned k = y * 8 + x; k < 256; k += 64) {
      of_a[k / 16][k % 16] = a[(row + k / 16) * side + begin + k % 16];
      of_b[k / 16][k % 16] = b[(begin + k / 16) * side + column + k % 16];
    }
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) {
      for (unsigned i = 0; i < 2; ++i) {
        for (unsigned j = 0; j < 2; ++j) sum[i][j] += of_a[y + 8 * i][k] * of_b[k][x + 8 * j];
      }
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 2; ++j) c[(row + y + 8 * i) * side + column + x + 8 * j] = sum[i][j];
  }
}
// Tiles in two buffers: one is filled while the other is used, with one barrier a round.
__global__ void product_two_buffers(const float* a, const float* b, float* c) {
  __shared__ float of_a[2][16][16], of_b[2][16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  of_a[0][y][x] = a[row * side + x];
  of_b[0][y][x] = b[y * side + column];
  __syncthreads();
  for (unsigned begin = 0, now = 0; begin < side; begin += 16, now = 1 - now) {
    if (begin + 16 < side) {
      of_a[1 - now][y][x] = a[row * side + begin + 16 + x];
      of_b[1 - now][y][x] = b[(begin + 16 + y) * side + column];
    }
    for (unsigned k = 0; k < 16; ++k) sum += of_a[now][y][k] * of_b[now][k][x];
    __syncthreads();
  }
  c[row * side + column] = sum;
}
using product = void(const float*, const float*, float*);
template <product* kernel, unsigned x, unsigned y>
void run_product() {
  const auto a = numbers(side * side), b = numbers(side * side, 5);
  std::vector<float> wanted(a.size());
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t k = 0; k < side; ++k) {
      for (std::size_t column = 0; column < side; ++column)
        wanted[row * side + column] += a[row * side + k] * b[k * side + column];
    }
  }
  const array<float> da(a), db(b), dc(a.size());
  go(kernel, dim3(side / 16, side / 16), dim3(x, y), 0, da, db, dc);
  expect(dc, wanted);
}

__global__ void product_vector(const float* a, const float* x, float* y) {
  float sum = 0;
  for (unsigned k = threadIdx.x; k < side; k += 32) sum += a[blockIdx.x * side + k] * x[k];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
void run_product_vector() {
  const auto a = numbers(side * side), x = numbers(side, 5);
  std::vector<float> wanted(side);
  for (std::size_t k = 0; k < a.size(); ++k) wanted[k / side] += a[k] * x[k % side];
  const array<float> da(a), dx(x), dy(side);
  go(product_vector, side, 32, 0, da, dx, dy);
  expect(dy, wanted);
}

// ---- rows: softmax, layer norm

__device__ __forceinline__ float all_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
}
__global__ void softmax_warp(const float* from, float* to) {
  const unsigned at = blockIdx.x * side + threadIdx.x;
  const float a = from[at], b = from[at + 32];
  float most = fmaxf(a, b);
  for (int distance = 16; distance > 0; distance /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
  const float ea = expf(a - most), eb = expf(b - most), sum = all_sum(ea + eb);
  to[at] = ea / sum;
  to[at + 32] = eb / sum;
}
// The barrier between reading the greatest and writing the sum into the same memory is the one that is
// forgotten.
__global__ void softmax_block(const float* from, float* to) {
  __shared__ float part[side];
  const unsigned i = threadIdx.x;
  const float mine = from[blockIdx.x * side + i];
  part[i] = mine;
  __syncthreads();
  for (unsigned half = side / 2; half > 0; half /= 2) {
    if (i < half) part[i] = fmaxf(part[i], part[i + half]);
    __syncthreads();
  }
  const float power = expf(mine - part[0]);
  __syncthreads();
  part[i] = power;
  __syncthreads();
  for (unsigned half = side / 2; half > 0; half /= 2) {
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  to[blockIdx.x * side + i] = power / part[0];
}
template <void kernel(const float*, float*), unsigned threads>
void run_softmax() {
  const auto values = numbers(side * side);
  std::vector<float> wanted(values.size());
  for (std::size_t row = 0; row < values.size(); row += side) {
    double sum = 0;
    for (std::size_t k = 0; k < side; ++k) sum += std::exp(static_cast<double>(values[row + k]));
    for (std::size_t k = 0; k < side; ++k)
      wanted[row + k] = static_cast<float>(std::exp(static_cast<double>(values[row + k])) / sum);
  }
  const array<float> from(values), to(values.size());
  go(kernel, side, threads, 0, from, to);
  expect(to, wanted, 1e-6);
}
__global__ void layer_norm(const float* from, float* to) {
  const unsigned at = blockIdx.x * side + threadIdx.x;
  const float a = from[at], b = from[at + 32], mean = all_sum(a + b) / side;
  const float scale = 1 / sqrtf(all_sum((a - mean) * (a - mean) + (b - mean) * (b - mean)) / side + 1e-5f);
  to[at] = (a - mean) * scale;
  to[at + 32] = (b - mean) * scale;
}
void run_layer_norm() {
  const auto values = numbers(side * side);
  std::vector<float> wanted(values.size());
  for (std::size_t row = 0; row < values.size(); row += side) {
    double mean = 0, spread = 0;
    for (std::size_t k = 0; k < side; ++k) mean += static_cast<double>(values[row + k]) / side;
    for (std::size_t k = 0; k < side; ++k)
      spread += std::pow(static_cast<double>(values[row + k]) - mean, 2) / side;
    for (std::size_t k = 0; k < side; ++k)
      wanted[row + k] =
          static_cast<float>((static_cast<double>(values[row + k]) - mean) / std::sqrt(spread + 1e-5));
  }
  const array<float> from(values), to(values.size());
  go(layer_norm, side, 32, 0, from, to);
  expect(to, wanted, 1e-5);
}

// ---- many bodies, a graph, a fractal

template <bool tiles>
__global__ void attraction(const float* position, float* force) {
  __shared__ float tile[block];
  const unsigned i = blockIdx.x * block + threadIdx.x;
  const float mine = position[i];
  float sum = 0;
  for (unsigned begin = 0; begin < n; begin += block) {
    if constexpr (tiles) {
      tile[threadIdx.x] = position[begin + threadIdx.x];
      __syncthreads();
    }
    for (unsigned k = 0; k < block; ++k) sum += (tiles ? tile[k] : position[begin + k]) - mine;
    if constexpr (tiles) __syncthreads();
  }
  force[i] = sum;
}
template <bool tiles>
void run_bodies() {
  const auto values = numbers(n);
  float all = 0;
  for (const float value : values) all += value;
  std::vector<float> wanted(n);
  for (std::size_t k = 0; k < n; ++k) wanted[k] = all - n * values[k];
  const array<float> from(values), to(n);
  go(attraction<tiles>, n / block, block, 0, from, to);
  expect(to, wanted);
}
// Breadth first, one level a launch; a frontier finds its neighbours with an atomic, so that each is found
// once.
__global__ void search_level(const int* edges, int* level, int current) {
  const int vertex = global_thread();
  if (atomicAdd(&level[vertex], 0) != current) return;
  for (int k = 0; k < 2; ++k) atomicCAS(&level[edges[2 * vertex + k]], -1, current + 1);
}
void run_search() {
  std::vector<int> edges(2 * block), level(block, -1);
  for (int k = 0; k < 2 * block; ++k)
    edges[static_cast<std::size_t>(k)] = (k / 2 * 3 + 1 + 7 * (k % 2)) % block;
  for (std::size_t k = 0; k < block; k += 8) level[k] = 0;
  const array<int> graph(edges), found(level);
  go(search_level, 4, block / 4, 0, graph, found, 0);
  auto wanted = level;
  for (std::size_t k = 0; k < block; ++k) {
    for (std::size_t j = 0; level[k] == 0 && j < 2; ++j) {
      int& next = wanted[static_cast<std::size_t>(edges[2 * k + j])];
      if (next == -1) next = 1;
    }
  }
  expect(found, wanted);
}
__global__ void collatz(int* steps) {
  const int i = global_thread();
  int value = i + 1, count = 0;
  for (; value != 1; ++count) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  steps[i] = count;
}
void run_collatz() {
  std::vector<int> wanted(n);
  for (int k = 0; k < n; ++k) {
    for (long value = k + 1; value != 1; ++wanted[static_cast<std::size_t>(k)])
      value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  }
  const array<int> steps(n);
  go(collatz, n / block, block, 0, steps);
  expect(steps, wanted);
}

}  // namespace

const std::vector<example>& examples() {
  static const std::vector<example> all{
      {"saxpy", run_saxpy<0>},
      {"saxpy, grid-stride loop", run_saxpy<1>},
      {"saxpy, vectors", run_saxpy<2>},
      {"reverse", run_reverse},
      {"gather", run_permutation<false>},
      {"scatter", run_permutation<true>},
      {"transpose, naive", run_transpose<0>},
      {"transpose, tile", run_transpose<1>},
      {"transpose, padded tile", run_transpose<2>},
      {"transpose, swizzled tile", run_transpose<3>},
      {"sum, interleaved", run_sum<sum_interleaved>},
      {"sum, strided index", run_sum<sum_strided_index>},
      {"sum, sequential", run_sum<sum_sequential>},
      {"sum, last warp by shuffles", run_sum<sum_last_warp>},
      {"sum, shuffles", run_sum<sum_shuffles>},
      {"sum, atomic", run_sum<sum_atomic>},
      {"sum, one pass", run_one_pass},
      {"dot product", run_dot},
      {"scan, Hillis and Steele", run_scan<scan_hillis_steele>},
      {"scan, Blelloch", run_scan<scan_blelloch>},
      {"scan, warps", run_scan<scan_warps>},
      {"stream compaction", run_compaction},
      {"histogram, global", run_histogram<histogram_global>},
      {"histogram, shared", run_histogram<histogram_shared>},
      {"sort, bitonic", run_sort<sort_bitonic>},
      {"sort, odd-even", run_sort<sort_odd_even>},
      {"sort, rank", run_sort<sort_by_rank>},
      {"sort, radix", run_sort<sort_radix>},
      {"stencil, global", run_stencil<stencil_global>},
      {"stencil, tile", run_stencil<stencil_tile>},
      {"convolution, constant memory", run_stencil<convolution_constant>},
      {"Jacobi", run_jacobi},
      {"product, columns first", run_product<product_columns_first, 16, 16>},
      {"product, rows first", run_product<product_rows_first, 16, 16>},
      {"product, tiles", run_product<product_tiles, 16, 16>},
      {"product, four rows", run_product<product_four_rows, 16, 4>},
      {"product, two by two", run_product<product_two_by_two, 8, 8>},
      {"product, two buffers", run_product<product_two_buffers, 16, 16>},
      {"product with a vector", run_product_vector},
      {"softmax, warp", run_softmax<softmax_warp, 32>},
      {"softmax, block", run_softmax<softmax_block, side>},
      {"layer norm", run_layer_norm},
      {"bodies, global", run_bodies<false>},
      {"bodies, tiles", run_bodies<true>},
      {"breadth-first search", run_search},
      {"Collatz", run_collatz}};
  return all;
}

}  // namespace lab::textbook
