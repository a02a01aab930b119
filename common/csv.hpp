// Columns of CSV files (RFC 4180), read and written by libcsv, so far as the build found it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.hpp"

namespace lab {

// Whether the build found libcsv. Without it everything below throws file_error.
bool csv_is_supported() noexcept;

// A file that is not the CSV file it should be.
class csv_format_error : public file_error {
 public:
  using file_error::file_error;
};

// Reads some columns of a file with a header. take(k, field) is called for each row, once for each of
// `columns` (k is the place there) in the order of the file. Other columns are skipped. A byte order mark,
// CRLF or LF, a last line without one, empty lines and quoted fields with anything in them are all fine;
// spaces belong to their field. Throws csv_format_error, perhaps after some rows, for a missing column, a row
// with more or fewer fields than the header, quotes that RFC 4180 does not know, and fields that are not
// UTF-8; rows are counted from 1 behind the header. Throws file_error when the file cannot be read.
void read_csv(const std::filesystem::path& path, const std::vector<std::string>& columns,
              const std::function<void(std::size_t column, std::string_view field)>& take);

// Writes a file of one column with a header, whole or not at all (see output_file). Lines end with LF; fields
// are quoted where they must be.
class csv_column_writer {
 public:
  csv_column_writer(const std::filesystem::path& path, std::string_view header);

  void write(std::string_view field);
  // Puts the file in its place.
  void commit();

 private:
  void flush();

  output_file file_;
  std::string pending_;
};

}  // namespace lab
