// What a program of `lab emulate` says about its kernels when it ends: a JSON file that the front reads.
// Internal.
#pragma once

#include <string>

namespace lab::emulator {

// Of an observed program, the kernels with their counters, as JSON; set by observed_program.cpp.
struct observed_kernels_text {
  std::string kernels;   // a JSON array
  std::string warnings;  // likewise, of texts
};
inline observed_kernels_text (*describe_observed_kernels)() = nullptr;

// A JSON string, quotes included. Whether the bytes are UTF-8 the reader looks at.
std::string json_string(const std::string& text);

}  // namespace lab::emulator
