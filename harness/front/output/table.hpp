// Rows of cells with their columns below each other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lab::front {

enum class alignment { left, right };

using table_rows = std::vector<std::vector<std::string>>;

// What a cell becomes once it is padded, such as the same in colour: it must be as wide.
using cell_style = std::function<std::string(std::size_t row, std::size_t column, const std::string& padded)>;

// A line for each row, without its end, two spaces between cells. Columns beyond `columns` are aligned as the
// last of them; rows may have fewer cells than others. A row's last cell is not padded on its right.
[[nodiscard]] std::vector<std::string> aligned_lines(const table_rows& rows,
                                                     const std::vector<alignment>& columns,
                                                     const cell_style& style = {});

// The same as one text, with `indent` before every line.
[[nodiscard]] std::string aligned_text(const table_rows& rows, const std::vector<alignment>& columns,
                                       const std::string& indent = "");

}  // namespace lab::front
