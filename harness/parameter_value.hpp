// The value of a track's parameter: a whole number, a real number or a word, from the command line to the
// result file.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace lab {

enum class parameter_kind { whole, real, word };
inline constexpr const char* parameter_kind_names[] = {"whole", "real", "word"};

class parameter_value {
 public:
  parameter_value() = default;
  template <std::integral Whole>
  parameter_value(Whole whole) : value_(static_cast<std::int64_t>(whole)) {}
  parameter_value(double real) : value_(real) {}
  parameter_value(std::string word) : value_(std::move(word)) {}
  parameter_value(const char* word) : value_(std::string(word)) {}

  [[nodiscard]] parameter_kind kind() const { return static_cast<parameter_kind>(value_.index()); }
  // Each throws std::bad_variant_access for a value of another kind, but a whole number is a real one, too.
  [[nodiscard]] std::int64_t whole() const { return std::get<std::int64_t>(value_); }
  [[nodiscard]] double real() const {
    return kind() == parameter_kind::whole ? static_cast<double>(whole()) : std::get<double>(value_);
  }
  [[nodiscard]] const std::string& word() const { return std::get<std::string>(value_); }

  // "300", "0.5", "sum": a real number with the digits that tell it from all others.
  [[nodiscard]] std::string text() const {
    if (kind() == parameter_kind::word) return word();
    if (kind() == parameter_kind::whole) return std::to_string(whole());
    char digits[32];
    return {digits, std::to_chars(std::begin(digits), std::end(digits), real()).ptr};
  }

  friend bool operator==(const parameter_value&, const parameter_value&) = default;
  friend bool operator<(const parameter_value& a, const parameter_value& b) { return a.value_ < b.value_; }

 private:
  std::variant<std::int64_t, double, std::string> value_;
};

// The value of each parameter of a track, by name.
using parameter_values = std::map<std::string, parameter_value>;

}  // namespace lab
