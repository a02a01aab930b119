// The functions of __half and __nv_bfloat16, which have the same names for both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/emulator/core/device_functions.hpp"
#include "common/emulator/core/narrow_float.hpp"

using half = __half;
using half2 = __half2;

template <class Format>
emulated_half<Format> operator+(emulated_half<Format> a) {
  return a;
}
template <class Format>
emulated_half2<Format> operator+(emulated_half2<Format> a) {
  return a;
}

namespace lab::emulator {

enum class narrow_rounding { nearest, to_zero, up, down };

// Of all numbers of the format the one that the rounding asks for; long double holds every integer of 64
// bits.
template <class Format>
emulated_half<Format> rounded(long double value, narrow_rounding how) {
  using half = emulated_half<Format>;
  const auto widened = [](half a) { return static_cast<long double>(static_cast<float>(a)); };
  half best{static_cast<float>(value)};
  if (std::isnan(value) || widened(best) == value) return best;
  // From one number to the next one, away from zero or back.
  const auto step = [](half a, bool upwards) {
    if ((a.bits & 0x7fffu) == 0) return half::of_bits(upwards ? 1 : 0x8001);
    const bool grows = (a.bits & 0x8000u) == 0 ? upwards : !upwards;
    return half::of_bits(static_cast<std::uint16_t>(grows ? a.bits + 1 : a.bits - 1));
  };
  half below = best, above = best;
  if (widened(best) > value) {
    below = step(best, false);
  } else {
    above = step(best, true);
  }
  if (how == narrow_rounding::up) return above;
  if (how == narrow_rounding::down) return below;
  if (how == narrow_rounding::to_zero) return value < 0 ? above : below;
  if (std::isinf(widened(below)) || std::isinf(widened(above))) return best;
  const long double to_below = value - widened(below), to_above = widened(above) - value;
  if (to_below == to_above) return below.bits % 2 == 0 ? below : above;
  return to_below < to_above ? below : above;
}

template <class Format>
emulated_half<Format> saturated(emulated_half<Format> a) {
  const float value = a;
  return {std::isnan(value) ? 0.0f : std::clamp(value, 0.0f, 1.0f)};
}
template <class Format>
emulated_half<Format> relu(emulated_half<Format> a) {
  return {static_cast<float>(a) < 0.0f ? 0.0f : static_cast<float>(a)};
}
template <class Format>
bool is_unordered(emulated_half<Format> a, emulated_half<Format> b) {
  return std::isnan(static_cast<float>(a)) || std::isnan(static_cast<float>(b));
}

// PTX's conversion to an integer narrower than 32 bits: what is too large becomes the nearest, NaN zero.
template <class T>
T clamped(int value) {
  return static_cast<T>(std::clamp<int>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

}  // namespace lab::emulator

// ---- arithmetic

#define LAB_EMULATOR_NARROW(name, expression)                                    \
  template <class Format>                                                        \
  emulated_half<Format> name(emulated_half<Format> a, emulated_half<Format> b) { \
    return expression;                                                           \
  }
LAB_EMULATOR_NARROW(__hadd_rn, a + b)
LAB_EMULATOR_NARROW(__hsub_rn, a - b)
LAB_EMULATOR_NARROW(__hmul_rn, a* b)
LAB_EMULATOR_NARROW(__hadd_sat, lab::emulator::saturated(a + b))
LAB_EMULATOR_NARROW(__hsub_sat, lab::emulator::saturated(a - b))
LAB_EMULATOR_NARROW(__hmul_sat, lab::emulator::saturated(a* b))
LAB_EMULATOR_NARROW(__hmin_nan, lab::emulator::is_unordered(a, b) ? a.of_bits(0x7fff) : __hmin(a, b))
LAB_EMULATOR_NARROW(__hmax_nan, lab::emulator::is_unordered(a, b) ? a.of_bits(0x7fff) : __hmax(a, b))
#undef LAB_EMULATOR_NARROW
template <class Format>
emulated_half<Format> __hfma_sat(emulated_half<Format> a, emulated_half<Format> b, emulated_half<Format> c) {
  return lab::emulator::saturated(__hfma(a, b, c));
}
template <class Format>
emulated_half<Format> __hfma_relu(emulated_half<Format> a, emulated_half<Format> b, emulated_half<Format> c) {
  return lab::emulator::relu(__hfma(a, b, c));
}
template <class Format>
emulated_half2<Format> __hfma2(emulated_half2<Format> a, emulated_half2<Format> b, emulated_half2<Format> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <class Format>
emulated_half2<Format> __hfma2_sat(emulated_half2<Format> a, emulated_half2<Format> b,
                                   emulated_half2<Format> c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
template <class Format>
emulated_half2<Format> __hfma2_relu(emulated_half2<Format> a, emulated_half2<Format> b,
                                    emulated_half2<Format> c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
// The product of two complex numbers, and a third one.
template <class Format>
emulated_half2<Format> __hcmadd(emulated_half2<Format> a, emulated_half2<Format> b,
                                emulated_half2<Format> c) {
  return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

#define LAB_EMULATOR_NARROW_PAIR(name, one)                                         \
  template <class Format>                                                           \
  emulated_half2<Format> name(emulated_half2<Format> a, emulated_half2<Format> b) { \
    return {one(a.x, b.x), one(a.y, b.y)};                                          \
  }
LAB_EMULATOR_NARROW_PAIR(__hadd2_rn, __hadd_rn)
LAB_EMULATOR_NARROW_PAIR(__hsub2_rn, __hsub_rn)
LAB_EMULATOR_NARROW_PAIR(__hmul2_rn, __hmul_rn)
LAB_EMULATOR_NARROW_PAIR(__hadd2_sat, __hadd_sat)
LAB_EMULATOR_NARROW_PAIR(__hsub2_sat, __hsub_sat)
LAB_EMULATOR_NARROW_PAIR(__hmul2_sat, __hmul_sat)
LAB_EMULATOR_NARROW_PAIR(__hmin2_nan, __hmin_nan)
LAB_EMULATOR_NARROW_PAIR(__hmax2_nan, __hmax_nan)
LAB_EMULATOR_NARROW_PAIR(__hadd2, __hadd_rn)
LAB_EMULATOR_NARROW_PAIR(__hsub2, __hsub_rn)
LAB_EMULATOR_NARROW_PAIR(__hmul2, __hmul_rn)
LAB_EMULATOR_NARROW_PAIR(__h2div, __hdiv)
LAB_EMULATOR_NARROW_PAIR(__hmin2, __hmin)
LAB_EMULATOR_NARROW_PAIR(__hmax2, __hmax)
#undef LAB_EMULATOR_NARROW_PAIR

// ---- comparisons: of one number, unordered, of pairs as numbers, as one truth value and as masks

#define LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS(name, one)                                  \
  template <class Format>                                                                   \
  emulated_half2<Format> __h##name##2(emulated_half2<Format> a, emulated_half2<Format> b) { \
    return {one(a.x, b.x) ? 1.0f : 0.0f, one(a.y, b.y) ? 1.0f : 0.0f};                      \
  }                                                                                         \
  template <class Format>                                                                   \
  bool __hb##name##2(emulated_half2<Format> a, emulated_half2<Format> b) {                  \
    return one(a.x, b.x) && one(a.y, b.y);                                                  \
  }                                                                                         \
  template <class Format>                                                                   \
  unsigned __h##name##2_mask(emulated_half2<Format> a, emulated_half2<Format> b) {          \
    return (one(a.x, b.x) ? 0xffffu : 0u) | (one(a.y, b.y) ? 0xffff0000u : 0u);             \
  }
#define LAB_EMULATOR_NARROW_COMPARISON(name)                            \
  template <class Format>                                               \
  bool __h##name##u(emulated_half<Format> a, emulated_half<Format> b) { \
    return lab::emulator::is_unordered(a, b) || __h##name(a, b);        \
  }                                                                     \
  LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS(name, __h##name)              \
  LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS(name##u, __h##name##u)
LAB_EMULATOR_NARROW_COMPARISON(eq)
LAB_EMULATOR_NARROW_COMPARISON(lt)
LAB_EMULATOR_NARROW_COMPARISON(le)
LAB_EMULATOR_NARROW_COMPARISON(gt)
LAB_EMULATOR_NARROW_COMPARISON(ge)
#undef LAB_EMULATOR_NARROW_COMPARISON
// Unlike C++'s, CUDA's ordered inequality is false where one is no number.
template <class Format>
bool __hneu(emulated_half<Format> a, emulated_half<Format> b) {
  return a != b;
}
LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS(ne, __hne)
LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS(neu, __hneu)
#undef LAB_EMULATOR_NARROW_COMPARISON_OF_PAIRS

// ---- functions of one number and of pairs

#define LAB_EMULATOR_NARROW_FUNCTION(name, expression)          \
  template <class Format>                                       \
  emulated_half<Format> h##name(emulated_half<Format> number) { \
    const float a = number;                                     \
    return {expression};                                        \
  }
LAB_EMULATOR_NARROW_FUNCTION(exp10, std::pow(10.0f, a))
LAB_EMULATOR_NARROW_FUNCTION(log10, std::log10(a))
LAB_EMULATOR_NARROW_FUNCTION(rint, std::nearbyint(a))
LAB_EMULATOR_NARROW_FUNCTION(trunc, std::trunc(a))
LAB_EMULATOR_NARROW_FUNCTION(tanh_approx, std::tanh(a))
#undef LAB_EMULATOR_NARROW_FUNCTION

#define LAB_EMULATOR_NARROW_OF_PAIRS(name, one)           \
  template <class Format>                                 \
  emulated_half2<Format> name(emulated_half2<Format> a) { \
    return {one(a.x), one(a.y)};                          \
  }
LAB_EMULATOR_NARROW_OF_PAIRS(__habs2, __habs)
LAB_EMULATOR_NARROW_OF_PAIRS(__hneg2, __hneg)
LAB_EMULATOR_NARROW_OF_PAIRS(h2ceil, hceil)
LAB_EMULATOR_NARROW_OF_PAIRS(h2floor, hfloor)
LAB_EMULATOR_NARROW_OF_PAIRS(h2trunc, htrunc)
LAB_EMULATOR_NARROW_OF_PAIRS(h2rint, hrint)
LAB_EMULATOR_NARROW_OF_PAIRS(h2sin, hsin)
LAB_EMULATOR_NARROW_OF_PAIRS(h2cos, hcos)
LAB_EMULATOR_NARROW_OF_PAIRS(h2sqrt, hsqrt)
LAB_EMULATOR_NARROW_OF_PAIRS(h2exp, hexp)
LAB_EMULATOR_NARROW_OF_PAIRS(h2exp2, hexp2)
LAB_EMULATOR_NARROW_OF_PAIRS(h2exp10, hexp10)
LAB_EMULATOR_NARROW_OF_PAIRS(h2log, hlog)
LAB_EMULATOR_NARROW_OF_PAIRS(h2log2, hlog2)
LAB_EMULATOR_NARROW_OF_PAIRS(h2log10, hlog10)
LAB_EMULATOR_NARROW_OF_PAIRS(h2rcp, hrcp)
LAB_EMULATOR_NARROW_OF_PAIRS(h2rsqrt, hrsqrt)
LAB_EMULATOR_NARROW_OF_PAIRS(h2tanh, htanh)
LAB_EMULATOR_NARROW_OF_PAIRS(h2tanh_approx, htanh)
#undef LAB_EMULATOR_NARROW_OF_PAIRS
template <class Format>
emulated_half2<Format> __hisnan2(emulated_half2<Format> a) {
  return {__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f};
}

// ---- what is not a template, as its arguments may be converted to `Half`; `word` is half or bfloat16

#define LAB_EMULATOR_FUNCTION(Result, name, parameters, ...) \
  inline Result name parameters {                            \
    return __VA_ARGS__;                                      \
  }
#define LAB_EMULATOR_HALF(word, Half, Half2)                                                     \
  struct Half##_raw {                                                                            \
    unsigned short x;                                                                            \
  };                                                                                             \
  struct Half2##_raw {                                                                           \
    unsigned short x, y;                                                                         \
  };                                                                                             \
  LAB_EMULATOR_FUNCTION(Half, __hadd, (Half a, Half b), a + b)                                   \
  LAB_EMULATOR_FUNCTION(Half, __hsub, (Half a, Half b), a - b)                                   \
  LAB_EMULATOR_FUNCTION(Half, __hmul, (Half a, Half b), a* b)                                    \
  LAB_EMULATOR_FUNCTION(Half, __hdiv, (Half a, Half b), a / b)                                   \
  LAB_EMULATOR_FUNCTION(Half, __hneg, (Half a), -a)                                              \
  LAB_EMULATOR_FUNCTION(Half, __habs, (Half a), Half::of_bits(a.bits & 0x7fffu))                 \
  LAB_EMULATOR_FUNCTION(Half, __hfma, (Half a, Half b, Half c), {lab::emulator::fused(a, b, c)}) \
  LAB_EMULATOR_FUNCTION(Half, __hmin, (Half a, Half b), {fminf(a, b)})                           \
  LAB_EMULATOR_FUNCTION(Half, __hmax, (Half a, Half b), {fmaxf(a, b)})                           \
  LAB_EMULATOR_FUNCTION(Half, min, (Half a, Half b), __hmin(a, b))                               \
  LAB_EMULATOR_FUNCTION(Half, max, (Half a, Half b), __hmax(a, b))                               \
  LAB_EMULATOR_FUNCTION(bool, __heq, (Half a, Half b), a == b)                                   \
  LAB_EMULATOR_FUNCTION(bool, __hne, (Half a, Half b), a < b || b < a)                           \
  LAB_EMULATOR_FUNCTION(bool, __hlt, (Half a, Half b), a < b)                                    \
  LAB_EMULATOR_FUNCTION(bool, __hle, (Half a, Half b), a <= b)                                   \
  LAB_EMULATOR_FUNCTION(bool, __hgt, (Half a, Half b), a > b)                                    \
  LAB_EMULATOR_FUNCTION(bool, __hge, (Half a, Half b), a >= b)                                   \
  LAB_EMULATOR_FUNCTION(bool, __hisnan, (Half a), std::isnan(static_cast<float>(a)))             \
  LAB_EMULATOR_FUNCTION(int, __hisinf, (Half a), std::isinf(static_cast<float>(a)))              \
  LAB_EMULATOR_FUNCTION(Half, hsqrt, (Half a), {sqrtf(a)})                                       \
  LAB_EMULATOR_FUNCTION(Half, hrsqrt, (Half a), {1.0f / sqrtf(a)})                               \
  LAB_EMULATOR_FUNCTION(Half, hrcp, (Half a), {1.0f / static_cast<float>(a)})                    \
  LAB_EMULATOR_FUNCTION(Half, hexp, (Half a), {expf(a)})                                         \
  LAB_EMULATOR_FUNCTION(Half, hexp2, (Half a), {exp2f(a)})                                       \
  LAB_EMULATOR_FUNCTION(Half, hlog, (Half a), {logf(a)})                                         \
  LAB_EMULATOR_FUNCTION(Half, hlog2, (Half a), {log2f(a)})                                       \
  LAB_EMULATOR_FUNCTION(Half, hsin, (Half a), {sinf(a)})                                         \
  LAB_EMULATOR_FUNCTION(Half, hcos, (Half a), {cosf(a)})                                         \
  LAB_EMULATOR_FUNCTION(Half, htanh, (Half a), {tanhf(a)})                                       \
  LAB_EMULATOR_FUNCTION(Half, hfloor, (Half a), {floorf(a)})                                     \
  LAB_EMULATOR_FUNCTION(Half, hceil, (Half a), {ceilf(a)})                                       \
  LAB_EMULATOR_FUNCTION(float, __low2float, (Half2 a), a.x)                                      \
  LAB_EMULATOR_FUNCTION(float, __high2float, (Half2 a), a.y)                                     \
  inline Half atomicAdd(Half* address, Half value) {                                             \
    /* The word that holds it changes as a whole. */                                             \
    const auto position = reinterpret_cast<std::uintptr_t>(address);                             \
    auto* const pair = reinterpret_cast<unsigned*>(position & ~std::uintptr_t{3});               \
    const unsigned shift = position & 2 ? 16 : 0;                                                \
    const std::pair<unsigned, Half> part{shift, value};                                          \
    const unsigned old = ::lab::emulator::change_word(                                           \
        pair,                                                                                    \
        [](unsigned seen, const void* with) {                                                    \
          const auto [at, added] = *static_cast<const std::pair<unsigned, Half>*>(with);         \
          const Half sum = Half::of_bits(static_cast<std::uint16_t>(seen >> at)) + added;        \
          return (seen & ~(0xffffu << at)) | static_cast<unsigned>(sum.bits) << at;              \
        },                                                                                       \
        &part);                                                                                  \
    return Half::of_bits(static_cast<std::uint16_t>(old >> shift));                              \
  }                                                                                              \
  inline Half2 atomicAdd(Half2* address, Half2 value) {                                          \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                   \
  }                                                                                              \
  LAB_EMULATOR_FUNCTION(Half, __float2##word##_rn, (float a), {a})                               \
  LAB_EMULATOR_FUNCTION(Half, __double2##word, (double a), {static_cast<float>(a)})              \
  LAB_EMULATOR_FUNCTION(Half2, __float2##word##2_rn, (float a), {a, a})                          \
  LAB_EMULATOR_FUNCTION(Half2, __floats2##word##2_rn, (float a, float b), {a, b})                \
  LAB_EMULATOR_FUNCTION(Half2, __float22##word##2_rn, (float2 a), {a.x, a.y})                    \
  LAB_EMULATOR_FUNCTION(float2, __##word##22float2, (Half2 a), {a.x, a.y})                       \
  LAB_EMULATOR_FUNCTION(Half2, __##word##2##word##2, (Half a), {a, a})                           \
  LAB_EMULATOR_FUNCTION(Half2, __halves2##word##2, (Half a, Half b), {a, b})                     \
  LAB_EMULATOR_FUNCTION(Half2, make_##word##2, (Half a, Half b), {a, b})                         \
  LAB_EMULATOR_FUNCTION(Half, __low2##word, (Half2 a), a.x)                                      \
  LAB_EMULATOR_FUNCTION(Half, __high2##word, (Half2 a), a.y)                                     \
  LAB_EMULATOR_FUNCTION(Half2, __low2##word##2, (Half2 a), {a.x, a.x})                           \
  LAB_EMULATOR_FUNCTION(Half2, __high2##word##2, (Half2 a), {a.y, a.y})                          \
  LAB_EMULATOR_FUNCTION(Half2, __lows2##word##2, (Half2 a, Half2 b), {a.x, b.x})                 \
  LAB_EMULATOR_FUNCTION(Half2, __highs2##word##2, (Half2 a, Half2 b), {a.y, b.y})                \
  LAB_EMULATOR_FUNCTION(Half2, __lowhigh2highlow, (Half2 a), {a.y, a.x})                         \
  LAB_EMULATOR_FUNCTION(Half, __ushort_as_##word, (unsigned short bits), Half::of_bits(bits))    \
  LAB_EMULATOR_FUNCTION(unsigned short, __##word##_as_ushort, (Half a), a.bits)                  \
  LAB_EMULATOR_FUNCTION(Half, __short_as_##word, (short bits),                                   \
                        Half::of_bits(static_cast<std::uint16_t>(bits)))                         \
  LAB_EMULATOR_FUNCTION(short, __##word##_as_short, (Half a), static_cast<short>(a.bits))

// ---- conversions that say how they round

#define LAB_EMULATOR_NARROW_FROM(word, Half, kind, type, suffix, how)                                      \
  inline Half __##kind##2##word##suffix(type a) {                                                          \
    return lab::emulator::rounded<lab::emulator::format_of<Half>>(a, lab::emulator::narrow_rounding::how); \
  }
#define LAB_EMULATOR_NARROW_INTEGERS(word, Half, suffix, how)                \
  LAB_EMULATOR_NARROW_FROM(word, Half, int, int, suffix, how)                \
  LAB_EMULATOR_NARROW_FROM(word, Half, uint, unsigned, suffix, how)          \
  LAB_EMULATOR_NARROW_FROM(word, Half, short, short, suffix, how)            \
  LAB_EMULATOR_NARROW_FROM(word, Half, ushort, unsigned short, suffix, how)  \
  LAB_EMULATOR_NARROW_FROM(word, Half, ll, long long, suffix, how)           \
  LAB_EMULATOR_NARROW_FROM(word, Half, ull, unsigned long long, suffix, how) \
  inline int __##word##2int##suffix(Half a) {                                \
    return __float2int##suffix(a);                                           \
  }                                                                          \
  inline unsigned __##word##2uint##suffix(Half a) {                          \
    return __float2uint##suffix(a);                                          \
  }                                                                          \
  inline long long __##word##2ll##suffix(Half a) {                           \
    return __float2ll##suffix(a);                                            \
  }                                                                          \
  inline unsigned long long __##word##2ull##suffix(Half a) {                 \
    return __float2ull##suffix(a);                                           \
  }                                                                          \
  inline short __##word##2short##suffix(Half a) {                            \
    return lab::emulator::clamped<short>(__float2int##suffix(a));            \
  }                                                                          \
  inline unsigned short __##word##2ushort##suffix(Half a) {                  \
    return lab::emulator::clamped<unsigned short>(__float2int##suffix(a));   \
  }
#define LAB_EMULATOR_NARROW_CONVERSIONS(word, Half, Half2)           \
  LAB_EMULATOR_HALF(word, Half, Half2)                               \
  LAB_EMULATOR_NARROW_INTEGERS(word, Half, _rn, nearest)             \
  LAB_EMULATOR_NARROW_INTEGERS(word, Half, _rz, to_zero)             \
  LAB_EMULATOR_NARROW_INTEGERS(word, Half, _ru, up)                  \
  LAB_EMULATOR_NARROW_INTEGERS(word, Half, _rd, down)                \
  LAB_EMULATOR_NARROW_FROM(word, Half, float, float, _rz, to_zero)   \
  LAB_EMULATOR_NARROW_FROM(word, Half, float, float, _ru, up)        \
  LAB_EMULATOR_NARROW_FROM(word, Half, float, float, _rd, down)      \
  inline signed char __##word##2char_rz(Half a) {                    \
    return lab::emulator::clamped<signed char>(__float2int_rz(a));   \
  }                                                                  \
  inline unsigned char __##word##2uchar_rz(Half a) {                 \
    return lab::emulator::clamped<unsigned char>(__float2int_rz(a)); \
  }

namespace lab::emulator {
template <class Half>
struct format_of_half;
template <class Format>
struct format_of_half<emulated_half<Format>> {
  using type = Format;
};
template <class Half>
using format_of = typename format_of_half<Half>::type;
}  // namespace lab::emulator
