// The ceiling of the matrix units: a kernel of nothing but products, of tiles in shared memory that
// warpgroups read (wgmma), or of fragments in registers (mma.sync) where code is not for compute capability
// 9.0 alone. The factors are random, since zeros take less power, and the clock is higher for them.
#include <cmath>

#include "common/multiprocessors.hpp"
#include "common/random.hpp"
#include "common/tensor_copy.hpp"
#include "common/warpgroup_matrix.hpp"
#include "harness/device/kernels.hpp"

namespace lab {
namespace {

constexpr int groups = 2;  // of 128 threads, each with 64 rows of A
constexpr int block_threads = groups * 128;
constexpr int columns = 256;
constexpr int depth = 64;  // 128 bytes of a row
constexpr int a_bytes = groups * 64 * depth * 2;
constexpr int tiles_bytes = a_bytes + columns * depth * 2;

// Two random bfloat16 in (-2, 2), of at least 1 in magnitude.
__device__ unsigned random_pair(int index) {
  return (static_cast<unsigned>(random_bits(1, static_cast<std::uint64_t>(index))) & 0x807f807fU) |
         0x3f803f80U;
}

__global__ void __launch_bounds__(block_threads, 1) matrix_kernel(std::int64_t turns, float* never_written) {
  const auto thread = static_cast<int>(threadIdx.x);
  float total = 0;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  auto* const tiles = tensor_shared<unsigned>();
  for (int i = thread; i < tiles_bytes / 4; i += block_threads) tiles[i] = random_pair(i);
  fence_proxy_async();
  __syncthreads();
  const matrix_descriptor a =
      make_matrix_descriptor(tiles + thread / 128 * 64 * depth / 2, swizzle::bytes_128, 128, 1024);
  const matrix_descriptor b =
      make_matrix_descriptor(tiles + a_bytes / 4, swizzle::bytes_128, depth * 128, 1024);
  float sums[columns / 2] = {};
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    wgmma_fence(sums);
#pragma unroll
    for (int k = 0; k < depth; k += 16)
      wgmma_m64k16<__nv_bfloat16, major::k, major::mn>(sums, a.advanced(2 * k), b.advanced(128 * k), true);
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>(sums);
#pragma unroll
  for (const float sum : sums) total += sum;
#else
  const unsigned a[4] = {random_pair(thread), random_pair(thread + 1), random_pair(thread + 2),
                         random_pair(thread + 3)};
  const unsigned b[2] = {random_pair(thread + 4), random_pair(thread + 5)};
  float sums[columns / 8][4] = {};
  for (std::int64_t turn = 0; turn < turns * (depth / 16); ++turn) {
#pragma unroll
    for (auto& four : sums) mma_bf16_m16n8k16(four, a, b, four);
  }
#pragma unroll
  for (const auto& four : sums) total += four[0] + four[1] + four[2] + four[3];
#endif
  if (never_written != nullptr) *never_written = total;
}

}  // namespace

double multiply_matrices_all(double operations, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(multiprocessors());
  const double each_turn = 2.0 * groups * 64 * columns * depth * blocks;
  const auto turns = static_cast<std::int64_t>(std::ceil(operations / each_turn));
  launch(matrix_kernel, dim3(blocks), dim3(block_threads), tiles_bytes, stream, turns, nullptr);
  return static_cast<double>(turns) * each_turn;
}

}  // namespace lab
