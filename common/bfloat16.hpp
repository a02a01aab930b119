// bfloat16, the upper half of a float32, as an element of arrays: for hosts, whose compilers lack the type.
// Its bits are those of CUDA's __nv_bfloat16.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__CUDACC__)
#define LAB_HOST_DEVICE __host__ __device__
#else
#define LAB_HOST_DEVICE
#endif

namespace lab {

struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  // The nearest one, of two that are as near the even one; of a NaN the usual one.
  template <class T>
  requires std::is_arithmetic_v<T> LAB_HOST_DEVICE bfloat16(T number) {
    const auto value = static_cast<float>(number);
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    bits = static_cast<std::uint16_t>(value == value ? (word + 0x7fff + (word >> 16 & 1)) >> 16 : 0x7fc0);
  }
  LAB_HOST_DEVICE operator float() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
};

#undef LAB_HOST_DEVICE

}  // namespace lab

template <>
struct std::numeric_limits<lab::bfloat16> : std::numeric_limits<float> {
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr float max() { return 0x1.fep127f; }
  static constexpr float denorm_min() { return 0x1p-133f; }
};
