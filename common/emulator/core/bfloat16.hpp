// __nv_bfloat16: the upper half of a float.
#pragma once

#include "common/emulator/core/narrow_float.hpp"
#include "common/emulator/core/vector_types.hpp"

using __nv_bfloat16 = emulated_half<lab::emulator::brain16>;
using __nv_bfloat162 = emulated_half2<lab::emulator::brain16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

LAB_EMULATOR_HALF(__nv_bfloat16, __nv_bfloat162, brain16)

inline __nv_bfloat16 __float2bfloat16(float a) {
  return {a};
}
inline __nv_bfloat16 __float2bfloat16_rn(float a) {
  return {a};
}
inline __nv_bfloat16 __double2bfloat16(double a) {
  return {static_cast<float>(a)};
}
inline float __bfloat162float(__nv_bfloat16 a) {
  return a;
}
inline __nv_bfloat162 __float2bfloat162_rn(float a) {
  return {a, a};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {a, b};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return {a.x, a.y};
}
inline float2 __bfloat1622float2(__nv_bfloat162 a) {
  return {a.x, a.y};
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
  return {a, a};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) {
  return a.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) {
  return a.y;
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16::of_bits(bits);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
  return a.bits;
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16::of_bits(static_cast<std::uint16_t>(bits));
}
inline short __bfloat16_as_short(__nv_bfloat16 a) {
  return static_cast<short>(a.bits);
}
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) {
  return {a.x, a.x};
}
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) {
  return {a.y, a.y};
}
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.x, b.x};
}
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.y, b.y};
}
