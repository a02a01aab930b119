// How a matrix unit (tensor core) of compute capability 9.0 sums products. Plain C++, so that a test on a GPU
// can compare with it.
//
// The model: products are exact. Those of one block (16 of 16-bit numbers, 8 of tf32) and the accumulator are
// aligned to the largest of their exponents, cut off behind 25 bits (towards zero), and summed exactly. The
// sum is cut off to the 24 bits of a float. The exponent of a product is the sum of its factors' exponents,
// so a product may have two bits before the point. NaN is 0x7fffffff.
//
// Sources: Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021; Khattak and
// Mikaitis, "Accurate Models of NVIDIA Tensor Cores", 2025; Xie et al., "MMA-Sim", 2025.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace lab::emulator {

struct fused_sum_rule {
  int products = 16;       // in one block
  int fraction_bits = 25;  // behind the point of the largest exponent
  // The largest exponent is at least this one, the accumulator's where it is 0. Products that are 0 have
  // none.
  int least_exponent = -133;
  // The last bit of a sum is set where bits were cut off, so that a second rounding can be to nearest.
  bool is_sticky = false;
};

// value = significand * 2^(exponent - bits of the format's fraction). A subnormal number has the exponent of
// the smallest normal one.
struct matrix_number {
  static constexpr std::int32_t infinite = std::numeric_limits<std::int32_t>::max();

  std::int32_t significand = 0;
  std::int32_t exponent = 0;  // `infinite`: infinity by the sign of the significand; NaN if that is 0
};

struct number_format {
  int exponent_bits, fraction_bits;
};
inline constexpr number_format format_bf16{8, 7}, format_f16{5, 10}, format_tf32{8, 10}, format_f32{8, 23};

constexpr matrix_number matrix_number_of(std::uint32_t bits, number_format format) {
  const int most = (1 << format.exponent_bits) - 1, bias = most / 2;
  const auto fraction = static_cast<std::int32_t>(bits & ((1u << format.fraction_bits) - 1));
  const auto exponent = static_cast<int>(bits >> format.fraction_bits) & most;
  const std::int32_t sign = bits >> (format.fraction_bits + format.exponent_bits) & 1 ? -1 : 1;
  if (exponent == most) return {fraction == 0 ? sign : 0, matrix_number::infinite};
  if (exponent == 0) return {sign * fraction, 1 - bias};
  return {sign * (fraction | 1 << format.fraction_bits), exponent - bias};
}

// sum * 2^exponent, with 24 bits.
inline float truncated_to_float(std::int64_t sum, int exponent, bool is_sticky) {
  auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
  constexpr int smallest_exponent = -149;
  const int width = std::bit_width(magnitude);
  const int kept_exponent = std::max(exponent + width - 24, smallest_exponent);
  const int dropped = kept_exponent - exponent;
  if (dropped > 63) return 0;
  if (dropped > 0) {
    const bool is_exact = magnitude % (std::uint64_t{1} << dropped) == 0;
    magnitude >>= dropped;
    if (is_sticky && !is_exact) magnitude |= 1;
    exponent = kept_exponent;
  }
  // Exact, or infinity; never -0.
  const float value = std::ldexp(static_cast<float>(magnitude), exponent);
  return sum < 0 && magnitude != 0 ? -value : value;
}

// The sum with one block of products a[k] * b[k].
inline float fused_sum(const matrix_number* a, const matrix_number* b, int count, int fraction_bits,
                       float accumulator, fused_sum_rule rule) {
  constexpr int accumulator_bits = 23;
  const matrix_number c = matrix_number_of(std::bit_cast<std::uint32_t>(accumulator), format_f32);
  std::int32_t largest = rule.least_exponent;
  bool is_finite = c.exponent != matrix_number::infinite;
  if (is_finite && c.significand != 0) largest = std::max(largest, c.exponent);
  for (int k = 0; k < count; ++k) {
    if (a[k].exponent == matrix_number::infinite || b[k].exponent == matrix_number::infinite) {
      is_finite = false;
    } else if (a[k].significand != 0 && b[k].significand != 0) {
      largest = std::max(largest, a[k].exponent + b[k].exponent);
    }
  }
  if (!is_finite) {
    const auto value_of = [](matrix_number x) {
      if (x.exponent != matrix_number::infinite) return static_cast<double>(x.significand);
      return x.significand == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : x.significand * std::numeric_limits<double>::infinity();
    };
    double sum = value_of(c);
    for (int k = 0; k < count; ++k) sum += value_of(a[k]) * value_of(b[k]);
    return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : static_cast<float>(sum);
  }
  // significand * 2^(exponent - bits), in units of 2^(largest - rule.fraction_bits).
  const auto aligned = [&](std::int64_t significand, int exponent, int bits) -> std::int64_t {
    const int shift = rule.fraction_bits - bits + exponent - largest;
    if (shift >= 0) return significand * (std::int64_t{1} << shift);
    if (shift <= -63) return 0;
    return significand < 0 ? -(-significand >> -shift) : significand >> -shift;
  };
  std::int64_t sum = aligned(c.significand, c.exponent, accumulator_bits);
  for (int k = 0; k < count; ++k) {
    const std::int64_t product = std::int64_t{a[k].significand} * b[k].significand;
    if (product != 0) sum += aligned(product, a[k].exponent + b[k].exponent, 2 * fraction_bits);
  }
  return truncated_to_float(sum, largest - rule.fraction_bits, rule.is_sticky);
}

// accumulator + a[0] * b[0] + ... of `count` products, block after block.
inline float matrix_sum(const matrix_number* a, const matrix_number* b, int count, int fraction_bits,
                        float accumulator, fused_sum_rule rule) {
  for (int k = 0; k < count; k += rule.products)
    accumulator =
        fused_sum(a + k, b + k, std::min(rule.products, count - k), fraction_bits, accumulator, rule);
  return accumulator;
}

}  // namespace lab::emulator
