// Four neighbouring elements at a time, and a thread's outputs, which are squares of 4 x 4.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/store_four.hpp"

namespace lab::matrix_product {

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

// Quads that are `apart` elements apart in shared memory, each of them one load.
template <int count>
__device__ __forceinline__ void load_quads(float (&values)[count], const float* shared, int apart) {
#pragma unroll
  for (int q = 0; q < count / 4; ++q) {
    const float4 quad = *reinterpret_cast<const float4*>(shared + q * apart);
    values[4 * q] = quad.x;
    values[4 * q + 1] = quad.y;
    values[4 * q + 2] = quad.z;
    values[4 * q + 3] = quad.w;
  }
}

// sum += the products of a column of A and a row of B.
template <int rows, int columns>
__device__ __forceinline__ void add_products(float (&sum)[rows][columns], const float (&of_a)[rows],
                                             const float (&of_b)[columns]) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int s = 0; s < columns; ++s) sum[r][s] += of_a[r] * of_b[s];
  }
}

// A thread's outputs: rows `row` to `row + 3`, and four more every `rows_apart` rows; columns likewise.
template <int rows, int columns>
__device__ __forceinline__ void store_squares(float* __restrict__ c, std::int64_t m, std::int64_t n,
                                              std::int64_t row, std::int64_t column, int rows_apart,
                                              int columns_apart, const float (&sum)[rows][columns]) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int64_t c_row = row + r / 4 * rows_apart + r % 4;
    if (c_row >= m) continue;
#pragma unroll
    for (int s = 0; s < columns; s += 4)
      store_four(c + c_row * n, column + s / 4 * columns_apart, n, sum[r] + s);
  }
}

}  // namespace lab::matrix_product
