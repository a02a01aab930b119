// Kernels for the tests of common/warpgroup_matrix.hpp: on the emulator
// (tests/emulator/warpgroup_matrix_test.cpp), and on a GPU (warpgroup_matrix_gpu.cu).
#pragma once

#include <cstdint>

#include "common/bulk_copy.hpp"
#include "common/warpgroup_matrix.hpp"
#include "tests/matrix/matrix_kernels.hpp"

namespace lab::warpgroup_test {

using matrix_test::factor;

constexpr int m = 64, depth = 32, steps = depth / 16;

// A tile of `extent` x `depth` numbers of 16 bits in shared memory: lines of the swizzle's bytes, or of 16.
template <swizzle pattern, major order, int extent>
struct tile_layout {
  static constexpr int line = pattern == swizzle::none ? 16 : static_cast<int>(pattern), in_line = line / 2;
  static constexpr int bytes = order == major::k ? (depth + in_line - 1) / in_line * extent * line
                                                 : (extent + in_line - 1) / in_line * depth * line;

  static __device__ unsigned offset(int mn, int k) {
    const int plain = order == major::k ? k / in_line * extent * line + mn * line + k % in_line * 2
                                        : mn / in_line * depth * line + k * line + mn % in_line * 2;
    return swizzled(pattern, static_cast<unsigned>(plain));
  }
  static __device__ matrix_descriptor describe(const unsigned char* tile, int step) {
    if (order == major::k)
      return make_matrix_descriptor(tile, pattern, extent * line, 8 * line)
          .advanced(16 * step / in_line * extent * line + 16 * step % in_line * 2);
    const int next_8_of_k = 8 * line, next_line_of_mn = depth * line;
    return (pattern == swizzle::none ? make_matrix_descriptor(tile, pattern, next_8_of_k, next_line_of_mn)
                                     : make_matrix_descriptor(tile, pattern, next_line_of_mn, next_8_of_k))
        .advanced(16 * step * line);
  }
};

// D = A B, and once more added with the sign of `sign`. A has 64 rows of `depth`, B n columns of `depth`. A
// warpgroup for each block, and a product of its own. A is read from shared memory or from registers.
template <class T, int n, swizzle pattern, major a_major, major b_major, bool a_in_registers, int sign>
__global__ void __launch_bounds__(128) product_kernel(const T* a, const T* b, float* d) {
  using a_layout = tile_layout<pattern, a_major, m>;
  using b_layout = tile_layout<pattern, b_major, n>;
  __shared__ __align__(1024) unsigned char tile_a[a_layout::bytes], tile_b[b_layout::bytes];
  a += blockIdx.x * m * depth, b += blockIdx.x * n * depth, d += blockIdx.x * m * n;
  for (int k = static_cast<int>(threadIdx.x); k < m * depth; k += 128)
    *reinterpret_cast<T*>(tile_a + a_layout::offset(k / depth, k % depth)) = a[k];
  for (int k = static_cast<int>(threadIdx.x); k < n * depth; k += 128)
    *reinterpret_cast<T*>(tile_b + b_layout::offset(k / depth, k % depth)) = b[k];
  fence_proxy_async();
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32, first_row = static_cast<int>(threadIdx.x) / 32 * 16;
  float sums[n / 2];
  for (int k = 0; k < n / 2; ++k) sums[k] = 1000;
  unsigned of_a[steps][4];
  for (int step = 0; step < steps; ++step) {
    for (int k = 0; k < 4; ++k) {
      const int row = first_row + lane / 4 + k % 2 * 8, column = 16 * step + lane % 4 * 2 + k / 2 * 8;
      of_a[step][k] = *reinterpret_cast<const unsigned*>(a + row * depth + column);
    }
  }
  wgmma_fence(sums);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    if constexpr (a_in_registers) {
      wgmma_m64k16<T, b_major, sign>(sums, of_a[step], b_layout::describe(tile_b, step), step != 0);
    } else {
      wgmma_m64k16<T, a_major, b_major, 1, sign>(sums, a_layout::describe(tile_a, step),
                                                 b_layout::describe(tile_b, step), step != 0);
    }
  }
  wgmma_commit();
  wgmma_wait<0>(sums);
  for (int k = 0; k < n / 2; ++k)
    d[(first_row + lane / 4 + k / 2 % 2 * 8) * n + k / 4 * 8 + lane % 4 * 2 + k % 2] = sums[k];
}

// Numbers of one block, and what is expected.
template <class T, int n>
struct problem {
  std::vector<T> a, b;

  problem(int count, matrix_test::inputs kind, std::uint64_t seed) {
    constexpr factor type = std::is_same_v<T, __half> ? factor::f16 : factor::bf16;
    matrix_test::generator random(seed);
    const auto fill = [&](std::vector<T>& numbers, int size) {
      numbers.resize(static_cast<std::size_t>(size));
      for (int k = 0; k < size; ++k) {
        const auto bits = static_cast<std::uint16_t>(matrix_test::draw(type, kind, k % 16, random));
        std::memcpy(static_cast<void*>(&numbers[static_cast<std::size_t>(k)]), &bits, sizeof bits);
      }
    };
    fill(a, count * m * depth);
    fill(b, count * n * depth);
  }

  [[nodiscard]] std::vector<float> expected(int count, int sign) const {
    using namespace emulator;
    const number_format format = std::is_same_v<T, __half> ? format_f16 : format_bf16;
    std::vector<float> d;
    const auto numbers_of = [&](const std::vector<T>& from, int row, int its_sign) {
      std::vector<matrix_number> result;
      for (int k = 0; k < depth; ++k) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, &from[static_cast<std::size_t>(row * depth + k)], sizeof bits);
        result.push_back(matrix_number_of(bits, format));
        result.back().significand *= its_sign;
      }
      return result;
    };
    for (int block = 0; block < count; ++block) {
      std::vector<std::vector<matrix_number>> columns;
      for (int column = 0; column < n; ++column) columns.push_back(numbers_of(b, block * n + column, sign));
      for (int row = 0; row < m; ++row) {
        const auto of_a = numbers_of(a, block * m + row, 1);
        for (const auto& of_b : columns)
          d.push_back(matrix_sum(of_a.data(), of_b.data(), depth, format.fraction_bits, 0, {}));
      }
    }
    return d;
  }
};

}  // namespace lab::warpgroup_test
