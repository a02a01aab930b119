// What every stage must give, byte for byte: the specification.
#pragma once

#include <string>
#include <string_view>

namespace lab::redact {

// The first UTF-8 character of a valid text; nothing of an empty one.
inline std::string_view first_character(std::string_view text) {
  std::size_t end = text.empty() ? 0 : 1;
  while (end < text.size() && (text[end] & 0xc0) == 0x80) ++end;  // 10xxxxxx continues a character
  return text.substr(0, end);
}

// Appends what is shown of a row. The first name ends at the first space; the last name is all behind it.
inline void append_redacted(std::string& text, std::string_view name, std::string_view visibility) {
  if (visibility != "public") {
    text += "X X";
    return;
  }
  const std::size_t space = name.find(' ');
  const std::string_view first_name = name.substr(0, space);
  const std::string_view last_name = space == std::string_view::npos ? "" : name.substr(space + 1);
  text += first_character(last_name);
  text += ' ';
  text += first_name;
}

inline std::string redacted(std::string_view name, std::string_view visibility) {
  std::string text;
  append_redacted(text, name, visibility);
  return text;
}

}  // namespace lab::redact
