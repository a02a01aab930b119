// PTX as words with positions (PTX ISA, "Syntax").
#pragma once

#include <string_view>

#include "common/ptx/error.hpp"

namespace lab::ptx {

enum class token_kind {
  word,         // func_retval0, %rd1, $L__BB0_2
  directive,    // what begins with a point: .reg, .f64
  number,       // 12, 0x1F, 0d3FF0000000000000, 9.0; without a sign
  string,       // with its quotes
  punctuation,  // one character
  end
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;  // a part of the source
  position where;
};

// Reads one token after another; comments are left out. The source must outlive lexer and tokens.
class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  // The next token; at the end, again and again one of kind `end`. Throws error for a byte that PTX has no
  // use for, and for a comment or a string that is not closed.
  token next();

 private:
  void skip_space();
  void skip_comment();
  void advance(std::size_t count);
  [[nodiscard]] std::size_t length_of_number() const;
  [[nodiscard]] std::size_t length_of_string() const;
  [[nodiscard]] char at(std::size_t offset) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }

  std::string_view source_;
  std::size_t at_ = 0;
  position where_;
};

}  // namespace lab::ptx
