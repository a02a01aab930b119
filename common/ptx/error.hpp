// What is wrong with PTX, and where.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace lab::ptx {

// A place in the text; both are counted from 1, columns in bytes.
struct position {
  std::size_t line = 1;
  std::size_t column = 1;
  friend bool operator==(const position&, const position&) = default;
};

// what() is "LINE:COLUMN: message"; message() is for a person, one line without control characters.
class error : public std::runtime_error {
 public:
  error(position where, const std::string& message)
      : std::runtime_error(std::to_string(where.line) + ":" + std::to_string(where.column) + ": " + message),
        where_(where),
        message_(message) {}

  [[nodiscard]] std::size_t line() const noexcept { return where_.line; }
  [[nodiscard]] std::size_t column() const noexcept { return where_.column; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  position where_;
  std::string message_;
};

}  // namespace lab::ptx
