// Where the parts of the emulator put what they have to say. Internal; the public side is emulator.hpp.
#pragma once

#include <cstdio>
#include <string>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

void add_diagnostic(const std::string& text);
// Of what a function of the runtime refuses, or a library's kernel has done: with the line of the call.
void add_diagnostic_of_call(const std::string& text);

// printf into a string.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  const int length = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, values...);
  return text;
}

// "(x,y,z)"
inline std::string text_of(uint3 position) {
  return format("(%u,%u,%u)", position.x, position.y, position.z);
}

inline std::string text_of_thread(uint3 index) {
  return "thread " + text_of(index);
}

// "file:line"
inline std::string text_of(place where) {
  return format("%s:%d", where.file, where.line);
}

// The name of a kernel without its parameters, from the program's symbol table; "kernel" if that was
// stripped.
std::string kernel_name(const void* kernel);
// What else it is called: of one that is known by what calls it.
void name_kernel(const void* kernel, const char* name);

}  // namespace lab::emulator
