// Columns of strings from the user's CSV file, and to one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/device/column.hpp"

namespace lab {

// The columns with these names, as many rows of UTF-8 each. Throws file_error (common/csv.hpp).
std::vector<column> read_columns(const std::string& path, std::span<const char* const> names);

// Writes a file of one column, whole or not at all. Throws file_error.
void write_column(const std::string& path, const std::string& name, const column& written);

}  // namespace lab
