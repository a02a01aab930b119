// The line of a source that a message is about, as a person is shown it: with a caret below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lab::front {

struct shown_line {
  std::string file;        // as the message has it; empty: the message is about no line
  std::int64_t line = 0;   // counted from 1
  std::string code;        // what stands there, tabs as spaces
  std::size_t column = 0;  // in `code`, counted from 1; 0: the whole line is meant
};

// The line of a file, which messages know as `name`. Nothing where it cannot be read.
[[nodiscard]] shown_line read_line(const std::filesystem::path& file, const std::string& name,
                                   std::int64_t line);

// The first "FILE:LINE" of a message. A file that begins with `own` is read from `own_file`; another one must
// lie in the lab's stages or its common sources. Nothing where none can be read.
[[nodiscard]] shown_line line_in(const std::string& message, const std::string& own,
                                 const std::filesystem::path& own_file);

// The line within `width` columns once caret_text() shows it: long code is cut around its column. 0: as it
// is.
[[nodiscard]] shown_line clipped(const shown_line& shown, std::size_t indentation, std::size_t width);

// "    18 |   __syncthread();\n       |   ^": two lines, `indentation` spaces before each.
[[nodiscard]] std::string caret_text(const shown_line& shown, std::size_t indentation);

// A line with its tabs as spaces, eight columns apart as compilers count them.
[[nodiscard]] std::string without_tabs(const std::string& line);

// The column in the line `written` of what a compiler has found in `column` of the line `compiled`, which
// differ in a prefix before some names (own_prefix); both without tabs.
[[nodiscard]] std::size_t column_in_written(const std::string& compiled, const std::string& written,
                                            std::size_t column);

// A message with kernels and types as a student knows them: without "lab::...::(anonymous namespace)::".
[[nodiscard]] std::string without_scopes(const std::string& message);

}  // namespace lab::front
