// More of CUDA's device functions: conversions, arithmetic with a rounding mode, SIMD within a word, atomics
// with a scope. Those of math_functions.hpp are what the lab's own kernels use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/emulator/core/atomic_functions.hpp"
#include "common/emulator/core/dependent_launch_functions.hpp"
#include "common/emulator/core/math_functions.hpp"
#include "common/emulator/core/thread_functions.hpp"
#include "common/emulator/core/vector_types.hpp"

namespace lab::emulator {

enum class rounding { nearest, to_zero, up, down };

template <rounding how, class T>
T rounded_whole(T value) {
  if constexpr (how == rounding::nearest) return std::nearbyint(value);
  if constexpr (how == rounding::to_zero) return std::trunc(value);
  if constexpr (how == rounding::up) return std::ceil(value);
  if constexpr (how == rounding::down) return std::floor(value);
}

// As the hardware converts: what is too large becomes the largest, and a NaN 0 (or the smallest, for 64
// bits).
template <class Whole, rounding how, class T>
Whole to_whole(T value) {
  using limits = std::numeric_limits<Whole>;
  if (value != value) return sizeof(Whole) == 8 ? static_cast<Whole>(std::uint64_t{1} << 63) : Whole{};
  const T whole = rounded_whole<how>(value);
  if (whole >= static_cast<T>(limits::max())) return limits::max();
  if (whole <= static_cast<T>(limits::min())) return limits::min();
  return static_cast<Whole>(whole);
}

// `nearest` is the exact value rounded to nearest, and `error` has the sign of exact minus nearest.
template <rounding how, class T>
T directed(T nearest, T error) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (!(error != 0) || !std::isfinite(nearest)) return nearest;
  const bool is_above = error < 0;  // nearest is above the exact value
  if constexpr (how == rounding::up) return is_above ? nearest : std::nextafter(nearest, infinity);
  if constexpr (how == rounding::down) return is_above ? std::nextafter(nearest, -infinity) : nearest;
  if constexpr (how == rounding::to_zero) {
    if (nearest > 0 && is_above) return std::nextafter(nearest, T{0});
    if (nearest < 0 && !is_above) return std::nextafter(nearest, T{0});
  }
  return nearest;
}

template <rounding how, class T>
T add(T a, T b) {
  const T sum = a + b;
  const T of_b = sum - a;
  return directed<how>(sum, (a - (sum - of_b)) + (b - of_b));  // Knuth's exact error of a sum
}
template <rounding how, class T>
T multiply(T a, T b) {
  const T product = a * b;
  return directed<how>(product, std::fma(a, b, -product));
}
template <rounding how, class T>
T divide(T a, T b) {
  const T quotient = a / b;
  const T rest = std::fma(-quotient, b, a);
  return directed<how>(quotient, b < 0 ? -rest : rest);
}
template <rounding how, class T>
T square_root(T a) {
  const T root = std::sqrt(a);
  return directed<how>(root, std::fma(-root, root, a));
}
// Of the product's two parts and the third number, the sign of what is left out.
template <rounding how, class T>
T multiply_add(T a, T b, T c) {
  const T result = std::fma(a, b, c);
  const T high = a * b, low = std::fma(a, b, -high);
  const T sum = high + c, of_c = sum - high;
  const T rest = (high - (sum - of_c)) + (c - of_c);
  return directed<how>(result, (sum - result) + (rest + low));
}

// From a type with more bits than the result has.
template <class To, rounding how, class From>
To narrowed(From value) {
  const To nearest = static_cast<To>(value);
  if constexpr (std::is_integral_v<From>) {
    const auto exact = static_cast<long double>(value);
    const long double error = exact - static_cast<long double>(nearest);
    return directed<how>(nearest, static_cast<To>(error < 0 ? -1 : error > 0 ? 1 : 0));
  } else {
    const From error = value - static_cast<From>(nearest);
    return directed<how>(nearest, static_cast<To>(error < 0 ? -1 : error > 0 ? 1 : 0));
  }
}

// A part's value, and the largest that there is.
enum class part_sign { without, with };
template <part_sign sign, unsigned bits>
constexpr int part_value(int part) {
  constexpr int half = 1 << (bits - 1);
  return sign == part_sign::with ? (part ^ half) - half : part;
}
template <part_sign sign, unsigned bits>
inline constexpr int part_most = (1 << (sign == part_sign::with ? bits - 1 : bits)) - 1;

// Applies `change` to the parts of two words, `bits` wide.
template <unsigned bits, class Change>
unsigned by_parts(unsigned a, unsigned b, Change change) {
  constexpr unsigned mask = bits == 8 ? 0xffu : 0xffffu;
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += bits)
    result |= (static_cast<unsigned>(
                   change(static_cast<int>(a >> shift & mask), static_cast<int>(b >> shift & mask))) &
               mask)
              << shift;
  return result;
}

// Likewise of three words, whose halves are numbers of type Half.
template <class Half, class Change>
unsigned by_halves(unsigned a, unsigned b, unsigned c, Change change) {
  const auto half = [](unsigned word, unsigned shift) { return static_cast<Half>(word >> shift); };
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16)
    result |= static_cast<unsigned>(
                  static_cast<std::uint16_t>(change(half(a, shift), half(b, shift), half(c, shift))))
              << shift;
  return result;
}

template <class Word>
Word wrapped_sum(Word a, Word b) {
  return static_cast<Word>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

}  // namespace lab::emulator

#define LAB_EMULATOR_CONVERSION_ROUNDED(result, name, type, convert, suffix, how) \
  __forceinline__ result __##name##suffix(type a) {                               \
    return lab::emulator::convert<result, lab::emulator::rounding::how>(a);       \
  }
#define LAB_EMULATOR_CONVERSION(result, name, type, convert)                 \
  LAB_EMULATOR_CONVERSION_ROUNDED(result, name, type, convert, _rn, nearest) \
  LAB_EMULATOR_CONVERSION_ROUNDED(result, name, type, convert, _rz, to_zero) \
  LAB_EMULATOR_CONVERSION_ROUNDED(result, name, type, convert, _ru, up)      \
  LAB_EMULATOR_CONVERSION_ROUNDED(result, name, type, convert, _rd, down)
LAB_EMULATOR_CONVERSION(int, float2int, float, to_whole)
LAB_EMULATOR_CONVERSION(unsigned, float2uint, float, to_whole)
LAB_EMULATOR_CONVERSION(long long, float2ll, float, to_whole)
LAB_EMULATOR_CONVERSION(unsigned long long, float2ull, float, to_whole)
LAB_EMULATOR_CONVERSION(int, double2int, double, to_whole)
LAB_EMULATOR_CONVERSION(unsigned, double2uint, double, to_whole)
LAB_EMULATOR_CONVERSION(long long, double2ll, double, to_whole)
LAB_EMULATOR_CONVERSION(unsigned long long, double2ull, double, to_whole)
LAB_EMULATOR_CONVERSION(float, double2float, double, narrowed)
LAB_EMULATOR_CONVERSION(float, int2float, int, narrowed)
LAB_EMULATOR_CONVERSION(float, uint2float, unsigned, narrowed)
LAB_EMULATOR_CONVERSION(float, ll2float, long long, narrowed)
LAB_EMULATOR_CONVERSION(float, ull2float, unsigned long long, narrowed)
LAB_EMULATOR_CONVERSION(double, ll2double, long long, narrowed)
LAB_EMULATOR_CONVERSION(double, ull2double, unsigned long long, narrowed)
#undef LAB_EMULATOR_CONVERSION
#undef LAB_EMULATOR_CONVERSION_ROUNDED
__forceinline__ double __int2double_rn(int a) {
  return a;
}
__forceinline__ double __uint2double_rn(unsigned a) {
  return a;
}
__forceinline__ double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

// Those to nearest are in math_functions.hpp; `fma` is the fused operation's name.
#define LAB_EMULATOR_ARITHMETIC_ROUNDED(type, letter, fma, suffix, how)        \
  __forceinline__ type __##letter##add##suffix(type a, type b) {               \
    return lab::emulator::add<lab::emulator::rounding::how>(a, b);             \
  }                                                                            \
  __forceinline__ type __##letter##sub##suffix(type a, type b) {               \
    return lab::emulator::add<lab::emulator::rounding::how>(a, -b);            \
  }                                                                            \
  __forceinline__ type __##letter##mul##suffix(type a, type b) {               \
    return lab::emulator::multiply<lab::emulator::rounding::how>(a, b);        \
  }                                                                            \
  __forceinline__ type __##letter##div##suffix(type a, type b) {               \
    return lab::emulator::divide<lab::emulator::rounding::how>(a, b);          \
  }                                                                            \
  __forceinline__ type __##letter##rcp##suffix(type a) {                       \
    return lab::emulator::divide<lab::emulator::rounding::how>(type{1}, a);    \
  }                                                                            \
  __forceinline__ type __##letter##sqrt##suffix(type a) {                      \
    return lab::emulator::square_root<lab::emulator::rounding::how>(a);        \
  }                                                                            \
  __forceinline__ type fma##suffix(type a, type b, type c) {                   \
    return lab::emulator::multiply_add<lab::emulator::rounding::how>(a, b, c); \
  }
#define LAB_EMULATOR_ARITHMETIC(suffix, how)                     \
  LAB_EMULATOR_ARITHMETIC_ROUNDED(float, f, __fmaf, suffix, how) \
  LAB_EMULATOR_ARITHMETIC_ROUNDED(double, d, __fma, suffix, how)
LAB_EMULATOR_ARITHMETIC(_rz, to_zero)
LAB_EMULATOR_ARITHMETIC(_ru, up)
LAB_EMULATOR_ARITHMETIC(_rd, down)
#undef LAB_EMULATOR_ARITHMETIC
#undef LAB_EMULATOR_ARITHMETIC_ROUNDED
__forceinline__ double __drcp_rn(double a) {
  return 1.0 / a;
}
__forceinline__ float __frsqrt_rn(float a) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
}

// ---- integers

// The product of the lower 24 bits.
__forceinline__ int __mul24(int a, int b) {
  const auto low = [](int value) {
    return static_cast<std::int64_t>(static_cast<int>(static_cast<unsigned>(value) << 8) >> 8);
  };
  return static_cast<int>(low(a) * low(b));
}
__forceinline__ unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
__forceinline__ int mul24(int a, int b) {
  return __mul24(a, b);
}
__forceinline__ unsigned umul24(unsigned a, unsigned b) {
  return __umul24(a, b);
}
__forceinline__ unsigned umulhi(unsigned a, unsigned b) {
  return __umulhi(a, b);
}
__forceinline__ unsigned umin(unsigned a, unsigned b) {
  return min(a, b);
}
__forceinline__ unsigned umax(unsigned a, unsigned b) {
  return max(a, b);
}
__forceinline__ long long llmin(long long a, long long b) {
  return min(a, b);
}
__forceinline__ long long llmax(long long a, long long b) {
  return max(a, b);
}
__forceinline__ unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
__forceinline__ unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
__forceinline__ int mulhi(int a, int b) {
  return __mulhi(a, b);
}
__forceinline__ long long __mul64hi(long long a, long long b) {
  __extension__ using wide = __int128;
  return static_cast<long long>(static_cast<wide>(a) * b >> 64);
}
// |a - b| + c
__forceinline__ unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
                : static_cast<unsigned>(b) - static_cast<unsigned>(a)) +
         c;
}
__forceinline__ unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a > b ? a - b : b - a) + c;
}
// Averages that do not overflow.
__forceinline__ int __hadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1);
}
__forceinline__ int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
__forceinline__ unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}
__forceinline__ unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}
// The position of the n-th set bit from `base` upwards (n > 0) or downwards; ~0 if there is none.
__forceinline__ unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return mask >> base & 1u ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1u) != 0 && --left == 0) return static_cast<unsigned>(position);
  }
  return 0xffffffffu;
}
__forceinline__ unsigned __bfe(unsigned value, unsigned start, unsigned length) {
  return length == 0 || start > 31 ? 0u : value >> start & (length > 31 ? ~0u : (1u << length) - 1u);
}

// ---- SIMD within a word

// Of each: two parts of 16 bits and four of 8, which `expression` has as `a` and `b`, with their sign where
// the name says so (an s behind the operation).
#define LAB_EMULATOR_SIMD(name, signedness, bits, expression)                               \
  __forceinline__ unsigned name(unsigned left, [[maybe_unused]] unsigned right) {           \
    using namespace lab::emulator;                                                          \
    return by_parts<bits>(left, right, [](int a_bits, int b_bits) {                         \
      [[maybe_unused]] const int a = part_value<signedness, bits>(a_bits);                  \
      [[maybe_unused]] const int b = part_value<signedness, bits>(b_bits);                  \
      [[maybe_unused]] constexpr int most = part_most<signedness, bits>;                    \
      [[maybe_unused]] constexpr int least = signedness == part_sign::with ? -most - 1 : 0; \
      return expression;                                                                    \
    });                                                                                     \
  }
#define LAB_EMULATOR_SIMD_BOTH(name, signedness, expression) \
  LAB_EMULATOR_SIMD(name##2, signedness, 16, expression)     \
  LAB_EMULATOR_SIMD(name##4, signedness, 8, expression)
#define LAB_EMULATOR_SIMD_PAIR(name, expression)                              \
  LAB_EMULATOR_SIMD_BOTH(name##s, lab::emulator::part_sign::with, expression) \
  LAB_EMULATOR_SIMD_BOTH(name##u, lab::emulator::part_sign::without, expression)
#define LAB_EMULATOR_SIMD_PLAIN(name, expression) \
  LAB_EMULATOR_SIMD_BOTH(name, lab::emulator::part_sign::without, expression)
#define LAB_EMULATOR_SIMD_SATURATED(name, expression)                                                   \
  LAB_EMULATOR_SIMD_BOTH(name##ss, lab::emulator::part_sign::with, std::clamp(expression, least, most)) \
  LAB_EMULATOR_SIMD_BOTH(name##us, lab::emulator::part_sign::without, std::clamp(expression, least, most))
LAB_EMULATOR_SIMD_PLAIN(__vadd, a + b)
LAB_EMULATOR_SIMD_PLAIN(__vsub, a - b)
LAB_EMULATOR_SIMD_SATURATED(__vadd, a + b)
LAB_EMULATOR_SIMD_SATURATED(__vsub, a - b)
LAB_EMULATOR_SIMD_PAIR(__vmin, std::min(a, b))
LAB_EMULATOR_SIMD_PAIR(__vmax, std::max(a, b))
LAB_EMULATOR_SIMD_PAIR(__vabsdiff, std::max(a, b) - std::min(a, b))
LAB_EMULATOR_SIMD_PLAIN(__vavgu, (a + b + 1) / 2)
LAB_EMULATOR_SIMD_PLAIN(__vhaddu, (a + b) / 2)
// Towards the sign of the sum, away from zero.
LAB_EMULATOR_SIMD_BOTH(__vavgs, lab::emulator::part_sign::with, (a + b + (a + b >= 0)) >> 1)
LAB_EMULATOR_SIMD_PLAIN(__vcmpeq, a == b ? -1 : 0)
LAB_EMULATOR_SIMD_PLAIN(__vcmpne, a != b ? -1 : 0)
LAB_EMULATOR_SIMD_PAIR(__vcmpgt, a > b ? -1 : 0)
LAB_EMULATOR_SIMD_PAIR(__vcmpge, a >= b ? -1 : 0)
LAB_EMULATOR_SIMD_PAIR(__vcmplt, a < b ? -1 : 0)
LAB_EMULATOR_SIMD_PAIR(__vcmple, a <= b ? -1 : 0)
LAB_EMULATOR_SIMD_PLAIN(__vseteq, a == b)
LAB_EMULATOR_SIMD_PLAIN(__vsetne, a != b)
LAB_EMULATOR_SIMD_PAIR(__vsetgt, a > b)
LAB_EMULATOR_SIMD_PAIR(__vsetge, a >= b)
LAB_EMULATOR_SIMD_PAIR(__vsetlt, a < b)
LAB_EMULATOR_SIMD_PAIR(__vsetle, a <= b)
// Of one word.
#define LAB_EMULATOR_SIMD_UNARY(name, bits, expression)        \
  __forceinline__ unsigned name(unsigned word) {               \
    using namespace lab::emulator;                             \
    return by_parts<bits>(word, 0u, [](int a_bits, int) {      \
      const int a = part_value<part_sign::with, bits>(a_bits); \
      return expression;                                       \
    });                                                        \
  }
LAB_EMULATOR_SIMD_UNARY(__vabs2, 16, a < 0 ? -a : a)
LAB_EMULATOR_SIMD_UNARY(__vabs4, 8, a < 0 ? -a : a)
LAB_EMULATOR_SIMD_UNARY(__vabsss2, 16, std::min(a < 0 ? -a : a, 0x7fff))
LAB_EMULATOR_SIMD_UNARY(__vabsss4, 8, std::min(a < 0 ? -a : a, 0x7f))
LAB_EMULATOR_SIMD_UNARY(__vneg2, 16, -a)
LAB_EMULATOR_SIMD_UNARY(__vneg4, 8, -a)
LAB_EMULATOR_SIMD_UNARY(__vnegss2, 16, std::min(-a, 0x7fff))
LAB_EMULATOR_SIMD_UNARY(__vnegss4, 8, std::min(-a, 0x7f))
#undef LAB_EMULATOR_SIMD_UNARY
#undef LAB_EMULATOR_SIMD_SATURATED
#undef LAB_EMULATOR_SIMD_PLAIN
#undef LAB_EMULATOR_SIMD_PAIR
#undef LAB_EMULATOR_SIMD_BOTH
#undef LAB_EMULATOR_SIMD
// Dynamic programming: of three words, or of their halves; _relu is not below zero. Sums wrap around.
#define LAB_EMULATOR_DPX(name, expression)                                                           \
  __forceinline__ int __vi##name##_s32(int a, int b, int c) {                                        \
    using word = int;                                                                                \
    return expression;                                                                               \
  }                                                                                                  \
  __forceinline__ unsigned __vi##name##_u32(unsigned a, unsigned b, unsigned c) {                    \
    using word = unsigned;                                                                           \
    return expression;                                                                               \
  }                                                                                                  \
  __forceinline__ int __vi##name##_s32_relu(int a, int b, int c) {                                   \
    return std::max(__vi##name##_s32(a, b, c), 0);                                                   \
  }                                                                                                  \
  __forceinline__ unsigned __vi##name##_s16x2(unsigned first, unsigned second, unsigned third) {     \
    return lab::emulator::by_halves<short>(first, second, third, [](short a, short b, short c) {     \
      using word = short;                                                                            \
      return static_cast<short>(expression);                                                         \
    });                                                                                              \
  }                                                                                                  \
  __forceinline__ unsigned __vi##name##_u16x2(unsigned first, unsigned second, unsigned third) {     \
    using word = unsigned short;                                                                     \
    return lab::emulator::by_halves<word>(                                                           \
        first, second, third, [](word a, word b, word c) { return static_cast<word>(expression); }); \
  }                                                                                                  \
  __forceinline__ unsigned __vi##name##_s16x2_relu(unsigned a, unsigned b, unsigned c) {             \
    return __vmaxs2(__vi##name##_s16x2(a, b, c), 0u);                                                \
  }
LAB_EMULATOR_DPX(max3, std::max(word{a}, std::max(word{b}, word{c})))
LAB_EMULATOR_DPX(min3, std::min(word{a}, std::min(word{b}, word{c})))
LAB_EMULATOR_DPX(addmax, std::max(lab::emulator::wrapped_sum<word>(a, b), word{c}))
LAB_EMULATOR_DPX(addmin, std::min(lab::emulator::wrapped_sum<word>(a, b), word{c}))
#undef LAB_EMULATOR_DPX
__forceinline__ int __vimax_s32_relu(int a, int b) {
  return std::max({a, b, 0});
}
__forceinline__ int __vimin_s32_relu(int a, int b) {
  return std::max(std::min(a, b), 0);
}
__forceinline__ unsigned __vimax_s16x2_relu(unsigned a, unsigned b) {
  return __vmaxs2(__vmaxs2(a, b), 0u);
}
__forceinline__ unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
  return __vmaxs2(__vmins2(a, b), 0u);
}
// With whether it was the first one, of both where they are equal.
__forceinline__ int __vibmax_s32(int a, int b, bool* is_first) {
  *is_first = a >= b;
  return std::max(a, b);
}
__forceinline__ unsigned __vibmax_u32(unsigned a, unsigned b, bool* is_first) {
  *is_first = a >= b;
  return std::max(a, b);
}
__forceinline__ int __vibmin_s32(int a, int b, bool* is_first) {
  *is_first = a <= b;
  return std::min(a, b);
}
__forceinline__ unsigned __vibmin_u32(unsigned a, unsigned b, bool* is_first) {
  *is_first = a <= b;
  return std::min(a, b);
}

#define LAB_EMULATOR_DPX_HALVES(name, half, is_better)                           \
  __forceinline__ unsigned name(unsigned a, unsigned b, bool* high, bool* low) { \
    *high = static_cast<half>(a >> 16) is_better static_cast<half>(b >> 16);     \
    *low = static_cast<half>(a) is_better static_cast<half>(b);                  \
    return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);         \
  }
LAB_EMULATOR_DPX_HALVES(__vibmax_s16x2, short, >=)
LAB_EMULATOR_DPX_HALVES(__vibmax_u16x2, unsigned short, >=)
LAB_EMULATOR_DPX_HALVES(__vibmin_s16x2, short, <=)
LAB_EMULATOR_DPX_HALVES(__vibmin_u16x2, unsigned short, <=)
#undef LAB_EMULATOR_DPX_HALVES

// The sum of the absolute differences.
#define LAB_EMULATOR_SIMD_SUM(name, difference, bits)                                                \
  __forceinline__ unsigned name(unsigned a, unsigned b) {                                            \
    const unsigned parts = difference(a, b);                                                         \
    unsigned sum = 0;                                                                                \
    for (unsigned shift = 0; shift < 32; shift += bits) sum += parts >> shift & ((1u << bits) - 1u); \
    return sum;                                                                                      \
  }
LAB_EMULATOR_SIMD_SUM(__vsads2, __vabsdiffs2, 16)
LAB_EMULATOR_SIMD_SUM(__vsads4, __vabsdiffs4, 8)
LAB_EMULATOR_SIMD_SUM(__vsadu2, __vabsdiffu2, 16)
LAB_EMULATOR_SIMD_SUM(__vsadu4, __vabsdiffu4, 8)
#undef LAB_EMULATOR_SIMD_SUM

// ---- floating point

__forceinline__ float fdividef(float a, float b) {
  return a / b;
}
__forceinline__ float saturate(float a) {
  return __saturatef(a);
}
__forceinline__ float __exp10f(float a) {
  return powf(10.0f, a);
}
__forceinline__ void __sincosf(float a, float* sine, float* cosine) noexcept {
  *sine = sinf(a);
  *cosine = cosf(a);
}
// Of a * pi: exact where a is a multiple of a half.
__forceinline__ double sinpi(double a) {
  const double rest = std::fmod(a, 2.0), turns = std::fabs(rest);
  if (turns == 0.0 || turns == 1.0) return 0.0 * a;
  if (turns == 0.5) return rest > 0 ? 1.0 : -1.0;
  if (turns == 1.5) return rest > 0 ? -1.0 : 1.0;
  return std::sin(rest * 3.14159265358979323846);
}
__forceinline__ double cospi(double a) {
  const double turns = std::fabs(std::fmod(a, 2.0));
  if (turns == 0.5 || turns == 1.5) return 0.0;
  return std::cos(turns * 3.14159265358979323846);
}
__forceinline__ float sinpif(float a) {
  return static_cast<float>(sinpi(static_cast<double>(a)));
}
__forceinline__ float cospif(float a) {
  return static_cast<float>(cospi(static_cast<double>(a)));
}
__forceinline__ void sincospi(double a, double* sine, double* cosine) {
  *sine = sinpi(a);
  *cosine = cospi(a);
}
__forceinline__ void sincospif(float a, float* sine, float* cosine) {
  *sine = sinpif(a);
  *cosine = cospif(a);
}
__forceinline__ double rcbrt(double a) {
  return 1.0 / std::cbrt(a);
}
__forceinline__ float rcbrtf(float a) {
  return 1.0f / cbrtf(a);
}
__forceinline__ double rhypot(double a, double b) {
  return 1.0 / std::hypot(a, b);
}
__forceinline__ float rhypotf(float a, float b) {
  return 1.0f / hypotf(a, b);
}
__forceinline__ double norm3d(double a, double b, double c) {
  return std::hypot(a, b, c);
}
__forceinline__ float norm3df(float a, float b, float c) {
  return std::hypot(a, b, c);
}
__forceinline__ float rnorm3df(float a, float b, float c) {
  return 1.0f / std::hypot(a, b, c);
}
__forceinline__ float norm4df(float a, float b, float c, float d) {
  return sqrtf(a * a + b * b + c * c + d * d);
}
__forceinline__ double normcdf(double a) {
  return 0.5 * std::erfc(-a * 0.70710678118654752440);
}
__forceinline__ float normcdff(float a) {
  return static_cast<float>(normcdf(static_cast<double>(a)));
}
// The inverse of erf: Winitzki's approximation, then Newton's steps to double precision.
__forceinline__ double erfinv(double y) {
  if (!(std::fabs(y) < 1.0)) return std::fabs(y) == 1.0 ? y * HUGE_VAL : std::nan("");
  const double logarithm = std::log1p(-y * y),
               part = 2.0 / (3.14159265358979323846 * 0.147) + logarithm / 2.0;
  double x = std::copysign(std::sqrt(std::sqrt(part * part - logarithm / 0.147) - part), y);
  for (int step = 0; step < 4; ++step) x -= (std::erf(x) - y) * 0.88622692545275801365 * std::exp(x * x);
  return x;
}
__forceinline__ float erfinvf(float y) {
  return static_cast<float>(erfinv(static_cast<double>(y)));
}
__forceinline__ double erfcinv(double y) {
  return erfinv(1.0 - y);
}
__forceinline__ double normcdfinv(double y) {
  return -1.41421356237309504880 * erfcinv(2.0 * y);
}
__forceinline__ float normcdfinvf(float y) {
  return static_cast<float>(normcdfinv(static_cast<double>(y)));
}
__forceinline__ double erfcx(double a) {
  constexpr double few_terms_suffice = 10;
  if (a > few_terms_suffice) {  // where exp() and erfc() leave the range of their numbers
    double term = 1, sum = 1;
    for (int k = 1; k <= 12; ++k) {
      term *= -(2 * k - 1) / (2 * a * a);
      sum += term;
    }
    return sum / (a * 1.77245385090551602730);
  }
  return std::exp(a * a) * std::erfc(a);
}

__forceinline__ float __tanhf(float a) noexcept {
  return tanhf(a);
}

// ---- the rest of its mathematics, and the pairs of floats of compute capability 10

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

// ---- atomics

__forceinline__ unsigned short atomicCAS(unsigned short* address, unsigned short expected,
                                         unsigned short desired) {
  const unsigned short words[] = {expected, desired};
  return lab::emulator::change_word(
      address,
      [](unsigned short old, const void* with) {
        const auto* const change = static_cast<const unsigned short*>(with);
        return old == change[0] ? change[1] : old;
      },
      words);
}

// Of vectors, each number by itself is added atomically.
__forceinline__ float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
__forceinline__ float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
          atomicAdd(&address->w, value.w)};
}

// A block's scope is within the device's, and that within the system's.
#define LAB_EMULATOR_SCOPES(name)                                    \
  template <class T, class... Values>                                \
  __forceinline__ auto name##_block(T* address, Values... values) {  \
    return name(address, values...);                                 \
  }                                                                  \
  template <class T, class... Values>                                \
  __forceinline__ auto name##_system(T* address, Values... values) { \
    return name(address, values...);                                 \
  }
LAB_EMULATOR_SCOPES(atomicAdd)
LAB_EMULATOR_SCOPES(atomicSub)
LAB_EMULATOR_SCOPES(atomicExch)
LAB_EMULATOR_SCOPES(atomicMin)
LAB_EMULATOR_SCOPES(atomicMax)
LAB_EMULATOR_SCOPES(atomicInc)
LAB_EMULATOR_SCOPES(atomicDec)
LAB_EMULATOR_SCOPES(atomicCAS)
LAB_EMULATOR_SCOPES(atomicAnd)
LAB_EMULATOR_SCOPES(atomicOr)
LAB_EMULATOR_SCOPES(atomicXor)
#undef LAB_EMULATOR_SCOPES

#ifdef LAB_EMULATOR_PROGRAM
// ---- shuffles and votes without a mask, which CUDA 13 has no longer, of the lanes that are here: for
// programs alone

template <class T>
__forceinline__ T __shfl(T value, int source, int width = 32,
                         lab::emulator::place where = lab::emulator::place::here()) {
  return __shfl_sync(__activemask(where), value, source, width, where);
}
template <class T>
__forceinline__ T __shfl_up(T value, unsigned distance, int width = 32,
                            lab::emulator::place where = lab::emulator::place::here()) {
  return __shfl_up_sync(__activemask(where), value, distance, width, where);
}
template <class T>
__forceinline__ T __shfl_down(T value, unsigned distance, int width = 32,
                              lab::emulator::place where = lab::emulator::place::here()) {
  return __shfl_down_sync(__activemask(where), value, distance, width, where);
}
template <class T>
__forceinline__ T __shfl_xor(T value, int lanes, int width = 32,
                             lab::emulator::place where = lab::emulator::place::here()) {
  return __shfl_xor_sync(__activemask(where), value, lanes, width, where);
}
__forceinline__ int __any(int predicate, lab::emulator::place where = lab::emulator::place::here()) {
  return __any_sync(__activemask(where), predicate, where);
}
__forceinline__ int __all(int predicate, lab::emulator::place where = lab::emulator::place::here()) {
  return __all_sync(__activemask(where), predicate, where);
}
__forceinline__ unsigned __ballot(int predicate, lab::emulator::place where = lab::emulator::place::here()) {
  return __ballot_sync(__activemask(where), predicate, where);
}
#endif

// ---- the rest

__forceinline__ void cudaGridDependencySynchronize(
    lab::emulator::place where = lab::emulator::place::here()) {
  lab::grid_dependency_sync(where);
}
__forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
  lab::trigger_dependents();
}
// A counter that grows; no time.
__forceinline__ long long __clock64() {
  return clock64();
}
__forceinline__ long long __clock() {
  return clock64();
}
__forceinline__ void __brkpt() {
  __trap();
}
__forceinline__ void __prof_trigger(int) {}
#ifdef LAB_EMULATOR_PROGRAM
#define __assume(condition) static_cast<void>(0)
#endif
// The four products of bytes also take their vectors.
__forceinline__ int __dp4a(char4 a, char4 b, int sum) {
  return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
__forceinline__ unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
  return sum + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
// Two numbers of 16 bits by the lower, or the upper, two bytes of b.
__forceinline__ int __dp2a_lo(int a, int b, int sum) {
  return sum + static_cast<short>(a) * static_cast<signed char>(b) +
         static_cast<short>(a >> 16) * static_cast<signed char>(b >> 8);
}
__forceinline__ int __dp2a_hi(int a, int b, int sum) {
  return __dp2a_lo(a, b >> 16, sum);
}
__forceinline__ unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return sum + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
__forceinline__ unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
  return __dp2a_lo(a, b >> 16, sum);
}
