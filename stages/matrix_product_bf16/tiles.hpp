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

// A warpgroup's 64 rows of C, 32 columns at a time, as a tensor copy takes them from shared memory.
constexpr int box_sums = 32;  // 128 bytes
constexpr int box_of_c_bytes = group_rows * line_bytes;
constexpr int boxes_of_c = 2;  // of each warpgroup: one is copied while the other is written

inline tensor_map make_map_of_c(const input& in, const output& out) {
  return make_tensor_map(out.c, {in.n, in.m}, {1, in.n}, {box_sums, group_rows}, swizzle::bytes_128);
}

// The warpgroup's sums to C by tensor copies, which go on when the function returns: its first thread waits
// for them (wait_group_read) before the block ends. `boxes` are the warpgroup's own.
template <int columns>
__device__ __forceinline__ void copy_out(const tensor_map& c, unsigned char* boxes, int row, int column,
                                         const float (&sum)[columns / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % group_threads, lane = thread % 32;
  const int name = 1 + static_cast<int>(threadIdx.x) / group_threads;
#pragma unroll
  for (int first = 0; first < columns; first += box_sums) {
    unsigned char* const box = boxes + first / box_sums % boxes_of_c * box_of_c_bytes;
    if (thread == 0) wait_group_read<boxes_of_c - 1>();
    named_barrier(name, group_threads);  // the box is free
    // Four lines of 16 lanes' pairs have different banks, since every other line has its columns 0 and 16,
    // and 8 and 24, in the other order.
    const bool is_odd = lane / 4 % 2 != 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int ahead = k % 4 * 8, turned = ahead ^ 16, half = k / 4;
      const int from = first / 2 + half * 2;
      const float x = is_odd ? sum[from + turned / 2] : sum[from + ahead / 2];
      const float y = is_odd ? sum[from + turned / 2 + 1] : sum[from + ahead / 2 + 1];
      const int line = thread / 32 * 16 + lane / 4 + half * 8;
      const int unit = ((is_odd ? turned : ahead) / 4 + lane % 4 / 2) ^ line % 8;  // of 16 bytes, swizzled
      *reinterpret_cast<float2*>(box + line * line_bytes + unit * 16 + lane % 2 * 8) = make_float2(x, y);
    }
    fence_proxy_async();
    named_barrier(name, group_threads);  // and now full
    if (thread == 0) {
      tensor_copy_out(c, column + first, row, box);
      commit_group();
    }
  }
}

// The tiles column by column of so many rows of tiles, and then the next rows: the tiles of blocks that run
// together have rows of A and columns of B in common, which the L2 cache brings.
template <int rows_together>
__device__ __forceinline__ position position_of(std::int64_t tile, std::int64_t down, std::int64_t across) {
  const std::int64_t first = tile / (rows_together * across) * rows_together;
  const std::int64_t height = min(static_cast<std::int64_t>(rows_together), down - first);
  const std::int64_t in_strip = tile - first * across;
  return {static_cast<int>(first + in_strip % height), static_cast<int>(in_strip / height)};
}

}  // namespace lab::matrix_product_bf16
