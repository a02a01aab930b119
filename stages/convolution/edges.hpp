// What a stage reads beyond the edges of its image.
#pragma once

#include <cstdint>

#include "stages/convolution/problem.hpp"

namespace lab::convolution {

// Which value of n stands for the one at `i`; -1 for zero. Of an image, n is not 0.
__device__ __forceinline__ std::int64_t at_edge(std::int64_t i, std::int64_t n, edge kind) {
  if (i >= 0 && i < n) return i;
  if (kind == edge::zero) return -1;
  if (kind == edge::clamp || n == 1) return i < 0 ? 0 : n - 1;
    // Images that are smaller than the filter are mirrored more than once.
#pragma unroll 1
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

// The image's value at (y, x), which may lie beyond its edges.
__device__ __forceinline__ float value_at(const float* __restrict__ image, std::int64_t y, std::int64_t x,
                                          std::int64_t rows, std::int64_t columns, edge kind) {
  y = at_edge(y, rows, kind);
  x = at_edge(x, columns, kind);
  return y < 0 || x < 0 ? 0 : image[y * columns + x];
}

}  // namespace lab::convolution
