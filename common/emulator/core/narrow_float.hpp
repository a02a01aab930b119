// Floating-point numbers of 16 bits, kept as their bits. Every operation is done in float, which has more
// than twice their digits, and rounded once: the result is the same as the hardware's.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/emulator/core/atomic_functions.hpp"
#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/math_functions.hpp"

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

// Functions that both types have, under the same names.
#define LAB_EMULATOR_HALF(Half, Half2, Format)                                                              \
  inline Half __hadd(Half a, Half b) {                                                                      \
    return a + b;                                                                                           \
  }                                                                                                         \
  inline Half __hsub(Half a, Half b) {                                                                      \
    return a - b;                                                                                           \
  }                                                                                                         \
  inline Half __hmul(Half a, Half b) {                                                                      \
    return a * b;                                                                                           \
  }                                                                                                         \
  inline Half __hdiv(Half a, Half b) {                                                                      \
    return a / b;                                                                                           \
  }                                                                                                         \
  inline Half __hneg(Half a) {                                                                              \
    return -a;                                                                                              \
  }                                                                                                         \
  inline Half __habs(Half a) {                                                                              \
    return Half::of_bits(a.bits & 0x7fffu);                                                                 \
  }                                                                                                         \
  inline Half __hfma(Half a, Half b, Half c) {                                                              \
    return {static_cast<float>(std::fma(static_cast<double>(static_cast<float>(a)),                         \
                                        static_cast<double>(static_cast<float>(b)),                         \
                                        static_cast<double>(static_cast<float>(c))))};                      \
  }                                                                                                         \
  inline Half __hmin(Half a, Half b) {                                                                      \
    return {fminf(a, b)};                                                                                   \
  }                                                                                                         \
  inline Half __hmax(Half a, Half b) {                                                                      \
    return {fmaxf(a, b)};                                                                                   \
  }                                                                                                         \
  inline Half min(Half a, Half b) {                                                                         \
    return __hmin(a, b);                                                                                    \
  }                                                                                                         \
  inline Half max(Half a, Half b) {                                                                         \
    return __hmax(a, b);                                                                                    \
  }                                                                                                         \
  inline bool __heq(Half a, Half b) {                                                                       \
    return a == b;                                                                                          \
  }                                                                                                         \
  inline bool __hne(Half a, Half b) {                                                                       \
    return a < b || b < a;                                                                                  \
  }                                                                                                         \
  inline bool __hlt(Half a, Half b) {                                                                       \
    return a < b;                                                                                           \
  }                                                                                                         \
  inline bool __hle(Half a, Half b) {                                                                       \
    return a <= b;                                                                                          \
  }                                                                                                         \
  inline bool __hgt(Half a, Half b) {                                                                       \
    return a > b;                                                                                           \
  }                                                                                                         \
  inline bool __hge(Half a, Half b) {                                                                       \
    return a >= b;                                                                                          \
  }                                                                                                         \
  inline bool __hisnan(Half a) {                                                                            \
    return std::isnan(static_cast<float>(a));                                                               \
  }                                                                                                         \
  inline int __hisinf(Half a) {                                                                             \
    return std::isinf(static_cast<float>(a));                                                               \
  }                                                                                                         \
  inline Half hsqrt(Half a) {                                                                               \
    return {sqrtf(a)};                                                                                      \
  }                                                                                                         \
  inline Half hrsqrt(Half a) {                                                                              \
    return {1.0f / sqrtf(a)};                                                                               \
  }                                                                                                         \
  inline Half hrcp(Half a) {                                                                                \
    return {1.0f / static_cast<float>(a)};                                                                  \
  }                                                                                                         \
  inline Half hexp(Half a) {                                                                                \
    return {expf(a)};                                                                                       \
  }                                                                                                         \
  inline Half hexp2(Half a) {                                                                               \
    return {exp2f(a)};                                                                                      \
  }                                                                                                         \
  inline Half hlog(Half a) {                                                                                \
    return {logf(a)};                                                                                       \
  }                                                                                                         \
  inline Half hlog2(Half a) {                                                                               \
    return {log2f(a)};                                                                                      \
  }                                                                                                         \
  inline Half hsin(Half a) {                                                                                \
    return {sinf(a)};                                                                                       \
  }                                                                                                         \
  inline Half hcos(Half a) {                                                                                \
    return {cosf(a)};                                                                                       \
  }                                                                                                         \
  inline Half htanh(Half a) {                                                                               \
    return {tanhf(a)};                                                                                      \
  }                                                                                                         \
  inline Half hfloor(Half a) {                                                                              \
    return {floorf(a)};                                                                                     \
  }                                                                                                         \
  inline Half hceil(Half a) {                                                                               \
    return {ceilf(a)};                                                                                      \
  }                                                                                                         \
  inline Half2 __hadd2(Half2 a, Half2 b) {                                                                  \
    return a + b;                                                                                           \
  }                                                                                                         \
  inline Half2 __hsub2(Half2 a, Half2 b) {                                                                  \
    return a - b;                                                                                           \
  }                                                                                                         \
  inline Half2 __hmul2(Half2 a, Half2 b) {                                                                  \
    return a * b;                                                                                           \
  }                                                                                                         \
  inline Half2 __h2div(Half2 a, Half2 b) {                                                                  \
    return a / b;                                                                                           \
  }                                                                                                         \
  inline Half2 __hfma2(Half2 a, Half2 b, Half2 c) {                                                         \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                                  \
  }                                                                                                         \
  inline Half2 __hmax2(Half2 a, Half2 b) {                                                                  \
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};                                                            \
  }                                                                                                         \
  inline Half2 __hmin2(Half2 a, Half2 b) {                                                                  \
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};                                                            \
  }                                                                                                         \
  inline Half2 h2exp(Half2 a) {                                                                             \
    return {hexp(a.x), hexp(a.y)};                                                                          \
  }                                                                                                         \
  inline Half2 h2sqrt(Half2 a) {                                                                            \
    return {hsqrt(a.x), hsqrt(a.y)};                                                                        \
  }                                                                                                         \
  inline float __low2float(Half2 a) {                                                                       \
    return a.x;                                                                                             \
  }                                                                                                         \
  inline float __high2float(Half2 a) {                                                                      \
    return a.y;                                                                                             \
  }                                                                                                         \
  inline Half atomicAdd(Half* address, Half value) {                                                        \
    /* The word that holds it changes as a whole. */                                                        \
    const auto position = reinterpret_cast<std::uintptr_t>(address);                                        \
    auto* const word = reinterpret_cast<unsigned*>(position & ~std::uintptr_t{3});                          \
    const unsigned shift = position & 2 ? 16 : 0;                                                           \
    unsigned old = *word, seen;                                                                             \
    do {                                                                                                    \
      seen = old;                                                                                           \
      const Half sum = Half::of_bits(static_cast<std::uint16_t>(seen >> shift)) + value;                    \
      old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | static_cast<unsigned>(sum.bits) << shift); \
    } while (old != seen);                                                                                  \
    return Half::of_bits(static_cast<std::uint16_t>(old >> shift));                                         \
  }                                                                                                         \
  inline Half2 atomicAdd(Half2* address, Half2 value) {                                                     \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                              \
  }
