// The filter in constant memory, which has a cache of its own: all lanes of a warp read the same weight.
#pragma once

#include "common/cuda.hpp"
#include "stages/convolution/problem.hpp"

namespace lab::convolution {

constexpr int most_taps = 2 * most_radius + 1;
static __constant__ float constant_filter[most_taps * most_taps];

// Before the kernel that reads it, in the same stream. As many weights as the filter's kind has. Static, as
// each stage has a filter of its own: where several are one program, an inline function would be that of one
// of them.
static void copy_filter(const input& in, cudaStream_t stream) {
  const int taps = 2 * in.radius + 1;
  const int filter_rows = in.kind == filter_kind::separable ? 2 : taps;
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_filter, in.filter,
                                     static_cast<std::size_t>(filter_rows * taps) * sizeof(float), 0,
                                     cudaMemcpyDeviceToDevice, stream));
}

}  // namespace lab::convolution
