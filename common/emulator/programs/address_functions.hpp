// CUDA's functions of addresses and their spaces, the rest of its mathematics, and the pairs of floats of
// compute capability 10.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/cuda_runtime.hpp"
#include "common/emulator/programs/device_functions.hpp"

namespace lab::emulator {

// Of a generic address, as the running thread sees it.
bool is_shared_address(const void* pointer);
bool is_local_address(const void* pointer);
bool is_global_address(const void* pointer);

}  // namespace lab::emulator

__forceinline__ unsigned __isShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isCtaShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isClusterShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isGlobal(const void* pointer) {
  return lab::emulator::is_global_address(pointer);
}
__forceinline__ unsigned __isLocal(const void* pointer) {
  return lab::emulator::is_local_address(pointer);
}
// Shared addresses are numbers as inline PTX has them; the others are the generic ones.
__forceinline__ std::size_t __cvta_generic_to_shared(const void* pointer) {
  return lab::emulator::shared_number(pointer);
}
__forceinline__ void* __cvta_shared_to_generic(std::size_t address) {
  return lab::emulator::shared_address(static_cast<std::uint32_t>(address), lab::emulator::place::here());
}
#define LAB_SAME_ADDRESS(space)                                                \
  __forceinline__ std::size_t __cvta_generic_to_##space(const void* pointer) { \
    return reinterpret_cast<std::uintptr_t>(pointer);                          \
  }                                                                            \
  __forceinline__ void* __cvta_##space##_to_generic(std::size_t address) {     \
    return reinterpret_cast<void*>(address);                                   \
  }
LAB_SAME_ADDRESS(global)
LAB_SAME_ADDRESS(local)
LAB_SAME_ADDRESS(constant)
LAB_SAME_ADDRESS(grid_constant)
#undef LAB_SAME_ADDRESS

// ---- mathematics

// Fused multiply-adds that keep subnormal numbers whatever -ftz says.
#define LAB_IEEE(suffix)                                                     \
  __forceinline__ float __fmaf_ieee_##suffix(float a, float b, float c) {    \
    return __fmaf_##suffix(a, b, c);                                         \
  }                                                                          \
  __forceinline__ float2 __fadd2_##suffix(float2 a, float2 b) {              \
    return {__fadd_##suffix(a.x, b.x), __fadd_##suffix(a.y, b.y)};           \
  }                                                                          \
  __forceinline__ float2 __fmul2_##suffix(float2 a, float2 b) {              \
    return {__fmul_##suffix(a.x, b.x), __fmul_##suffix(a.y, b.y)};           \
  }                                                                          \
  __forceinline__ float2 __ffma2_##suffix(float2 a, float2 b, float2 c) {    \
    return {__fmaf_##suffix(a.x, b.x, c.x), __fmaf_##suffix(a.y, b.y, c.y)}; \
  }
LAB_IEEE(rn)
LAB_IEEE(rz)
LAB_IEEE(ru)
LAB_IEEE(rd)
#undef LAB_IEEE

__forceinline__ double cyl_bessel_i0(double a) {
  return std::cyl_bessel_i(0.0, std::fabs(a));
}
__forceinline__ float cyl_bessel_i0f(float a) {
  return static_cast<float>(cyl_bessel_i0(static_cast<double>(a)));
}
// The first one is odd.
__forceinline__ double cyl_bessel_i1(double a) {
  return std::copysign(std::cyl_bessel_i(1.0, std::fabs(a)), a);
}
__forceinline__ float cyl_bessel_i1f(float a) {
  return static_cast<float>(cyl_bessel_i1(static_cast<double>(a)));
}
__forceinline__ float erfcinvf(float a) {
  return static_cast<float>(erfcinv(static_cast<double>(a)));
}
__forceinline__ float erfcxf(float a) {
  return static_cast<float>(erfcx(static_cast<double>(a)));
}

namespace lab::emulator {

// The root of a sum of squares, in which no square is too large: the largest is taken out first.
inline double length(const double* values, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    if (std::isinf(values[i])) return HUGE_VAL;
    largest = values[i] != values[i] || largest != largest ? NAN : std::fmax(largest, std::fabs(values[i]));
  }
  if (!(largest > 0)) return largest;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i] / largest * (values[i] / largest);
  return largest * std::sqrt(sum);
}
inline double length(const float* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    if (std::isinf(values[i])) return HUGE_VAL;
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return std::sqrt(sum);
}

}  // namespace lab::emulator

__forceinline__ double norm(int count, const double* values) {
  return lab::emulator::length(values, count);
}
__forceinline__ float normf(int count, const float* values) {
  return static_cast<float>(lab::emulator::length(values, count));
}
__forceinline__ double rnorm(int count, const double* values) {
  return 1.0 / norm(count, values);
}
__forceinline__ float rnormf(int count, const float* values) {
  return static_cast<float>(1.0 / lab::emulator::length(values, count));
}
__forceinline__ double norm4d(double a, double b, double c, double d) {
  const double values[] = {a, b, c, d};
  return norm(4, values);
}
__forceinline__ double rnorm3d(double a, double b, double c) {
  const double values[] = {a, b, c};
  return rnorm(3, values);
}
__forceinline__ double rnorm4d(double a, double b, double c, double d) {
  const double values[] = {a, b, c, d};
  return rnorm(4, values);
}
__forceinline__ float rnorm4df(float a, float b, float c, float d) {
  const float values[] = {a, b, c, d};
  return rnormf(4, values);
}
