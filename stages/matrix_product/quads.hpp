// Four neighbouring elements at a time, and a thread's tile of 8 x 8 outputs that is made of them: 2 x 2
// squares of 4 x 4.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"

namespace lab::matrix_product {

constexpr int per_side = 8;  // outputs of a thread, in either direction

// Elements `at` to `at + 3` of a row of `length` elements, with zeros beyond its end; `at` is a multiple
// of 4. `aligned`: the row begins at a multiple of 16 bytes and its length is a multiple of 4, as where the
// rows of a matrix are.
__device__ __forceinline__ float4 load_four(const float* __restrict__ row, std::int64_t at,
                                            std::int64_t length, bool aligned) {
  if (aligned) {
    return at < length ? *reinterpret_cast<const float4*>(row + at) : make_float4(0, 0, 0, 0);
  }
  return make_float4(at < length ? row[at] : 0, at + 1 < length ? row[at + 1] : 0,
                     at + 2 < length ? row[at + 2] : 0, at + 3 < length ? row[at + 3] : 0);
}

__device__ __forceinline__ void store_four(float* __restrict__ row, std::int64_t at, std::int64_t length,
                                           bool aligned, const float* values) {
  if (aligned) {
    if (at < length)
      *reinterpret_cast<float4*>(row + at) = make_float4(values[0], values[1], values[2], values[3]);
    return;
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (at + s < length) row[at + s] = values[s];
  }
}

// Two quads that are `apart` elements apart in shared memory, each of them one load.
__device__ __forceinline__ void load_quads(float (&values)[per_side], const float* shared, int apart) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float4 quad = *reinterpret_cast<const float4*>(shared + half * apart);
    values[4 * half] = quad.x;
    values[4 * half + 1] = quad.y;
    values[4 * half + 2] = quad.z;
    values[4 * half + 3] = quad.w;
  }
}

// sum += the products of a column of A and a row of B.
__device__ __forceinline__ void add_products(float (&sum)[per_side][per_side], const float (&of_a)[per_side],
                                             const float (&of_b)[per_side]) {
#pragma unroll
  for (int r = 0; r < per_side; ++r) {
#pragma unroll
    for (int s = 0; s < per_side; ++s) sum[r][s] += of_a[r] * of_b[s];
  }
}

// A thread's outputs: rows `row` to `row + 3` and the same `rows_apart` further, columns likewise.
__device__ __forceinline__ void store_squares(float* __restrict__ c, std::int64_t m, std::int64_t n,
                                              std::int64_t row, std::int64_t column, int rows_apart,
                                              int columns_apart, bool aligned,
                                              const float (&sum)[per_side][per_side]) {
#pragma unroll
  for (int r = 0; r < per_side; ++r) {
    const std::int64_t c_row = row + r / 4 * rows_apart + r % 4;
    if (c_row >= m) continue;
    store_four(c + c_row * n, column, n, aligned, sum[r]);
    store_four(c + c_row * n, column + columns_apart, n, aligned, sum[r] + 4);
  }
}

}  // namespace lab::matrix_product
