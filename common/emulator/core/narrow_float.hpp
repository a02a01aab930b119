// __half and __nv_bfloat16: IEEE 754's binary16, and the upper half of a float, kept as their bits. Every
// operation is done in float, which has more than twice their digits, and rounded once: the result is the
// same as the hardware's.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

struct binary16 {
  static float widen(std::uint16_t bits) {
    const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
      const float small = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -small : small;
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  }
  static std::uint16_t narrow(float value) {
    const auto bits = std::bit_cast<unsigned>(value);
    const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;                                       // NaN
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // from 65520 upwards
    if (magnitude < 0x38800000u) {  // below 2^-14: in steps of 2^-24
      const float steps = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f);
      return static_cast<std::uint16_t>(sign | static_cast<unsigned>(steps));
    }
    const unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
  }
};

struct brain16 {
  static float widen(std::uint16_t bits) { return std::bit_cast<float>(static_cast<unsigned>(bits) << 16); }
  static std::uint16_t narrow(float value) {
    const auto bits = std::bit_cast<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
};

// a * b + c as a float that a narrower format rounds as it would the sum itself: what is not exact is odd.
inline float fused(float a, float b, float c) {
  const double sum = std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
  const auto result = static_cast<float>(sum);
  if (std::isnan(sum) || static_cast<double>(result) == sum || std::bit_cast<unsigned>(result) % 2 == 1)
    return result;
  return std::nextafter(result, sum > static_cast<double>(result) ? INFINITY : -INFINITY);
}

}  // namespace lab::emulator

// In the global namespace, as CUDA's types are: operators that users declare there must be found.
template <class Format>
struct emulated_half {
  using number_of_16_bits = Format;
  std::uint16_t bits;

  emulated_half() = default;
  template <class T>
  requires std::is_arithmetic_v<T> emulated_half(T value) : bits(Format::narrow(static_cast<float>(value))) {}
  operator float() const { return Format::widen(bits); }
  static constexpr emulated_half of_bits(std::uint16_t bits) {
    emulated_half result;
    result.bits = bits;
    return result;
  }

  friend emulated_half operator+(emulated_half a, emulated_half b) {
    return {static_cast<float>(a) + static_cast<float>(b)};
  }
  friend emulated_half operator-(emulated_half a, emulated_half b) {
    return {static_cast<float>(a) - static_cast<float>(b)};
  }
  friend emulated_half operator*(emulated_half a, emulated_half b) {
    return {static_cast<float>(a) * static_cast<float>(b)};
  }
  friend emulated_half operator/(emulated_half a, emulated_half b) {
    return {static_cast<float>(a) / static_cast<float>(b)};
  }
  friend emulated_half operator-(emulated_half a) { return of_bits(a.bits ^ 0x8000u); }
  friend emulated_half& operator+=(emulated_half& a, emulated_half b) { return a = a + b; }
  friend emulated_half& operator-=(emulated_half& a, emulated_half b) { return a = a - b; }
  friend emulated_half& operator*=(emulated_half& a, emulated_half b) { return a = a * b; }
  friend emulated_half& operator/=(emulated_half& a, emulated_half b) { return a = a / b; }
  friend bool operator==(emulated_half a, emulated_half b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
  friend bool operator!=(emulated_half a, emulated_half b) { return !(a == b); }
  friend bool operator<(emulated_half a, emulated_half b) {
    return static_cast<float>(a) < static_cast<float>(b);
  }
  friend bool operator>(emulated_half a, emulated_half b) { return b < a; }
  friend bool operator<=(emulated_half a, emulated_half b) {
    return static_cast<float>(a) <= static_cast<float>(b);
  }
  friend bool operator>=(emulated_half a, emulated_half b) { return b <= a; }
};

template <class Format>
struct alignas(4) emulated_half2 {
  emulated_half<Format> x, y;

  friend emulated_half2 operator+(emulated_half2 a, emulated_half2 b) { return {a.x + b.x, a.y + b.y}; }
  friend emulated_half2 operator-(emulated_half2 a) { return {-a.x, -a.y}; }
  friend emulated_half2 operator-(emulated_half2 a, emulated_half2 b) { return {a.x - b.x, a.y - b.y}; }
  friend emulated_half2 operator*(emulated_half2 a, emulated_half2 b) { return {a.x * b.x, a.y * b.y}; }
  friend emulated_half2 operator/(emulated_half2 a, emulated_half2 b) { return {a.x / b.x, a.y / b.y}; }
  friend emulated_half2& operator+=(emulated_half2& a, emulated_half2 b) { return a = a + b; }
  friend emulated_half2& operator-=(emulated_half2& a, emulated_half2 b) { return a = a - b; }
  friend emulated_half2& operator*=(emulated_half2& a, emulated_half2 b) { return a = a * b; }
  friend emulated_half2& operator/=(emulated_half2& a, emulated_half2 b) { return a = a / b; }
};

using __half = emulated_half<lab::emulator::binary16>;
using __half2 = emulated_half2<lab::emulator::binary16>;
// A program may have these words for itself, unless it includes cuda_fp16.h (programs/narrow_functions.hpp).
#ifndef LAB_EMULATOR_PROGRAM
using half = __half;
using half2 = __half2;
#endif
using __nv_bfloat16 = emulated_half<lab::emulator::brain16>;
using __nv_bfloat162 = emulated_half2<lab::emulator::brain16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Programs have more of them (programs/narrow_functions.hpp).
inline __half __float2half(float a) {
  return {a};
}
inline float __half2float(__half a) {
  return a;
}
inline __nv_bfloat16 __float2bfloat16(float a) {
  return {a};
}
inline float __bfloat162float(__nv_bfloat16 a) {
  return a;
}
