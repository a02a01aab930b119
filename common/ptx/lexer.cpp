#include "common/ptx/lexer.hpp"

#include <string>

#include "common/utf8.hpp"

namespace lab::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

bool continues_word(char c) {
  return (begins_word(c) && c != '%') || is_digit(c);
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

void lexer::advance(std::size_t count) {
  for (; count > 0; --count, ++at_) {
    if (source_[at_] == '\n') {
      where_ = {where_.line + 1, 1};
    } else {
      ++where_.column;
    }
  }
}

void lexer::skip_comment() {
  if (at(1) == '/') {
    while (at_ < source_.size() && source_[at_] != '\n') advance(1);
    return;
  }
  const std::size_t close = source_.find("*/", at_ + 2);
  if (close == std::string_view::npos) throw error(where_, "a comment begins here and is never closed");
  advance(close + 2 - at_);
}

void lexer::skip_space() {
  while (at_ < source_.size()) {
    if (is_space(source_[at_])) {
      advance(1);
    } else if (source_[at_] == '/' && (at(1) == '/' || at(1) == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

std::size_t lexer::length_of_number() const {
  std::size_t length = 1;
  while (continues_word(at(length))) ++length;
  if (at(length) == '.' && is_digit(at(length + 1))) {
    ++length;
    while (continues_word(at(length))) ++length;
  }
  return length;
}

std::size_t lexer::length_of_string() const {
  for (std::size_t length = 1; at_ + length < source_.size(); ++length) {
    const char c = at(length);
    if (c == '"') return length + 1;
    if (c < ' ' || c == 0x7f) break;
  }
  throw error(where_, "a string begins here and is not closed in its line");
}

token lexer::next() {
  skip_space();
  token found{token_kind::end, {}, where_};
  if (at_ == source_.size()) return found;
  const char first = source_[at_];
  std::size_t length = 1;
  if (begins_word(first)) {
    found.kind = token_kind::word;
    while (continues_word(at(length))) ++length;
  } else if (first == '.' && continues_word(at(1))) {
    found.kind = token_kind::directive;
    while (continues_word(at(length))) ++length;
  } else if (is_digit(first)) {
    found.kind = token_kind::number;
    length = length_of_number();
  } else if (first == '"') {
    found.kind = token_kind::string;
    length = length_of_string();
  } else if (first != '\0' &&
             std::string_view(",;:{}[]()<>+-*=@!|&~?/^").find(first) != std::string_view::npos) {
    found.kind = token_kind::punctuation;
  } else {
    const bool shown = first > ' ' && first < 0x7f;
    const std::string bytes = escaped(std::string(1, first));
    throw error(where_, shown ? "PTX has no use for '" + bytes + "' here"
                              : "this is no text of PTX: the byte " + bytes);
  }
  found.text = source_.substr(at_, length);
  advance(length);
  return found;
}

}  // namespace lab::ptx
