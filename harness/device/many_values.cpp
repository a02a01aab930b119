#include "harness/device/many_values.hpp"

#include <cmath>
#include <numeric>
#include <type_traits>

// Compiled once for every width of vectors, and chosen when the program starts. (Elsewhere the loops are as
// right, and three to five times as slow.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LAB_EVERY_WIDTH __attribute__((flatten, target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define LAB_EVERY_WIDTH
#endif

namespace lab {
namespace {

// The pattern is asked for once, not for every value, where arrays of many millions have it.
template <class T>
[[gnu::always_inline]] inline void fill(pattern kind, std::uint64_t seed, std::int64_t first,
                                        std::int64_t step, std::int64_t count, T* to) {
  const auto fill_with = [&]<pattern known>(std::integral_constant<pattern, known>) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = input_value<T>(known, seed, first + k * step);
  };
  switch (kind) {
    case pattern::random:
      return fill_with(std::integral_constant<pattern, pattern::random>());
    case pattern::integers:
      return fill_with(std::integral_constant<pattern, pattern::integers>());
    case pattern::keys:
      return fill_with(std::integral_constant<pattern, pattern::keys>());
    case pattern::small_integers:
      return fill_with(std::integral_constant<pattern, pattern::small_integers>());
    case pattern::one_changed:
      return fill_with(std::integral_constant<pattern, pattern::one_changed>());
    case pattern::lone_value:
      return fill_with(std::integral_constant<pattern, pattern::lone_value>());
    case pattern::planted:
      return fill_with(std::integral_constant<pattern, pattern::planted>());
    case pattern::constant:
      return fill_with(std::integral_constant<pattern, pattern::constant>());
    case pattern::sorted:
      return fill_with(std::integral_constant<pattern, pattern::sorted>());
    case pattern::mostly_one:
      return fill_with(std::integral_constant<pattern, pattern::mostly_one>());
    case pattern::gaps:
      return fill_with(std::integral_constant<pattern, pattern::gaps>());
    default:
      for (std::int64_t k = 0; k < count; ++k) to[k] = input_value<T>(kind, seed, first + k * step);
  }
}

}  // namespace

LAB_EVERY_WIDTH void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step,
                                  std::int64_t count, element_type type, void* to) {
  with_element(type, [&]<class T>(T) { fill(kind, seed, first, step, count, static_cast<T*>(to)); });
}

LAB_EVERY_WIDTH std::uint64_t sum_of_hashes(const std::uint64_t* keys, std::int64_t first,
                                            std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += random_bits(keys[k], static_cast<std::uint64_t>(first + k));
  return sum;
}

LAB_EVERY_WIDTH float64_sums sums_of_many(const float* values, std::int64_t count) {
  constexpr std::int64_t chains = 16;
  double sums[chains] = {};
  double magnitudes[chains] = {};
  std::int64_t k = 0;
  for (; k + chains <= count; k += chains) {
    for (std::int64_t chain = 0; chain < chains; ++chain) {
      const auto value = static_cast<double>(values[k + chain]);
      sums[chain] += value;
      magnitudes[chain] += std::abs(value);
    }
  }
  for (; k < count; ++k) {
    sums[0] += static_cast<double>(values[k]);
    magnitudes[0] += std::abs(static_cast<double>(values[k]));
  }
  return {std::accumulate(sums, sums + chains, 0.0), std::accumulate(magnitudes, magnitudes + chains, 0.0)};
}

LAB_EVERY_WIDTH void add_weighted(double weight, const double* values, std::int64_t count, double* sums) {
  for (std::int64_t k = 0; k < count; ++k) sums[k] += weight * values[k];
}

}  // namespace lab
