// The inclusive scan of a warp's values, in registers.
#pragma once

#include "common/cuda.hpp"

namespace lab::scan {

// Lane k gets the combination of the values of lanes 0 .. k, in this order. The whole warp calls.
template <class T, class Operation>
__device__ __forceinline__ T warp_scan(T value, Operation combine) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T earlier = __shfl_up_sync(0xffffffffu, value, distance);
    if (lane >= distance) value = combine(earlier, value);
  }
  return value;
}

}  // namespace lab::scan
