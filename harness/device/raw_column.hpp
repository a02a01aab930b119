// Whether somebody else's columns are what a stage may take for granted.
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "common/utf8.hpp"

namespace lab {

// A column as it comes: nothing is known of the offsets yet.
struct raw_column {
  std::string_view name;
  std::span<const std::int64_t> offsets;
  std::string_view chars;
};

// What is wrong with the column, for a person; empty when nothing is. Rows are counted from 1.
inline std::string why_invalid(const raw_column& column) {
  const std::string name(column.name);
  if (column.offsets.empty()) return name + " has no offsets: even no rows have one";
  if (column.offsets[0] != 0)
    return name + " begins at offset " + std::to_string(column.offsets[0]) + ", not 0";
  for (std::size_t row = 1; row < column.offsets.size(); ++row) {
    const std::int64_t begin = column.offsets[row - 1];
    const std::int64_t end = column.offsets[row];
    const std::string where = name + ", row " + std::to_string(row) + ": ";
    if (end < begin) {
      return where + "the offsets fall from " + std::to_string(begin) + " to " + std::to_string(end);
    }
    if (static_cast<std::uint64_t>(end) > column.chars.size()) {
      return where + "ends at byte " + std::to_string(end) + " of " + std::to_string(column.chars.size());
    }
    const std::string_view text =
        column.chars.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    if (const auto bad = first_invalid_utf8(text)) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[*bad]));
      return where + "not UTF-8: what begins with " + byte + " at byte " + std::to_string(*bad + 1) +
             " is no character";
    }
  }
  return "";
}

// The same for all columns of a table, which must have as many rows as the first.
inline std::string why_invalid(std::span<const raw_column> columns) {
  for (const raw_column& one : columns) {
    if (std::string why = why_invalid(one); !why.empty()) return why;
  }
  for (const raw_column& other : columns) {
    const raw_column& first = columns.front();
    if (other.offsets.size() == first.offsets.size()) continue;
    return std::string(first.name) + " has " + std::to_string(first.offsets.size() - 1) + " rows, and " +
           std::string(other.name) + " has " + std::to_string(other.offsets.size() - 1);
  }
  return "";
}

// The offsets that hold `bytes` of characters: 32 bits, or 64.
inline int offset_bits_for(std::int64_t bytes) {
  return bytes <= std::numeric_limits<std::int32_t>::max() ? 32 : 64;
}

}  // namespace lab
