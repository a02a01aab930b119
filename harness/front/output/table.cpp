#include "harness/front/output/table.hpp"

#include <algorithm>

#include "harness/front/output/format.hpp"

namespace lab::front {

std::vector<std::string> aligned_lines(const table_rows& rows, const std::vector<alignment>& columns,
                                       const cell_style& style) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], display_width(row[column]));
  }
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      const bool is_last = column + 1 == rows[row].size();
      std::string cell = rows[row][column];
      if (columns[std::min(column, columns.size() - 1)] == alignment::right) {
        cell = padded_left(cell, widths[column]);
      } else if (!is_last) {
        cell = padded_right(cell, widths[column]);
      }
      line += (column == 0 ? "" : "  ") + (style ? style(row, column, cell) : cell);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string aligned_text(const table_rows& rows, const std::vector<alignment>& columns,
                         const std::string& indent) {
  std::string text;
  for (const std::string& line : aligned_lines(rows, columns)) text += indent + line + "\n";
  return text;
}

}  // namespace lab::front
