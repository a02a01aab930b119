// __half: numbers of IEEE 754's binary16.
#pragma once

#include "common/emulator/core/narrow_float.hpp"
#include "common/emulator/core/vector_types.hpp"

using __half = emulated_half<lab::emulator::binary16>;
using __half2 = emulated_half2<lab::emulator::binary16>;
using half = __half;
using half2 = __half2;
struct __half_raw {
  unsigned short x;
};

struct __half2_raw {
  unsigned short x, y;
};

LAB_EMULATOR_HALF(__half, __half2, binary16)

inline __half __float2half(float a) {
  return {a};
}
inline __half __float2half_rn(float a) {
  return {a};
}
inline __half __double2half(double a) {
  return {static_cast<float>(a)};
}
inline float __half2float(__half a) {
  return a;
}
inline __half2 __float2half2_rn(float a) {
  return {a, a};
}
inline __half2 __floats2half2_rn(float a, float b) {
  return {a, b};
}
inline __half2 __float22half2_rn(float2 a) {
  return {a.x, a.y};
}
inline float2 __half22float2(__half2 a) {
  return {a.x, a.y};
}
inline __half2 __half2half2(__half a) {
  return {a, a};
}
inline __half2 __halves2half2(__half a, __half b) {
  return {a, b};
}
inline __half2 make_half2(__half a, __half b) {
  return {a, b};
}
inline __half __low2half(__half2 a) {
  return a.x;
}
inline __half __high2half(__half2 a) {
  return a.y;
}
inline __half2 __low2half2(__half2 a) {
  return {a.x, a.x};
}
inline __half2 __high2half2(__half2 a) {
  return {a.y, a.y};
}
inline __half2 __lows2half2(__half2 a, __half2 b) {
  return {a.x, b.x};
}
inline __half2 __highs2half2(__half2 a, __half2 b) {
  return {a.y, b.y};
}
inline __half2 __lowhigh2highlow(__half2 a) {
  return {a.y, a.x};
}
inline __half __ushort_as_half(unsigned short bits) {
  return __half::of_bits(bits);
}
inline unsigned short __half_as_ushort(__half a) {
  return a.bits;
}
inline __half __short_as_half(short bits) {
  return __half::of_bits(static_cast<std::uint16_t>(bits));
}
inline short __half_as_short(__half a) {
  return static_cast<short>(a.bits);
}
