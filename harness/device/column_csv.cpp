#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/csv.hpp"
#include "harness/device/column_table.hpp"

namespace lab {
namespace {

// A column as it is read, row by row.
struct growing_column {
  std::vector<std::int64_t> offsets{0};
  std::string chars;

  void append(std::string_view row) {
    chars += row;
    offsets.push_back(static_cast<std::int64_t>(chars.size()));
  }
  // Leaves nothing behind: a column may be large.
  column take() {
    column taken{.offsets = host_array<std::int64_t>(std::ssize(offsets)),
                 .chars = host_array<char>(std::ssize(chars))};
    std::copy(offsets.begin(), offsets.end(), taken.offsets.data());
    std::copy(chars.begin(), chars.end(), taken.chars.data());
    *this = {};
    return taken;
  }
};

}  // namespace

std::vector<column> read_columns(const std::string& path, std::span<const char* const> names) {
  std::vector<growing_column> read(names.size());
  read_csv(path, {names.begin(), names.end()},
           [&](std::size_t which, std::string_view field) { read[which].append(field); });
  std::vector<column> columns;
  for (growing_column& one : read) columns.push_back(one.take());
  return columns;
}

void write_column(const std::string& path, const std::string& name, const column& written) {
  csv_column_writer writer(path, name);
  for (std::int64_t row = 0; row < written.rows(); ++row) writer.write(written[row]);
  writer.commit();
}

}  // namespace lab
