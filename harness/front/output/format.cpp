#include "harness/front/output/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/utf8.hpp"

namespace lab::front {
namespace {

// Exactly `digits` significant digits, without an exponent: 12.34, 1234, 0.001 (of values from 1 to 9999).
std::string significant(double value, int digits) {
  if (value == 0) return "0";
  int before_point = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  // 9.9996 has one digit before the point but is printed as 10.00, which has two.
  const double unit = std::pow(10.0, before_point - digits);
  if (std::round(std::fabs(value) / unit) * unit >= std::pow(10.0, before_point)) ++before_point;
  return fmt::format("{:.{}f}", value, std::clamp(digits - before_point, 0, 12));
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// The character that begins at `at`, whose bytes are known to be valid.
char32_t character_at(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  char32_t code = length == 1 ? byte(0) : byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3fU);
  return code;
}

// Control characters (C0, DEL, C1), line and paragraph separators, and the marks by which text runs backwards
// or is not seen at all.
bool is_unprintable(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

// `text`, of which lines and tabs may be kept.
std::string printable(std::string_view text, bool keep_lines) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const std::string_view one = text.substr(at, length);
    if (first_invalid_utf8(one)) {
      result += '?';
      ++at;
      continue;
    }
    const bool space = lead == '\n' || lead == '\t';
    if (space) {
      result += keep_lines ? text[at] : ' ';
    } else if (is_unprintable(character_at(text, at, length))) {
      result += '?';
    } else {
      result += one;
    }
    at += length;
  }
  return result;
}

void clean_strings(nlohmann::json& value, bool sources) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    value = sources ? printable(text, true) : cleaned(text);
  } else if (value.is_array()) {
    for (auto& element : value) clean_strings(element, sources);
  } else if (value.is_object()) {
    nlohmann::json object = nlohmann::json::object();
    for (auto& [name, member] : value.items()) {
      clean_strings(member, sources || name == "sources" || name == "log");
      object[cleaned(name)] = std::move(member);
    }
    value = std::move(object);
  }
}

}  // namespace

std::string cleaned(std::string_view text, std::size_t most) {
  std::string result = printable(text.substr(0, most), false);
  // A character that was cut in two has become question marks.
  if (text.size() > most) result += "...";
  return result;
}

std::string escaped_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

void clean(nlohmann::json& answer) {
  clean_strings(answer, false);
}

std::string humanised_time(double nanoseconds) {
  // The limits are where rounding to four digits reaches the next unit.
  if (nanoseconds < 999.95) return significant(nanoseconds, 4) + " ns";
  if (nanoseconds < 999.95e3) return significant(nanoseconds / 1e3, 4) + " us";
  if (nanoseconds < 999.95e6) return significant(nanoseconds / 1e6, 4) + " ms";
  return significant(nanoseconds / 1e9, 4) + " s";
}

std::string humanised_bytes(double bytes) {
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  if (bytes < 999.5e3) return significant(bytes / 1e3, 3) + " kB";
  if (bytes < 999.5e6) return significant(bytes / 1e6, 3) + " MB";
  return significant(bytes / 1e9, 3) + " GB";
}

std::string humanised_bandwidth(double bytes, double nanoseconds) {
  return significant(bytes / nanoseconds, 4) + " GB/s";  // a byte per nanosecond is a gigabyte per second
}

std::string humanised_percentage(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::string humanised_ratio(double ratio) {
  if (ratio < 0.1) return significant(ratio, 2) + "x";
  return significant(ratio, ratio < 1 ? 2 : 3) + "x";
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string padded_right(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return taken < width ? text + std::string(width - taken, ' ') : text;
}

std::string padded_left(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return taken < width ? std::string(width - taken, ' ') + text : text;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  if (width <= 3) return std::string(width, '.');
  std::string result;
  std::size_t taken = 0;
  for (const char byte : text) {
    if (begins_character(byte) && ++taken > width - 3) break;
    result += byte;
  }
  return result + "...";
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indentation) {
  std::string rest = text;
  std::string lines;
  while (width > indentation && display_width(rest) > width) {
    // Of a line the bytes that fit, and as many of them as end with a word.
    std::size_t fits = 0;
    for (std::size_t taken = 0; fits < rest.size(); ++fits) {
      if (begins_character(rest[fits]) && ++taken > width) break;
    }
    const std::size_t first = rest.find_first_not_of(' ');
    const std::size_t space = rest.rfind(' ', fits);
    const bool at_space = space != std::string::npos && space > first;
    lines += rest.substr(0, at_space ? space : fits) + "\n";
    rest = std::string(indentation, ' ') + rest.substr(at_space ? space + 1 : fits);
  }
  return lines + rest;
}

}  // namespace lab::front
