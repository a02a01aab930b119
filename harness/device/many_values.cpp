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

// The pattern is asked for once, not for every value, where arrays of many millions have it: the known ones.
template <pattern... known, class T>
[[gnu::always_inline]] inline void fill(pattern kind, std::uint64_t seed, std::int64_t first,
                                        std::int64_t step, std::int64_t count, T* to) {
  const auto fill_with = [&](auto one) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = input_value<T>(one, seed, first + k * step);
  };
  const bool is_known =
      ((kind == known && (fill_with(std::integral_constant<pattern, known>()), true)) || ...);
  if (!is_known) fill_with(kind);
}

}  // namespace

LAB_EVERY_WIDTH void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step,
                                  std::int64_t count, element_type type, void* to) {
  with_element(type, [&]<class T>(T) {
    fill<pattern::random, pattern::integers, pattern::keys, pattern::small_integers, pattern::one_changed,
         pattern::lone_value, pattern::planted, pattern::constant, pattern::sorted, pattern::mostly_one,
         pattern::gaps>(kind, seed, first, step, count, static_cast<T*>(to));
  });
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
