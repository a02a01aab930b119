// Whether bytes are UTF-8 (RFC 3629), and text that is safe to show whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lab {

// Where the first character that is none begins: a stray or missing continuation byte, an overlong form, a
// surrogate, or a code point beyond U+10FFFF.
inline std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || length > text.size() - at) return at;
    std::uint32_t code = lead & (0xff >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[at + k]);
      if ((next & 0xc0) != 0x80) return at;
      code = code << 6 | (next & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return at;
    at += length;
  }
  return std::nullopt;
}

// `text` with what is no UTF-8, and control characters, as \xNN: a file's name or content cannot garble a
// terminal, break a line in two, or make JSON that nobody can read. `keep_lines` leaves ends of lines and
// tabs.
inline std::string escaped(std::string_view text, bool keep_lines = false) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  std::size_t valid = first_invalid_utf8(text).value_or(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool bad = at == valid;
    if (bad) valid = at + 1 + first_invalid_utf8(text.substr(at + 1)).value_or(text.size() - at - 1);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool layout = keep_lines && (byte == '\n' || byte == '\t');
    if (bad || (!layout && (byte < 0x20 || byte == 0x7f))) {
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 0xf]};
    } else {
      result += text[at];
    }
  }
  return result;
}

}  // namespace lab
