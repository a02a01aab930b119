// The kinds of input that stages are tried on, and what memory holds beside them. Each is a pure function of
// pattern, seed and index, so that host and device produce the same values.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/bfloat16.hpp"
#include "common/random.hpp"

namespace lab {

// What outputs and scratch memory hold when a launch begins. Every bit set is the poison by which an output
// that was never written is known; with the others such an output is a wrong one.
enum class memory_fill { ones, zeros, random };
inline constexpr const char* memory_fill_names[] = {"", "memory of zeros", "memory of random bytes"};

enum class pattern {
  random,             // uniform in (0, 1]: what is timed
  signed_random,      // uniform in [-1, 1): sums cancel
  negative,           // uniform in [-1, 0): a maximum that begins at zero shows
  spikes,             // random, and about every 1000th value 1e16: running sums that never forget it drift
  nonfinite,          // random, and about every 1000th value NaN, +Inf or -Inf: running sums carry it along
  infinite,           // random, and about every 1000th value +Inf: sums are +Inf and not NaN
  denormal,           // multiples of the smallest positive number: lost when denormals are flushed to zero
  ramp,               // index + 1: a wrong index shows
  zeros,              // nothing but +0
  negative_zeros,     // nothing but -0
  mixed_zeros,        // +0 and -0
  negative_infinity,  // nothing but -Inf
  positive_infinity,  // nothing but +Inf
  all_nan,            // nothing but NaN
  constant,           // one value everywhere
  ties,               // four values, each many times
  lone_maximum,       // signed random, and at the index that the seed names a value above all others
  lone_minimum,       // signed random, and at the index that the seed names a value below all others
  wide,  // of either sign and every magnitude: what takes large or small values for missing shows
  // Exact: every sum of them is representable, so that the answer must be equal and a missing element shows.
  integers,        // 1 .. 2^20: sums of 2^33 of them fit into the 53 bits of a float64
  keys,            // 0 .. 2^16 - 1
  small_integers,  // -31 .. 31 without 0: sums of 1e10 of them stay below the 2^24 of a float32 (see below)
  // And those with NaN among them: stretches with none, a few, half, and whole runs (see is_missing).
  gaps,
  // Likewise, and nearly all of them: thousands in a row, and windows with a single value.
  sparse,
  lone_infinity,  // signed random, and +Inf at the index that the seed names
  lone_nan,       // signed random, and NaN at the index that the seed names
  quarters,       // -12.5, -12.25, ... (whole numbers: -50, -49, ...): fractions beside every small number
  extremes,       // of every magnitude and either sign, and the largest and smallest that there are
  one_changed,    // small integers, the same for seeds that differ in their index alone; there 100
  // Exact, too: zeros, and at the index that the seed names a whole number that needs all digits of a
  // float32, or 40 of a float64's: what is stored or added with fewer shows.
  lone_value,
  large,         // signed random times 2^900 (float: 2^70): no sum is beyond the range, and every square is
  planted,       // random, and 2^20 at the index that the seed names: what looks random and is guessed shows
  sorted,        // rising: eight values for each doubling of the index
  mostly_one,    // nine of ten are 42, the others whole numbers
  zeros_and_inf  // zeros, and about every 256th value NaN, +Inf or -Inf: a product that is skipped shows
};

// The seed of `one_changed`: of its small integers, and the index of the value that is another.
constexpr std::uint64_t seed_of_change(std::uint64_t base, std::int64_t index) {
  return base << 32 | static_cast<std::uint32_t>(index);
}

inline constexpr const char* pattern_names[] = {
    "random",    "signed random",  "negative",     "spikes of 1e16", "NaN and Inf",
    "Inf",       "denormal",       "ramp",         "zeros",          "-0",
    "+0 and -0", "-Inf alone",     "+Inf alone",   "NaN alone",      "one value",
    "ties",      "lone maximum",   "lone minimum", "wide",           "integers",
    "keys",      "small integers", "gaps",         "sparse",         "lone Inf",
    "lone NaN",  "quarters",       "extremes",     "one changed",    "lone value",
    "large",     "planted",        "sorted",       "mostly one",     "zeros and Inf"};

inline const char* to_string(pattern kind) {
  return pattern_names[static_cast<int>(kind)];
}

// Whether every sum of such values is representable, so that a result has no rounding errors. A running sum
// of small integers walks at random, 18 a step: after 1e9 steps it is within 18 sqrt(1e9) = 5.7e5, and 16.8e6
// is 29 times that.
constexpr bool is_exact(pattern kind) {
  return kind == pattern::integers || kind == pattern::keys || kind == pattern::small_integers ||
         kind == pattern::one_changed || kind == pattern::lone_value;
}

// The smallest denormal of a floating-point type; 1 for an integer. (std::numeric_limits is for the host
// alone.)
template <class T>
__host__ __device__ constexpr T smallest_positive() {
  if constexpr (std::is_same_v<T, double>) return 0x1p-1074;
  if constexpr (std::is_same_v<T, float>) return 0x1p-149f;
  return 1;
}

// About one index in a thousand, which the patterns with spikes, NaN and Inf make something rare.
__host__ __device__ constexpr bool is_rare(std::uint64_t seed, std::int64_t index) {
  return random_bits(~seed, static_cast<std::uint64_t>(index)) % 1009 == 0;
}

// Which values of `gaps` are NaN. Stretches of 512 values (of 8192 behind the first 16384, so that long
// windows meet them whole) are without any, or miss one in 64, every other one, or runs of up to 64 and more.
__host__ __device__ constexpr bool is_missing(std::uint64_t seed, std::int64_t index) {
  constexpr std::int64_t short_stretches = 1 << 14;
  const std::int64_t stretch = index < short_stretches ? index / 512 : 64 + index / 8192;
  const std::uint64_t bits = random_bits(~seed, static_cast<std::uint64_t>(index));
  switch (random_bits(seed ^ 0x6a95, static_cast<std::uint64_t>(stretch)) % 4) {
    case 0:
      return false;
    case 1:
      return bits % 64 == 0;
    case 2:
      return bits % 2 == 0;
    default:
      return random_bits(seed ^ 0x7275, static_cast<std::uint64_t>(index / 64)) % 2 == 0 && bits % 256 != 0;
  }
}

// Which values of `sparse` are there: of four stretches of 1024 (then of 16384) one has about one in 32, one
// about one in 256, and two none.
__host__ __device__ constexpr bool is_sparse(std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = random_bits(~seed, static_cast<std::uint64_t>(index));
  // Long ones behind the first 2^16 values.
  constexpr std::int64_t short_stretches = 1 << 16;
  const auto stretch =
      static_cast<std::uint64_t>(index < short_stretches ? index / 1024 : 64 + index / 16384) + seed;
  if (stretch % 4 == 0) return bits % 32 == 0;
  return stretch % 4 == 1 && bits % 256 == 0;
}

// -31 .. 31 without 0.
__host__ __device__ constexpr int small_integer(std::uint64_t bits) {
  const int magnitude = static_cast<int>(1 + (bits >> 8) % 31);
  return bits % 2 == 0 ? magnitude : -magnitude;
}

// Of `ties`: four values, one of them negative.
__host__ __device__ constexpr double tied_value(std::uint64_t bits) {
  return 0.25 * static_cast<double>(static_cast<int>(bits % 4) - 1);
}

// An element of the patterns that are made of one thing, or of zeros.
template <class T>
__host__ __device__ T uniform_value(pattern kind, std::uint64_t seed, std::uint64_t bits) {
  if (kind == pattern::negative_zeros) return static_cast<T>(-0.0);
  if (kind == pattern::mixed_zeros) return bits % 2 == 0 ? static_cast<T>(0) : static_cast<T>(-0.0);
  if (kind == pattern::negative_infinity) return static_cast<T>(-INFINITY);
  if (kind == pattern::positive_infinity) return static_cast<T>(INFINITY);
  if (kind == pattern::all_nan) return static_cast<T>(NAN);
  if (kind == pattern::constant) return static_cast<T>(uniform(random_bits(seed, 0)));
  return static_cast<T>(0);
}

// An element of `one_changed`.
__host__ __device__ constexpr int changed_value(std::uint64_t seed, std::int64_t index) {
  if (static_cast<std::uint64_t>(index) == (seed & 0xffff'ffff)) return 100;
  return small_integer(random_bits(seed >> 32, static_cast<std::uint64_t>(index)));
}

// Of `sorted`: 8 w and the three bits below the highest one of index + 1, which has w bits below it.
__host__ __device__ constexpr std::int64_t sorted_value(std::int64_t index) {
  int width = 0;
  while ((index + 1) >> (width + 1) != 0) ++width;
  return 8 * width + ((index + 1) * 8 >> width) % 8;
}

// Of `mostly_one`.
__host__ __device__ constexpr std::int64_t mostly_one_value(std::uint64_t bits) {
  return bits % 10 != 0 ? 42 : static_cast<std::int64_t>((bits >> 16) % (1u << 16));
}

// Of `lone_value`: odd, of as many digits as there are, or 40. Of whole numbers one whose square is one, too.
template <class T>
__host__ __device__ constexpr T full_value(std::uint64_t bits) {
  constexpr int digits = std::is_integral_v<T> ? 20 : sizeof(T) == 4 ? 24 : 40;
  constexpr std::uint64_t highest = std::uint64_t{1} << (digits - 1);
  return static_cast<T>(highest | bits % highest | 1);
}

// Of `extremes`: the ends of the type's range, and numbers of every length beside the powers of two.
template <class T>
__host__ __device__ T extreme_whole(std::uint64_t bits) {
  constexpr T largest = static_cast<T>(~std::uint64_t{0} >> (65 - 8 * sizeof(T)));
  const std::uint64_t more = random_bits(bits, 1);
  switch (bits % 8) {
    case 0:
      return static_cast<T>(-largest - 1);
    case 1:
      return largest;
    case 2:
      return static_cast<T>(-largest - 1 + static_cast<T>(more % 64));
    case 3:
      return static_cast<T>(largest - static_cast<T>(more % 64));
    default: {
      const auto value = static_cast<T>((more | 1) >> (1 + (bits >> 8) % (8 * sizeof(T) - 1)));
      return bits % 2 == 0 ? value : static_cast<T>(-value);
    }
  }
}
// The largest magnitude, the largest that can be doubled, the smallest normal number, what lies just beside
// them, zeros of either sign, denormals of every length, and any finite bits.
template <class T>
__host__ __device__ T extreme_real(std::uint64_t bits) {
  constexpr T smallest_normal = sizeof(T) == 8 ? static_cast<T>(0x1p-1022) : static_cast<T>(0x1p-126);
  constexpr T power = sizeof(T) == 8 ? static_cast<T>(0x1p1023) : static_cast<T>(0x1p127);
  const std::uint64_t more = random_bits(bits, 1);
  // 1 and less, in steps of the type's own.
  constexpr T step = sizeof(T) == 8 ? static_cast<T>(0x1p-52) : static_cast<T>(0x1p-23);
  const T beside = static_cast<T>(1) - static_cast<T>(more % 4) * step;
  T magnitude = 0;
  switch (bits % 8) {
    case 0:
      magnitude = power * (static_cast<T>(2) - step * static_cast<T>(1 + more % 4));
      break;
    case 1:
      magnitude = power * beside;
      break;
    case 2:
      magnitude = power * static_cast<T>(1 + uniform(more) / 2);
      break;
    case 3:
      magnitude = smallest_normal * beside;
      break;
    case 4:
      magnitude = smallest_normal * static_cast<T>(uniform(more));
      break;
    case 5:
      break;
    default: {
      constexpr int exponents = sizeof(T) == 8 ? 2040 : 250;
      const int exponent = static_cast<int>((bits >> 8) % exponents) - exponents / 2;
      magnitude = static_cast<T>(ldexp(1 + uniform(more) / 2, exponent));
    }
  }
  return (bits >> 40) % 2 == 0 ? magnitude : -magnitude;
}

// Of whole numbers, of which a fraction would leave nothing: from 1 to 100, where the pattern says no more.
template <class T>
__host__ __device__ T whole_value(pattern kind, std::uint64_t seed, std::int64_t index, std::uint64_t bits) {
  const auto one_to_hundred = [](std::uint64_t random) {
    return static_cast<std::int64_t>(1 + random % 100);
  };
  std::int64_t value = one_to_hundred(bits >> 8);
  if (kind == pattern::zeros || kind == pattern::negative_zeros || kind == pattern::mixed_zeros) value = 0;
  const bool is_signed =
      kind == pattern::signed_random || kind == pattern::lone_nan || kind == pattern::lone_infinity;
  if (kind == pattern::negative || (is_signed && bits % 2 == 0)) value = -value;
  // Its square has more digits than a double, and the larger ones are beyond 31 bits.
  if (kind == pattern::spikes && is_rare(seed, index)) {
    constexpr std::int64_t spikes[] = {1'000'000'007, 3'000'000'007, -3'000'000'007};
    value = spikes[bits % 3];
  }
  // Small numbers beside the powers of two: their low bits alone are small numbers.
  if (kind == pattern::wide) {
    value = static_cast<std::int64_t>((std::uint64_t{1} << (8 + bits % 48)) + (bits >> 16) % 128);
    if ((bits >> 8) % 2 == 0) value = -value;
  }
  if (kind == pattern::denormal) value = static_cast<std::int64_t>(1 + bits % 1000);
  if (kind == pattern::ramp) value = index + 1;
  if (kind == pattern::ties) value = static_cast<std::int64_t>(bits % 4) - 1;
  if (kind == pattern::constant) value = one_to_hundred(random_bits(seed, 0));
  if (kind == pattern::integers || kind == pattern::gaps)
    value = static_cast<std::int64_t>(1 + bits % (1u << 20));
  if (kind == pattern::sparse) value = static_cast<std::int64_t>(1 + bits % (1u << 20));
  if (kind == pattern::keys) value = static_cast<std::int64_t>(bits % (1u << 16));
  if (kind == pattern::small_integers) value = small_integer(bits);
  if (kind == pattern::one_changed) value = changed_value(seed, index);
  if (kind == pattern::quarters) value = index - 50;
  if (kind == pattern::sorted) value = sorted_value(index);
  if (kind == pattern::mostly_one) value = mostly_one_value(bits);
  if (kind == pattern::extremes) return extreme_whole<T>(bits);
  if (kind == pattern::lone_value) value = 0;
  if (kind == pattern::planted && static_cast<std::uint64_t>(index) == seed) value = 1 << 20;
  if (static_cast<std::uint64_t>(index) == seed) {
    if (kind == pattern::lone_maximum) value = 200;
    if (kind == pattern::lone_minimum) value = -200;
    if (kind == pattern::lone_value) value = full_value<std::int64_t>(bits);
  }
  return static_cast<T>(value);
}

// A magnitude from 2^-300 to 2^300 (float: 2^-60 to 2^60), of either sign: thousands of their squares are
// within the range of a double, thousands of them within that of a float.
template <class T>
__host__ __device__ T wide_value(std::uint64_t bits) {
  constexpr int most = sizeof(T) == 8 ? 300 : 60;
  const int exponent = static_cast<int>((bits >> 1) % (2 * most + 1)) - most;
  const double magnitude = ldexp(1 + uniform(random_bits(bits, 1)), exponent);
  return static_cast<T>(bits % 2 == 0 ? magnitude : -magnitude);
}

// Of floating-point numbers.
template <class T>
__host__ __device__ T real_value(pattern kind, std::uint64_t seed, std::int64_t index, std::uint64_t bits) {
  switch (kind) {
    case pattern::signed_random:
      return static_cast<T>(2 * uniform(bits) - 1);
    case pattern::negative:
      return static_cast<T>(-uniform(bits));
    case pattern::spikes:
      if (is_rare(seed, index)) return static_cast<T>(1e16);
      break;
    case pattern::nonfinite:
      if (!is_rare(seed, index)) break;
      if (bits % 3 == 0) return static_cast<T>(NAN);
      return static_cast<T>(bits % 3 == 1 ? INFINITY : -INFINITY);
    case pattern::zeros_and_inf:
      if ((bits >> 16) % 256 != 0) return 0;
      if (bits % 3 == 0) return static_cast<T>(NAN);
      return static_cast<T>(bits % 3 == 1 ? INFINITY : -INFINITY);
    case pattern::infinite:
      if (is_rare(seed, index)) return static_cast<T>(INFINITY);
      break;
    case pattern::denormal:
      return smallest_positive<T>() * static_cast<T>(1 + bits % 1000);
    case pattern::ramp:
      return static_cast<T>(index + 1);
    case pattern::ties:
      return static_cast<T>(tied_value(bits));
    case pattern::lone_maximum:
    case pattern::lone_minimum: {
      const double lone = kind == pattern::lone_maximum ? 2 : -2;
      return static_cast<T>(static_cast<std::uint64_t>(index) == seed ? lone : 2 * uniform(bits) - 1);
    }
    case pattern::wide:
      return wide_value<T>(bits);
    case pattern::gaps:
      if (is_missing(seed, index)) return static_cast<T>(NAN);
      return static_cast<T>(1 + bits % (1u << 20));
    case pattern::sparse:
      if (!is_sparse(seed, index)) return static_cast<T>(NAN);
      return static_cast<T>(1 + bits % (1u << 20));
    case pattern::lone_infinity:
      return static_cast<std::uint64_t>(index) == seed ? static_cast<T>(INFINITY)
                                                       : static_cast<T>(2 * uniform(bits) - 1);
    case pattern::lone_nan:
      return static_cast<std::uint64_t>(index) == seed ? static_cast<T>(NAN)
                                                       : static_cast<T>(2 * uniform(bits) - 1);
    case pattern::quarters:
      return static_cast<T>(index - 50) / 4;
    case pattern::extremes:
      return extreme_real<T>(bits);
    case pattern::one_changed:
      return static_cast<T>(changed_value(seed, index));
    case pattern::large:
      return static_cast<T>((2 * uniform(bits) - 1) * (sizeof(T) == 8 ? 0x1p900 : 0x1p70));
    case pattern::planted:
      return static_cast<std::uint64_t>(index) == seed ? static_cast<T>(1 << 20)
                                                       : static_cast<T>(uniform(bits));
    case pattern::lone_value:
      return static_cast<std::uint64_t>(index) == seed ? full_value<T>(bits) : static_cast<T>(0);
    case pattern::integers:
      return static_cast<T>(1 + bits % (1u << 20));
    case pattern::keys:
      return static_cast<T>(bits % (1u << 16));
    case pattern::small_integers:
      return static_cast<T>(small_integer(bits));
    case pattern::sorted:
      return static_cast<T>(sorted_value(index));
    case pattern::mostly_one:
      return static_cast<T>(mostly_one_value(bits));
    case pattern::zeros:
    case pattern::negative_zeros:
    case pattern::mixed_zeros:
    case pattern::negative_infinity:
    case pattern::positive_infinity:
    case pattern::all_nan:
    case pattern::constant:
      return uniform_value<T>(kind, seed, bits);
    case pattern::random:
      break;
  }
  return static_cast<T>(uniform(bits));
}

// Element `index` of the input `kind` with `seed`.
template <class T>
__host__ __device__ T input_value(pattern kind, std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(index));
  if constexpr (std::is_integral_v<T>) {
    return whole_value<T>(kind, seed, index, bits);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return real_value<float>(kind, seed, index, bits);
  } else {
    return real_value<T>(kind, seed, index, bits);
  }
}

// Whether the seed is the index of one value.
inline bool seed_is_index(pattern kind) {
  return kind == pattern::lone_maximum || kind == pattern::lone_minimum || kind == pattern::lone_infinity ||
         kind == pattern::lone_nan || kind == pattern::lone_value || kind == pattern::planted;
}

inline bool has_rare_values(pattern kind) {
  return kind == pattern::spikes || kind == pattern::nonfinite || kind == pattern::infinite ||
         kind == pattern::gaps || kind == pattern::sparse || kind == pattern::lone_nan ||
         kind == pattern::lone_infinity || kind == pattern::wide;
}

// Whether nearly all values may count as missing.
inline bool is_mostly_missing(pattern kind) {
  return kind == pattern::sparse || kind == pattern::all_nan || kind == pattern::negative_infinity ||
         kind == pattern::positive_infinity;
}

// The inputs on which a stage may be wrong that declares running sums (traits `drifts`, `leaks_nonfinite`).
inline bool shows_drift(pattern kind) {
  return kind == pattern::spikes || kind == pattern::wide;
}
inline bool shows_leaks(pattern kind) {
  return kind == pattern::nonfinite || kind == pattern::infinite || kind == pattern::negative_infinity ||
         kind == pattern::positive_infinity || kind == pattern::gaps || kind == pattern::sparse ||
         kind == pattern::lone_nan || kind == pattern::lone_infinity;
}

// The index of the first value (a spike, a NaN, an Inf) of these patterns that running sums may never forget.
inline std::int64_t first_rare_index(pattern kind, std::uint64_t seed) {
  if (kind == pattern::wide) return 0;
  if (kind == pattern::lone_nan || kind == pattern::lone_infinity) return static_cast<std::int64_t>(seed);
  const auto is_one = [&](std::int64_t index) {
    if (kind == pattern::gaps) return is_missing(seed, index);
    return kind == pattern::sparse ? !is_sparse(seed, index) : is_rare(seed, index);
  };
  std::int64_t index = 0;
  while (!is_one(index)) ++index;
  return index;
}

// The largest magnitude among the first n finite elements, spikes left out: what has passed through a running
// sum.
inline double largest_magnitude(pattern kind, std::int64_t n) {
  switch (kind) {
    case pattern::denormal:
      return 0x1p-1064;
    case pattern::ramp:
      return static_cast<double>(n);
    case pattern::wide:
      return 0x1p301;
    case pattern::quarters:
      return static_cast<double>(n);
    case pattern::extremes:
      return std::numeric_limits<double>::max();
    case pattern::integers:
    case pattern::gaps:
    case pattern::sparse:
      return 0x1p20;
    case pattern::keys:
    case pattern::mostly_one:
      return 0x1p16;
    case pattern::sorted:
      return 512;
    case pattern::small_integers:
      return 31;
    case pattern::one_changed:
      return 100;
    case pattern::large:
      return 0x1p900;
    case pattern::planted:
      return 0x1p20;
    case pattern::lone_value:
      return 0x1p40;
    case pattern::lone_maximum:
    case pattern::lone_minimum:
      return 2;
    case pattern::zeros:
    case pattern::negative_zeros:
    case pattern::mixed_zeros:
      return 0;
    default:
      return 1;
  }
}

}  // namespace lab
