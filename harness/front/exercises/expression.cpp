#include "harness/front/exercises/expression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

// No figure that a person derives is nested deeper.
constexpr int most_nesting = 32;

// A recursive descent over sum, product and factor.
class reader {
 public:
  reader(const std::string& text, const expression_values& values) : text_(text), values_(values) {}

  double whole() {
    const double value = sum();
    if (peek() != '\0') refuse("an operator is missing");
    if (!std::isfinite(value)) refuse("the result is not finite");
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw expression_error(fmt::format("'{}': {}", cleaned(text_, 80), why));
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }
  double product() {
    double value = factor();
    for (;;) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        value /= factor();
      } else {
        return value;
      }
    }
  }
  double factor() {
    if (++depth_ > most_nesting) refuse("it is nested too deep");
    const double value = plain_factor();
    --depth_;
    return value;
  }
  double plain_factor() {
    if (take('-')) return -factor();
    if (take('(')) return rest_of_parentheses();
    const char first = peek();
    if ((first >= '0' && first <= '9') || first == '.') return number();
    const std::string word = name();
    if (word.empty()) refuse("a number or a name is missing");
    if (word == "ceil" || word == "floor") {
      if (!take('(')) refuse(word + " needs parentheses");
      const double value = rest_of_parentheses();
      return word == "ceil" ? std::ceil(value) : std::floor(value);
    }
    const auto found = values_.find(word);
    if (found == values_.end()) refuse(fmt::format("there is no size '{}'", word));
    return found->second;
  }
  double rest_of_parentheses() {
    const double value = sum();
    if (!take(')')) refuse("a ')' is missing");
    return value;
  }
  double number() {
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + at_, &end);
    at_ = static_cast<std::size_t>(end - text_.c_str());
    return value;
  }
  std::string name() {
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  const std::string& text_;
  const expression_values& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate(const std::string& text, const expression_values& values) {
  return reader(text, values).whole();
}

std::string filled_in(const std::string& text, const expression_values& values) {
  std::string filled;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t open = text.find('{', begin);
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return filled + text.substr(begin);
    filled += text.substr(begin, open - begin);
    filled += fmt::format("{:.10g}", evaluate(text.substr(open + 1, close - open - 1), values));
    begin = close + 1;
  }
}

}  // namespace lab::front
