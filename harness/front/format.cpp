#include "harness/front/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lab {
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

}  // namespace

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

}  // namespace lab
