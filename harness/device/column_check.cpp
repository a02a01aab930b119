#include "harness/device/column_check.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace lab {
namespace {

// Bytes for a message: quoted, escaped, and cut where they are many.
std::string text_for_message(std::string_view text) {
  constexpr std::size_t max_bytes = 40;
  std::string result = "\"";
  for (const char character : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7f) {
      if (character == '"' || character == '\\') result += '\\';
      result += character;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      result += escaped;
    }
  }
  result += '"';
  return text.size() > max_bytes ? result + "... (" + std::to_string(text.size()) + " bytes)" : result;
}

}  // namespace

std::optional<failure_record> column_check::exists() const {
  if (found_.offsets != nullptr && found_.chars_capacity >= 0 &&
      (found_.chars != nullptr || found_.chars_capacity == 0))
    return std::nullopt;
  return failure_record{.kind = failure_kind::wrong,
                        .expected = "an output of offsets and characters",
                        .found = "null, or a size below 0"};
}

std::optional<failure_record> column_check::offsets() const {
  const std::int64_t rows = expected_.rows();
  const host_array<std::int64_t> offsets = reader_.read_offsets(found_.offsets, offset_bits_, rows + 1);
  const std::int64_t at = first_difference(offsets.data(), expected_.offsets.data(), rows + 1);
  if (at > rows) return std::nullopt;
  const std::int64_t found = offsets[at];
  if (at == 0 || (at == rows && (found < 0 || found > found_.chars_capacity))) {
    return failure_record{
        .kind = failure_kind::wrong,
        .index = at,
        .expected =
            (at == 0 ? "a first offset of " : "a final offset of ") + std::to_string(expected_.offsets[at]),
        .found = std::to_string(found) + (found == -1 ? ", which is the poison: it was never written" : "")};
  }
  // Offset `at` ends row at - 1, the first whose length is wrong.
  return wrong_row(at - 1);
}

std::optional<failure_record> column_check::chars() const {
  const std::int64_t total = expected_.bytes();
  if (total > found_.chars_capacity) {
    return failure_record{.kind = failure_kind::wrong,
                          .expected = "room for " + std::to_string(total) + " bytes of characters",
                          .found = "a capacity of " + std::to_string(found_.chars_capacity)};
  }
  const host_array<char> found = reader_.read_array(static_cast<const char*>(found_.chars), total);
  const std::int64_t at = first_difference(found.data(), expected_.chars.data(), total);
  if (at == total) return std::nullopt;
  return wrong_row(expected_.row_of(at));
}

failure_record column_check::wrong_row(std::int64_t row) const {
  const std::int64_t begin = read_offset(row);
  const std::int64_t end = read_offset(row + 1);
  failure_record failure{
      .kind = failure_kind::wrong, .index = row, .expected = text_for_message(expected_[row])};
  if (begin < 0 || end < begin || end > found_.chars_capacity) {
    failure.found = "offsets " + std::to_string(begin) + " and " + std::to_string(end);
    return failure;
  }
  std::string text(static_cast<std::size_t>(end - begin), '\0');
  reader_.copy_back(text.data(), found_.chars + begin, end - begin);
  failure.found = text_for_message(text);
  const bool unwritten = std::all_of(text.begin(), text.end(),
                                     [](char byte) { return static_cast<unsigned char>(byte) == poison; });
  if (unwritten && !text.empty() && end - begin == std::ssize(expected_[row]))
    failure.kind = failure_kind::unwritten;
  return failure;
}

std::optional<failure_record> column_check::unused_chars(std::int64_t capacity, unsigned char untouched,
                                                         const row_finder& hidden_row) const {
  const std::int64_t total = expected_.bytes();
  const std::int64_t unused = capacity - total;
  const auto byte = reader_.first_other_byte(found_.chars + total, unused, untouched);
  if (!byte) return std::nullopt;
  constexpr std::int64_t max_bytes = 4096;
  std::string text(static_cast<std::size_t>(std::min(unused - *byte, max_bytes)), '\0');
  reader_.copy_back(text.data(), found_.chars + total + *byte, std::ssize(text));
  const std::size_t end = text.find(static_cast<char>(untouched));
  if (end != std::string::npos) text.resize(end);
  failure_record failure{.kind = failure_kind::out_of_bounds, .index = hidden_row(text)};
  if (failure.index) {
    failure.found = "private text of row " + std::to_string(*failure.index) + " in unused output, " +
                    std::to_string(*byte) + " bytes behind the column's end: " + text_for_message(text);
  } else {
    failure.found = "a write beyond the column, " + std::to_string(*byte) +
                    " bytes behind its end: " + text_for_message(text);
  }
  return failure;
}

}  // namespace lab
