// Numbers and text as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lab::front {

// Four significant digits with the unit that fits: "812.0 ns", "12.34 us", "1.774 ms", "2.500 s".
[[nodiscard]] std::string humanised_time(double nanoseconds);

// Three significant digits, in decimal units as bandwidths use them: "17 B", "4.00 kB", "16.0 GB".
[[nodiscard]] std::string humanised_bytes(double bytes);

// "4510 GB/s"
[[nodiscard]] std::string humanised_bandwidth(double bytes, double nanoseconds);

// A fraction as a percentage with a digit after the point: "87.3 %".
[[nodiscard]] std::string humanised_percentage(double fraction);

// A ratio with three significant digits, at least two of them after the point below 10: "1.00x", "12.3x",
// "256x".
[[nodiscard]] std::string humanised_ratio(double ratio);

// Columns that UTF-8 text takes on a terminal, for the characters that the lab itself prints (one column
// each).
[[nodiscard]] std::size_t display_width(const std::string& text);

[[nodiscard]] std::string padded_right(const std::string& text, std::size_t width);
[[nodiscard]] std::string padded_left(const std::string& text, std::size_t width);

// A stage's text as it may be printed: one line of UTF-8 without control characters or marks that reorder the
// line (each becomes "?", a line's end or a tab a space), of at most `most` bytes.
[[nodiscard]] std::string cleaned(std::string_view text, std::size_t most = 4000);

// As the text or an attribute of XML.
[[nodiscard]] std::string escaped_xml(const std::string& text);

// All strings of a worker's answer, cleaned. Texts of source files, under "sources" and "log", keep their
// lines and length.
void clean(nlohmann::json& answer);

// The text in lines of at most `width` columns, broken at spaces where there are some, and `indentation`
// spaces before every line but the first. 0: one line, as it is.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indentation);

// At most `width` columns; what is cut off is marked by "...".
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

}  // namespace lab::front
