// What text must be before a compiler sees it. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/run_time/compiler.hpp"

namespace lab::run_time {

// "user.cu(3): error: message" and where it is.
[[nodiscard]] compile_error error_at(const std::string& file_name, int line, int column,
                                     const std::string& message);

// Throws compile_error unless the text is UTF-8 without a NUL and the file name has no control characters.
// NVRTC takes a NUL, and the byte 0xff, for the end of the source, and compiles what stands before.
void require_text(const std::string& text, const std::string& file_name);

// Throws compile_error where one of `words` is empty or holds a NUL; `what` names them.
void require_words(const std::vector<std::string>& words, const char* what);

// Whether there is nothing but white space.
[[nodiscard]] bool is_blank(std::string_view text);

// The number of the last line that holds more than white space, from 1.
[[nodiscard]] int last_line(std::string_view text);

// `text` as it stands between the quotation marks of a string literal.
[[nodiscard]] std::string in_string_literal(std::string_view text);

// The version in PTX's directive ".version 9.0"; nothing where there is none.
[[nodiscard]] std::optional<version> ptx_version(std::string_view ptx);

}  // namespace lab::run_time
