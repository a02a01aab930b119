// CUDA's integer, conversion and floating-point device functions, in the global namespace as CUDA has them.
// Where CUDA offers a fast approximation (__expf), this is the exact function: results differ in the last
// bits.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>

#include "common/emulator/core/dialect.hpp"

// ---- minimum and maximum

#define LAB_EMULATOR_MIN_MAX(result, left, right)                                    \
  __forceinline__ result min(left a, right b) {                                      \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)  \
                                                           : static_cast<result>(b); \
  }                                                                                  \
  __forceinline__ result max(left a, right b) {                                      \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)  \
                                                           : static_cast<result>(a); \
  }
LAB_EMULATOR_MIN_MAX(int, int, int)
LAB_EMULATOR_MIN_MAX(unsigned, unsigned, unsigned)
LAB_EMULATOR_MIN_MAX(unsigned, int, unsigned)
LAB_EMULATOR_MIN_MAX(unsigned, unsigned, int)
LAB_EMULATOR_MIN_MAX(long, long, long)
LAB_EMULATOR_MIN_MAX(unsigned long, unsigned long, unsigned long)
LAB_EMULATOR_MIN_MAX(unsigned long, long, unsigned long)
LAB_EMULATOR_MIN_MAX(unsigned long, unsigned long, long)
LAB_EMULATOR_MIN_MAX(long long, long long, long long)
LAB_EMULATOR_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
LAB_EMULATOR_MIN_MAX(unsigned long long, long long, unsigned long long)
LAB_EMULATOR_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef LAB_EMULATOR_MIN_MAX

// Of a number and a NaN, the number: that is fmin and fmax.
__forceinline__ float min(float a, float b) {
  return fminf(a, b);
}
__forceinline__ float max(float a, float b) {
  return fmaxf(a, b);
}
__forceinline__ double min(double a, double b) {
  return ::fmin(a, b);
}
__forceinline__ double max(double a, double b) {
  return ::fmax(a, b);
}
__forceinline__ double min(float a, double b) {
  return ::fmin(static_cast<double>(a), b);
}
__forceinline__ double max(float a, double b) {
  return ::fmax(static_cast<double>(a), b);
}
__forceinline__ double min(double a, float b) {
  return ::fmin(a, static_cast<double>(b));
}
__forceinline__ double max(double a, float b) {
  return ::fmax(a, static_cast<double>(b));
}

// ---- bits

__forceinline__ int __popc(unsigned bits) {
  return std::popcount(bits);
}
__forceinline__ int __popcll(unsigned long long bits) {
  return std::popcount(bits);
}
__forceinline__ int __clz(int bits) {
  return std::countl_zero(static_cast<unsigned>(bits));
}
__forceinline__ int __clzll(long long bits) {
  return std::countl_zero(static_cast<unsigned long long>(bits));
}
// Position of the lowest set bit, counted from 1; 0 if there is none.
__forceinline__ int __ffs(int bits) {
  return __builtin_ffs(bits);
}
__forceinline__ int __ffsll(long long bits) {
  return __builtin_ffsll(bits);
}

__forceinline__ unsigned __brev(unsigned bits) {
  bits = (bits >> 1 & 0x55555555u) | (bits & 0x55555555u) << 1;
  bits = (bits >> 2 & 0x33333333u) | (bits & 0x33333333u) << 2;
  bits = (bits >> 4 & 0x0f0f0f0fu) | (bits & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(bits);
}

__forceinline__ unsigned long long __brevll(unsigned long long bits) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(bits))) << 32 |
         __brev(static_cast<unsigned>(bits >> 32));
}

// Four bytes picked from the eight of (high, low); each nibble of `selector` names one, its top bit asks for
// that byte's sign instead of its value.
__forceinline__ unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(high) << 32 | low;
  unsigned result = 0;
  for (unsigned position = 0; position < 4; ++position) {
    const unsigned pick = selector >> (4 * position) & 15u;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7u))) & 0xffu;
    if (pick & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * position);
  }
  return result;
}

// The upper (left shift) or lower (right shift) word of (high, low) after a shift by 0 to 31 bits.
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(bits << (shift & 31u) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(bits >> (shift & 31u));
}

// The same, and shifts by more than 32 bits count as 32.
__forceinline__ unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(bits << (shift < 32u ? shift : 32u) >> 32);
}
__forceinline__ unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(bits >> (shift < 32u ? shift : 32u));
}

// `sum` plus the products of the four bytes of a and b.
__forceinline__ unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xffu) * (b >> shift & 0xffu);
  return sum;
}
__forceinline__ int __dp4a(int a, int b, int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<signed char>(static_cast<unsigned>(a) >> shift) *
           static_cast<signed char>(static_cast<unsigned>(b) >> shift);
  }
  return sum;
}

__forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
__forceinline__ int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
__forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}

// ---- the same bits as another type

__forceinline__ int __float_as_int(float value) {
  return std::bit_cast<int>(value);
}
__forceinline__ unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
__forceinline__ float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}
__forceinline__ float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
__forceinline__ long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
__forceinline__ double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}
__forceinline__ int __double2hiint(double value) {
  return static_cast<int>(std::bit_cast<std::int64_t>(value) >> 32);
}
__forceinline__ int __double2loint(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value));
}

// ---- arithmetic rounded to nearest (__fadd_rn and so on are never contracted into a fused operation)

__forceinline__ float __fadd_rn(float a, float b) {
  return a + b;
}
__forceinline__ float __fsub_rn(float a, float b) {
  return a - b;
}
__forceinline__ float __fmul_rn(float a, float b) {
  return a * b;
}
__forceinline__ float __fdiv_rn(float a, float b) {
  return a / b;
}
__forceinline__ float __fsqrt_rn(float a) {
  return sqrtf(a);
}
__forceinline__ float __frcp_rn(float a) {
  return 1.0f / a;
}
__forceinline__ float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
__forceinline__ double __dadd_rn(double a, double b) {
  return a + b;
}
__forceinline__ double __dsub_rn(double a, double b) {
  return a - b;
}
__forceinline__ double __dmul_rn(double a, double b) {
  return a * b;
}
__forceinline__ double __ddiv_rn(double a, double b) {
  return a / b;
}
__forceinline__ double __dsqrt_rn(double a) {
  return ::sqrt(a);
}
__forceinline__ double __fma_rn(double a, double b, double c) {
  return ::fma(a, b, c);
}
__forceinline__ float __fdividef(float a, float b) {
  return a / b;
}
__forceinline__ float __saturatef(float a) {
  return a > 0.0f ? fminf(a, 1.0f) : 0.0f;
}

// glibc declares these names too (without defining them for us), hence noexcept, which must match.
__forceinline__ float __expf(float a) noexcept {
  return expf(a);
}
__forceinline__ float __logf(float a) noexcept {
  return logf(a);
}
__forceinline__ float __log2f(float a) noexcept {
  return log2f(a);
}
__forceinline__ float __log10f(float a) noexcept {
  return log10f(a);
}
__forceinline__ float __powf(float a, float b) noexcept {
  return powf(a, b);
}
__forceinline__ float __sinf(float a) noexcept {
  return sinf(a);
}
__forceinline__ float __cosf(float a) noexcept {
  return cosf(a);
}
__forceinline__ float __tanf(float a) noexcept {
  return tanf(a);
}

// C23 has rsqrt, and glibc 2.41 declares it.
#if !__GLIBC_PREREQ(2, 41)
__forceinline__ float rsqrtf(float a) {
  return 1.0f / sqrtf(a);
}
__forceinline__ double rsqrt(double a) {
  return 1.0 / ::sqrt(a);
}
#endif
