// Logs of NVRTC and nvJitLink as a person reads them, and as data. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/run_time/compiler.hpp"

namespace lab::run_time {

struct compiler_log {
  std::string text;  // without counts of errors and advice on options; see read_log
  std::vector<diagnostic> diagnostics;
};

// Reads a log as a compiler writes it. In the text control characters are shown as \xNN, and lines that are
// too long for a terminal are cut around the caret. `end_of_source`, "user.cu(7)", replaces the words "At end
// of source"; empty leaves them.
[[nodiscard]] compiler_log read_log(std::string_view log, const std::string& end_of_source = "");

}  // namespace lab::run_time
