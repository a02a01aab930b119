// The column that a launch left behind, compared byte for byte with what it must be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "harness/device/column.hpp"
#include "harness/device/device_reader.hpp"
#include "harness/device/strings.hpp"
#include "harness/protocol.hpp"

namespace lab {

// Each check returns what is wrong first, and nothing when all is well. A later one takes for granted that
// those before it found nothing: exists(), offsets(), chars(), unused_chars().
class column_check {
 public:
  // An output byte that was never written: it occurs in no UTF-8 text.
  static constexpr unsigned char poison = 0xff;

  // `reader` and `expected` outlive this.
  column_check(const column_output& found, int offset_bits, const column& expected,
               const device_reader& reader)
      : found_(found), offset_bits_(offset_bits), expected_(expected), reader_(reader) {}

  // Pointers that are none, or a size below 0.
  [[nodiscard]] std::optional<failure_record> exists() const;
  // The first is 0, each is the end of its row, and the final one is the column's length.
  [[nodiscard]] std::optional<failure_record> offsets() const;
  [[nodiscard]] std::optional<failure_record> chars() const;

  // Behind the last row's characters, up to `capacity` bytes from the first, all was `untouched` before, and
  // is so still. `hidden_row` finds the first row with a text that must not be seen there, if any.
  using row_finder = std::function<std::optional<std::int64_t>(std::string_view text)>;
  [[nodiscard]] std::optional<failure_record> unused_chars(std::int64_t capacity, unsigned char untouched,
                                                           const row_finder& hidden_row) const;

 private:
  [[nodiscard]] std::int64_t read_offset(std::int64_t row) const {
    return reader_.read_offset(found_.offsets, offset_bits_, row);
  }
  [[nodiscard]] failure_record wrong_row(std::int64_t row) const;

  column_output found_;
  int offset_bits_;
  const column& expected_;
  const device_reader& reader_;
};

}  // namespace lab
