// Four outputs side by side, and the piece of a tile's row that they need: 2 radius values more.
#pragma once

#include "common/cuda.hpp"

namespace lab::convolution {

constexpr int side = 4;               // outputs of a thread, side by side
constexpr int wide_tile = 32 * side;  // columns of a tile, for 32 threads

// A multiple of 4 values, 16 bytes a load; `from` is a multiple of 16 bytes.
template <int count>
__device__ __forceinline__ void load_piece(float (&to)[count], const float* from) {
#pragma unroll
  for (int q = 0; q < count; q += 4) {
    const float4 quad = *reinterpret_cast<const float4*>(from + q);
    to[q] = quad.x;
    to[q + 1] = quad.y;
    to[q + 2] = quad.z;
    to[q + 3] = quad.w;
  }
}

}  // namespace lab::convolution
