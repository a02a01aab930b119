// Figures that follow from sizes: "ceil(n / 128)", "(127 + window) / 128".
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace lab::front {

class expression_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using expression_values = std::map<std::string, double>;

// The value of an expression of numbers, the names in `values`, + - * / ( ) and ceil(), floor(). Throws
// expression_error for anything else, for a name that is not in `values`, and for a result that is not
// finite.
[[nodiscard]] double evaluate(const std::string& text, const expression_values& values);

// `text` with every {expression} replaced by its value: "{ceil(n / 128)} blocks". Throws expression_error.
[[nodiscard]] std::string filled_in(const std::string& text, const expression_values& values);

}  // namespace lab::front
