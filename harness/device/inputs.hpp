// The kinds of input that stages are tried on. Each is a pure function of pattern, seed and index, so that
// host and device produce the same values.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/random.hpp"

namespace lab {

enum class pattern {
  random,         // uniform in (0, 1]: what is timed
  signed_random,  // uniform in [-1, 1): sums cancel
  spikes,         // random, and about every 1000th value 1e16: running sums that never forget it drift
  nonfinite,      // random, and about every 1000th value NaN, +Inf or -Inf: running sums carry it along
  infinite,       // random, and about every 1000th value +Inf: sums are +Inf and not NaN
  denormal,       // multiples of the smallest positive number: lost when denormals are flushed to zero
  ramp            // index + 1: a wrong index shows
};

inline const char* to_string(pattern kind) {
  switch (kind) {
    case pattern::random:
      return "random";
    case pattern::signed_random:
      return "signed random";
    case pattern::spikes:
      return "spikes of 1e16";
    case pattern::nonfinite:
      return "NaN and Inf";
    case pattern::infinite:
      return "Inf";
    case pattern::denormal:
      return "denormal";
    case pattern::ramp:
      return "ramp";
  }
  return "?";
}

// The smallest denormal of a floating-point type; 1 for an integer. (std::numeric_limits is for the host
// alone.)
template <class T>
__host__ __device__ constexpr T smallest_positive() {
  if constexpr (std::is_same_v<T, double>) return 0x1p-1074;
  if constexpr (std::is_same_v<T, float>) return 0x1p-149f;
  return 1;
}

// Element `index` of the input `kind` with `seed`.
template <class T>
__host__ __device__ T input_value(pattern kind, std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(index));
  const bool rare = random_bits(~seed, static_cast<std::uint64_t>(index)) % 1009 == 0;
  switch (kind) {
    case pattern::signed_random:
      return static_cast<T>(2 * uniform(bits) - 1);
    case pattern::spikes:
      if (rare) return static_cast<T>(1e16);
      break;
    case pattern::nonfinite:
      if constexpr (std::is_floating_point_v<T>) {
        if (rare && bits % 3 == 0) return static_cast<T>(NAN);
        if (rare) return static_cast<T>(bits % 3 == 1 ? INFINITY : -INFINITY);
      }
      break;
    case pattern::infinite:
      if constexpr (std::is_floating_point_v<T>) {
        if (rare) return static_cast<T>(INFINITY);
      }
      break;
    case pattern::denormal:
      return smallest_positive<T>() * static_cast<T>(1 + bits % 1000);
    case pattern::ramp:
      return static_cast<T>(index + 1);
    case pattern::random:
      break;
  }
  return static_cast<T>(uniform(bits));
}

// The largest magnitude among the first n finite elements, spikes left out: what has passed through a running
// sum.
inline double largest_magnitude(pattern kind, std::int64_t n) {
  switch (kind) {
    case pattern::denormal:
      return 0x1p-1064;
    case pattern::ramp:
      return static_cast<double>(n);
    case pattern::random:
    case pattern::signed_random:
    case pattern::spikes:
    case pattern::nonfinite:
    case pattern::infinite:
      break;
  }
  return 1;
}

}  // namespace lab
