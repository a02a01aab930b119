// Sums for references: about as exact as in long double, in doubles. Some processors take 50 times as long
// for a long double that is NaN, Inf or denormal, and all of them longer for long doubles that wait for each
// other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lab {

// The sum of doubles with the error of each addition, which is a double (Knuth). After n of them it errs by
// 2^-64 |sum|, a long double's last bit, and (n u)^2 times the sum of magnitudes, u = 2^-53 (Ogita, Rump,
// Oishi, "Accurate Sum and Dot Product", 2005, algorithm 4.4: Sum2).
class compensated_sum {
 public:
  void add(double x) {
    const double sum = high_ + x;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (x - added);
    high_ = sum;
  }
  [[nodiscard]] long double value() const {
    return static_cast<long double>(high_) + static_cast<long double>(low_);
  }
  // False where a value was none, or a sum on the way was beyond the largest double.
  [[nodiscard]] bool is_finite() const { return std::isfinite(high_) && std::isfinite(low_); }

 private:
  double high_ = 0;
  double low_ = 0;
};

// Of some values, and of their magnitudes.
struct two_sums {
  long double values = 0;
  long double magnitudes = 0;
};
inline two_sums operator+(const two_sums& a, const two_sums& b) {
  return {a.values + b.values, a.magnitudes + b.magnitudes};
}

// value(first) and the next, `count` of them, with infinities and NaN as IEEE 754 adds them. Beyond the
// largest double sums go on in long double.
template <class Value>
two_sums sums_with_infinities(const Value& value, std::int64_t first, std::int64_t count) {
  bool upwards = false;
  bool downwards = false;
  for (std::int64_t j = first; j < first + count; ++j) {
    const auto x = static_cast<double>(value(j));
    if (std::isnan(x)) return {NAN, NAN};
    upwards = upwards || x == INFINITY;
    downwards = downwards || x == -INFINITY;
  }
  if (upwards && downwards) return {NAN, INFINITY};
  if (upwards || downwards) return {upwards ? INFINITY : -INFINITY, INFINITY};
  two_sums all;
  for (std::int64_t j = first; j < first + count; ++j) {
    const auto x = static_cast<long double>(value(j));
    all = all + two_sums{x, std::abs(x)};
  }
  return all;
}

// Calls visit(first, count, value) for pieces of at most `most` values, in order. What can make many values
// at a time (many_values.hpp) is asked for a piece of them; else they are asked for one by one.
template <std::int64_t most, class Value, class Visit>
void for_pieces_of(const Value& value, std::int64_t first, std::int64_t count, const Visit& visit) {
  using element = std::decay_t<decltype(value(first))>;
  constexpr std::int64_t worth_it = 16;
  if constexpr (requires(element * to) { value.values(first, 1, count, to); }) {
    if (count >= worth_it) {
      std::array<element, most> piece;
      for (std::int64_t begin = first; begin < first + count; begin += most) {
        const std::int64_t of_piece = std::min(most, first + count - begin);
        value.values(begin, 1, of_piece, piece.data());
        if (!visit(begin, of_piece,
                   [&](std::int64_t j) { return piece[static_cast<std::size_t>(j - begin)]; }))
          return;
      }
      return;
    }
  }
  for (std::int64_t begin = first; begin < first + count; begin += most) {
    if (!visit(begin, std::min(most, first + count - begin), value)) return;
  }
}

// The same, where most are finite: four sums that need not wait for each other.
template <class Value>
two_sums sums_of(const Value& value, std::int64_t first, std::int64_t count) {
  constexpr std::int64_t chains = 4;
  constexpr std::int64_t looked_at = 256;  // values, after which one that is infinite or NaN is noticed
  std::array<compensated_sum, chains> sums;
  std::array<double, chains> magnitudes = {};
  bool is_finite = true;
  for_pieces_of<looked_at>(
      value, first, count, [&](std::int64_t begin, std::int64_t of_piece, const auto& its_value) {
        const auto add = [&](std::int64_t j, std::size_t chain) {
          const auto x = static_cast<double>(its_value(j));
          sums[chain].add(x);
          magnitudes[chain] += std::abs(x);
        };
        const std::int64_t end = begin + of_piece;
        std::int64_t j = begin;
        for (; j + chains <= end; j += chains) {
          for (std::size_t chain = 0; chain < chains; ++chain)
            add(j + static_cast<std::int64_t>(chain), chain);
        }
        for (; j < end; ++j) add(j, 0);
        is_finite = std::isfinite(magnitudes[0] + magnitudes[1] + magnitudes[2] + magnitudes[3]);
        return is_finite;
      });
  if (!is_finite) return sums_with_infinities(value, first, count);
  two_sums all;
  for (std::size_t chain = 0; chain < chains; ++chain) {
    if (!sums[chain].is_finite()) return sums_with_infinities(value, first, count);
    all = all + two_sums{sums[chain].value(), magnitudes[chain]};
  }
  return all;
}

}  // namespace lab
