// The input columns on the device, between guard zones: sent, varied in place, and found changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/device/column.hpp"
#include "harness/device/device_reader.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/strings.hpp"
#include "harness/protocol.hpp"

namespace lab {

class device_columns {
 public:
  // Sends the columns, and waits. `reader` outlives this.
  device_columns(std::span<const column> sent, int offset_bits, const device_reader& reader);

  [[nodiscard]] strings view(std::size_t k) const;

  // Turns the letters of the first column and moves all rows round (letters.hpp): the columns hold what
  // `from` made of `sent`, and then what `to` makes of it.
  void vary(std::span<const column> sent, std::uint64_t from, std::uint64_t to);

  // What must not have changed since the columns were made or varied: a write to a guard, or to the columns,
  // of which `right` holds what they must be.
  [[nodiscard]] std::optional<failure_record> check(std::span<const column> right) const;
  // Whether a hash of everything, guards and all, is what it was.
  [[nodiscard]] bool unchanged() const { return hash() == hash_; }

 private:
  struct one_column {
    guarded_buffer offsets;
    guarded_buffer chars;
  };

  // Begins with row `to` of `sent` in the place of row `from`.
  void rotate(std::span<const column> sent, std::int64_t from, std::int64_t to);
  [[nodiscard]] std::uint64_t hash() const;
  // Calls visit(buffer) for the offsets and the characters of each column.
  template <class Visit>
  void for_buffers(const Visit& visit) const {
    for (const one_column& one : columns_) {
      visit(one.offsets);
      visit(one.chars);
    }
  }
  [[nodiscard]] std::optional<std::int64_t> first_changed_row(const one_column& now,
                                                              const column& right) const;

  const device_reader& reader_;
  int offset_bits_;
  std::vector<one_column> columns_;
  std::uint64_t hash_ = 0;
};

}  // namespace lab
