// A value that one block sends to others while all of them run. It is sent once, in words of 32 bits of value
// and a flag, each of which arrives as a whole: no fence is needed, and a value whose words all have their
// flags is complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda.hpp"
#include "common/relaxed_read.hpp"

namespace lab::scan {

// All words are 0 before the kernel starts.
template <class T>
struct message {
  static constexpr int words = sizeof(T) / sizeof(std::uint32_t);
  static constexpr unsigned long long sent = 1ULL << 32;
  struct halves {
    std::uint32_t value[words];
  };

  unsigned long long word[words];

  __device__ __forceinline__ void send(T value) {
    const auto all = __builtin_bit_cast(halves, value);
#pragma unroll
    for (int k = 0; k < words; ++k) atomicExch(&word[k], sent | all.value[k]);
  }

  // Whether it has been sent; then it is in `value`.
  __device__ __forceinline__ bool receive(T& value) {
    halves all;
    bool is_complete = true;
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const unsigned long long read = relaxed_read(&word[k]);
      is_complete = is_complete && read >= sent;
      all.value[k] = static_cast<std::uint32_t>(read);
    }
    if (is_complete) value = __builtin_bit_cast(T, all);
    return is_complete;
  }
};

// Lane 0 gets the combination of all 32 lanes' values, in their order. The whole warp calls.
template <class T, class Operation>
__device__ __forceinline__ T combine_lanes(T value, Operation combine) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    value = combine(value, __shfl_down_sync(0xffffffffu, value, distance));
  return value;
}

}  // namespace lab::scan
