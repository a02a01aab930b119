// Tiles of A and B in shared memory, as tensor copies bring them and warpgroups multiply them: 128 rows of A,
// `columns` columns of B, 64 of k. Lines have 128 bytes, in a swizzle of 128 bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/tensor_copy.hpp"
#include "common/warpgroup_matrix.hpp"
#include "stages/matrix_product_bf16/blocks.hpp"

namespace lab::matrix_product_bf16 {

constexpr int tile_rows = 128;  // of A, and of C
constexpr int depth = 64;       // 128 bytes of A's rows
constexpr int group_rows = 64;  // of a warpgroup
constexpr int group_threads = 128;
constexpr int line_values = 64;  // of B's rows, 128 bytes
constexpr int line_bytes = 128;
constexpr int eight_lines = 8 * line_bytes;
constexpr int a_bytes = tile_rows * line_bytes;
constexpr int box_of_b_bytes = depth * line_bytes;  // 64 columns of B

template <int columns>
inline constexpr int tile_bytes = a_bytes + columns / line_values* box_of_b_bytes;

// The maps of both, whose boxes are what one copy brings. Without columns of A nothing is copied.
struct tensor_maps {
  tensor_map a, b;
};
inline tensor_maps make_maps(const input& in) {
  const std::int64_t k = std::max<std::int64_t>(in.k, 8);
  return {make_tensor_map(in.a, {k, in.m}, {1, k}, {depth, tile_rows}, swizzle::bytes_128),
          make_tensor_map(in.b, {in.n, k}, {1, in.n}, {line_values, depth}, swizzle::bytes_128)};
}

// By one thread: A's tile, and behind it B's. What lies beyond the edges becomes zeros.
template <int columns>
__device__ __forceinline__ void load_tiles(unsigned char* to, const tensor_map& a, const tensor_map& b,
                                           int row, int column, int begin, mbarrier& landed) {
  landed.arrive_expect_tx(tile_bytes<columns>);
  tensor_copy_in(to, a, begin, row, landed);
#pragma unroll
  for (int q = 0; q < columns / line_values; ++q)
    tensor_copy_in(to + a_bytes + q * box_of_b_bytes, b, column + q * line_values, begin, landed);
}

// By a warpgroup, whose 64 rows of A's tile these are: sum += A B, under way until wgmma_wait.
template <int columns>
__device__ __forceinline__ void multiply(float (&sum)[columns / 2], const unsigned char* tiles, int group) {
  const matrix_descriptor a = make_matrix_descriptor(tiles + group * group_rows * line_bytes,
                                                     swizzle::bytes_128, line_bytes, eight_lines);
  const matrix_descriptor b =
      make_matrix_descriptor(tiles + a_bytes, swizzle::bytes_128, box_of_b_bytes, eight_lines);
  wgmma_fence(sum);
#pragma unroll
  for (int k = 0; k < depth; k += 16) {
    wgmma_m64k16<__nv_bfloat16, major::k, major::mn>(sum, a.advanced(2 * k), b.advanced(k * line_bytes),
                                                     true);
  }
  wgmma_commit();
}

// The warpgroup's sums to C, two neighbours at a time: four lanes write a sector.
template <int columns>
__device__ __forceinline__ void store(float* __restrict__ c, std::int64_t row, std::int64_t column,
                                      std::int64_t m, std::int64_t n, const float (&sum)[columns / 2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  row += static_cast<int>(threadIdx.x) % group_threads / 32 * 16 + lane / 4;
  column += lane % 4 * 2;
#pragma unroll
  for (int s = 0; s < columns / 2; s += 2) {
    const std::int64_t to_row = row + s / 2 % 2 * 8, to_column = column + s / 4 * 8;
    if (to_row < m && to_column < n)
      *reinterpret_cast<float2*>(c + to_row * n + to_column) = make_float2(sum[s], sum[s + 1]);
  }
}

}  // namespace lab::matrix_product_bf16
