#include "harness/device/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lab {
namespace {

template <class T>
std::string text_of_number(long double number) {
  if (std::isnan(number)) return "nan";  // of either sign
  using limits = std::numeric_limits<T>;
  char text[64];
  std::snprintf(text, sizeof text, "%.*Lg", limits::is_integer ? limits::digits10 + 1 : limits::max_digits10,
                number);
  return text;
}

template <class T>
class judge_of {
 public:
  explicit judge_of(const comparison& rules) : rules_(rules) {}

  void operator()(const expectation& expected, std::int64_t index, T found, check_result& result) const {
    ++result.compared;
    if (rules_.plain_error < 0 && is_no_worse(expected, found, result)) return;
    bool right = false;
    const auto found_value = static_cast<long double>(found);
    // Without an error there is nothing to note. (Zeros have signs.)
    if (found_value == expected.value && expected.value != 0 && std::isfinite(expected.scale)) return;
    if (std::isnan(expected.value)) {
      right = std::isnan(found_value);
    } else if (std::isinf(expected.value) || rules_.relative_error == 0) {
      right = found == static_cast<T>(expected.value);
      if (rules_.keeps_zero_signs) right = right && std::signbit(found_value) == std::signbit(expected.value);
    } else if (std::isinf(found_value) && may_overflow(expected)) {
      right = true;  // the reference is wider than the element: what overflows there is no fault of the stage
    } else {
      right = is_within_bound(expected, index, found_value, result);
    }
    if (right || is_excused(expected, index, found_value, result)) return;
    if (result.failure && *result.failure->index < index) return;
    result.failure =
        failure_record{.kind = failure_kind::wrong,
                       .index = index,
                       .expected = text_of_number<T>(expected.value),
                       .found = text_of_number<T>(found_value) + error_beside_bound(expected, found_value)};
  }

 private:
  // For results among the denormals, whose spacing no relative bound reaches: each term may lose one of them
  // (a mean that adds x / w does).
  [[nodiscard]] long double least() const {
    return static_cast<long double>(rules_.terms + 1) *
           static_cast<long double>(std::numeric_limits<T>::denorm_min());
  }

  // For an error small enough to be rounding: its size, and the declared bound.
  [[nodiscard]] std::string error_beside_bound(const expectation& expected, long double found) const {
    constexpr long double of_roundings = 0.01L;
    const long double error = std::abs(found - expected.value);
    const long double scale = std::max(expected.scale, static_cast<long double>(rules_.min_scale));
    if (rules_.relative_error == 0 || found == 0 || !(error < of_roundings * scale)) return "";
    // As many digits as tell the two apart.
    char of_error[32] = "";
    char of_bound[32] = "";
    for (int digits = 2;
         digits <= std::numeric_limits<T>::max_digits10 && std::string_view(of_error) == of_bound; ++digits) {
      std::snprintf(of_error, sizeof of_error, "%.*Lg", digits, error / scale);
      std::snprintf(of_bound, sizeof of_bound, "%.*g", digits, rules_.relative_error);
    }
    return std::string(": an error of ") + of_error + " of the scale, where the bound (relative_error) is " +
           of_bound;
  }

  bool is_within_bound(const expectation& expected, std::int64_t index, long double found,
                       check_result& result) const {
    const long double error = std::abs(found - expected.value);
    const long double bound = static_cast<long double>(rules_.relative_error) *
                                  std::max(expected.scale, static_cast<long double>(rules_.min_scale)) +
                              least();
    const long double declared = bound + static_cast<long double>(rules_.forgotten) * expected.largest;
    if (std::isnan(error) || !(error <= declared)) return false;
    if (rules_.plain_error >= 0) look_at_error(expected, error, index, found, result);
    raise(result.largest_error, error, declared);
    result.forgot |= error > bound;
    // Of values that were large and have left: `min_scale` allows it, and without the trait it is an error.
    result.drifted |= rules_.drift > 0 && index >= rules_.first_excused &&
                      error > static_cast<long double>(rules_.relative_error) * expected.scale + least();
    if (expected.scale > 0 && error <= bound) raise(result.relative_error, error, expected.scale);
    return true;
  }

  // Whether the error is surely below what was found before, by figures that are themselves a few roundings
  // wrong: so is nearly every output, in a fraction of the time that long double takes.
  bool is_no_worse(const expectation& expected, T found, const check_result& result) const {
    const auto value = static_cast<double>(expected.value);
    const auto scale = static_cast<double>(expected.scale);
    const double most = std::abs(static_cast<double>(found) - value) + 0x1p-52 * std::abs(value);
    return most < 0.999 * rules_.relative_error * result.largest_error * scale &&
           most < 0.999 * result.relative_error * scale && scale < std::numeric_limits<double>::max();
  }

  void look_at_error(const expectation& expected, long double error, std::int64_t index, long double found,
                     check_result& result) const {
    if (error <= rules_.plain_error * expected.scale + least()) return;
    result.forgot = true;
    const bool is_earlier = !result.useless || index < *result.useless->index;
    if (expected.value == 0 || error < std::abs(expected.value) / 2 || !is_earlier) return;
    result.useless = failure_record{
        .index = index, .expected = text_of_number<T>(expected.value), .found = text_of_number<T>(found)};
  }

  // Makes `largest` at least part / whole. A division takes longer than all else, and few are needed.
  static void raise(double& largest, long double part, long double whole) {
    if (part > static_cast<long double>(largest) * whole)
      largest = std::max(largest, static_cast<double>(part / whole));
  }

  bool is_excused(const expectation& expected, std::int64_t index, long double found,
                  check_result& result) const {
    if (index < rules_.first_excused) return false;
    const bool leaked = rules_.may_leak && !std::isfinite(found);
    const bool drifted =
        rules_.drift > 0 && std::abs(found - expected.value) <= static_cast<long double>(rules_.drift);
    result.leaked |= leaked;
    result.drifted |= drifted;
    return leaked || drifted;
  }

  // Whether the terms of an output, added up without their signs, leave the range of its element.
  [[nodiscard]] bool may_overflow(const expectation& expected) const {
    return expected.scale * static_cast<long double>(rules_.terms) >
           static_cast<long double>(std::numeric_limits<T>::max());
  }

  const comparison& rules_;
};

template <class IndexOf>
void judge_all(const comparison& rules, const expectation* expected, std::int64_t count, const void* found,
               const IndexOf& index_of, check_result& result) {
  with_element(rules.type, [&](auto zero) {
    using T = decltype(zero);
    const judge_of<T> judge(rules);
    for (std::int64_t k = 0; k < count; ++k)
      judge(expected[k], index_of(k), static_cast<const T*>(found)[k], result);
  });
}

}  // namespace

std::string number_text(element_type type, long double value) {
  return with_element(type, [&](auto zero) { return text_of_number<decltype(zero)>(value); });
}

void comparison::judge(const expectation* expected, std::int64_t first, std::int64_t count, const void* found,
                       check_result& result) const {
  judge_all(
      *this, expected, count, found, [&](std::int64_t k) { return first + k; }, result);
}

void comparison::judge(const expectation* expected, const std::int64_t* indices, std::int64_t count,
                       const void* found, check_result& result) const {
  judge_all(
      *this, expected, count, found, [&](std::int64_t k) { return indices[k]; }, result);
}

void comparison::add(std::vector<check_result>& parts, check_result& total) const {
  total.relative_bound = relative_error;
  for (check_result& part : parts) {
    total.compared += part.compared;
    total.largest_error = std::max(total.largest_error, part.largest_error);
    total.relative_error = std::max(total.relative_error, part.relative_error);
    total.drifted |= part.drifted;
    total.leaked |= part.leaked;
    total.forgot |= part.forgot;
    if (part.useless && (!total.useless || *part.useless->index < *total.useless->index))
      total.useless = std::move(part.useless);
    const bool earlier = part.failure && (!total.failure || *part.failure->index < *total.failure->index);
    if (earlier) total.failure = std::move(part.failure);
  }
}

check_result compare_with(const host_values& found, const host_values& right) {
  constexpr double rounding = 1e-9;
  check_result result{.compared = found.size()};
  with_element(found.type, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < found.size() && !result.failure; ++i) {
      const T value = found.as<T>()[i];
      const T other = right.as<T>()[i];
      bool is_right = value == other;
      if constexpr (is_real_v<T>) {
        is_right = is_right || (std::isnan(value) && std::isnan(other)) ||
                   std::abs(value - other) <= rounding * std::abs(other);
      }
      if (is_right) continue;
      result.failure = failure_record{.kind = failure_kind::wrong,
                                      .index = i,
                                      .expected = text_of_number<T>(static_cast<long double>(other)),
                                      .found = text_of_number<T>(static_cast<long double>(value))};
    }
  });
  return result;
}

}  // namespace lab
