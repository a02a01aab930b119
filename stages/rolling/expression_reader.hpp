// Reads a window_expression: numbers, count, x[k], sum(x), min(x), max(x), abs(), sqrt(), floor(), min(a, b),
// max(a, b), + - * / and parentheses, comparisons, and c ? a : b.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "stages/rolling/window_expression.hpp"

namespace lab::rolling {

class expression_reader {
 public:
  // Throws std::invalid_argument, with the place, for a text that is none.
  static window_expression read(const std::string& text) {
    expression_reader reader(text);
    reader.choice();
    if (reader.peek() != '\0') reader.refuse("an operator is missing");
    return reader.made_;
  }

 private:
  using operation = window_expression::operation;

  explicit expression_reader(const std::string& text) : text_(text) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument("at character " + std::to_string(at_ + 1) + ": " + why);
  }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(const std::string& wanted) {
    if (peek() != wanted[0] || text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  void need(const std::string& wanted) {
    if (!take(wanted)) refuse("'" + wanted + "' is missing");
  }

  // `change` is by how many numbers more are held behind it.
  void emit(operation what, int change, double number = 0) {
    held_ += change;
    if (made_.length == window_expression::most_instructions || held_ > window_expression::most_numbers)
      refuse("the expression is too long");
    made_.instructions[made_.length++] = {what, number};
  }

  void choice() {
    if (++depth_ > window_expression::most_instructions) refuse("the expression is too long");
    comparison();
    if (take("?")) {
      choice();
      need(":");
      choice();
      emit(operation::choose, -2);
    }
    --depth_;
  }
  // a > b is -a < -b.
  void comparison() {
    sum();
    const bool is_larger = peek() == '>';
    if (take("==")) {
      sum();
      return emit(operation::equal, -1);
    }
    if (!take("<") && !take(">")) return;
    const operation what = take("=") ? operation::less_or_equal : operation::less;
    if (is_larger) emit(operation::negate, 0);
    sum();
    if (is_larger) emit(operation::negate, 0);
    emit(what, -1);
  }
  void sum() {
    product();
    for (;;) {
      const bool adds = take("+");
      if (!adds && !take("-")) return;
      product();
      emit(adds ? operation::add : operation::subtract, -1);
    }
  }
  void product() {
    factor();
    for (;;) {
      const bool multiplies = take("*");
      if (!multiplies && !take("/")) return;
      factor();
      emit(multiplies ? operation::multiply : operation::divide, -1);
    }
  }
  void factor() {
    int negations = 0;
    while (take("-")) ++negations;
    operand();
    if (negations % 2 == 1) emit(operation::negate, 0);
  }
  void operand() {
    const char first = peek();
    if (take("(")) {
      choice();
      need(")");
    } else if ((first >= '0' && first <= '9') || first == '.') {
      char* end = nullptr;
      const double number = std::strtod(text_.c_str() + at_, &end);
      if (end == text_.c_str() + at_) refuse("a number or a name is missing");
      at_ = static_cast<std::size_t>(end - text_.c_str());
      emit(operation::number, 1, number);
    } else {
      name();
    }
  }
  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (word == "count") return emit(operation::count, 1);
    if (word == "x") {
      need("[");
      choice();
      need("]");
      return emit(operation::value, 0);
    }
    struct known_function {
      const char* name;
      operation of_window, of_numbers;
      int numbers;
    };
    constexpr operation none = operation::number;
    constexpr known_function functions[] = {{"sum", operation::sum_of_window, none, 0},
                                            {"min", operation::min_of_window, operation::smaller, 2},
                                            {"max", operation::max_of_window, operation::larger, 2},
                                            {"abs", none, operation::absolute, 1},
                                            {"sqrt", none, operation::root, 1},
                                            {"floor", none, operation::round_down, 1}};
    const auto* const found = std::find_if(std::begin(functions), std::end(functions),
                                           [&](const known_function& one) { return one.name == word; });
    if (found == std::end(functions)) {
      at_ = begin;
      refuse(word.empty() ? "a number or a name is missing"
                          : "'" + word +
                                "' is unknown: there are x[k], count, sum(x), min(x), max(x), "
                                "min(a, b), max(a, b), abs, sqrt and floor");
    }
    need("(");
    const std::size_t argument = at_;
    if (found->of_window != none && take("x") && take(")")) return emit(found->of_window, 1);
    at_ = argument;
    if (found->numbers == 0) refuse("sum is of the window: sum(x)");
    for (int k = 0; k < found->numbers; ++k) {
      if (k > 0) need(",");
      choice();
    }
    need(")");
    emit(found->of_numbers, 1 - found->numbers);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int held_ = 0;
  int depth_ = 0;
  window_expression made_{};
};

}  // namespace lab::rolling
