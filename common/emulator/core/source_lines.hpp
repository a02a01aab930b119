// Which line of the source a place in the program belongs to, from its debug information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lab::emulator {

// Whether this OS thread looks for a line.
inline constinit thread_local bool looks_up_line = false;

struct source_line {
  std::string file;  // as the compiler knew it; from the repository's root for the repository's own files
  int line = 0;      // 0: unknown
  std::string function;
  bool outside_of_kernel = true;  // nothing but the emulator's own code, or the system's
};

// Of the executable, as it was loaded.
struct program_image {
  std::uintptr_t begin;
  std::size_t bytes;
};
const program_image& the_program();

// The line of a call that returns to `offset` bytes behind the program's beginning. Of inlined functions the
// outermost line that is not the emulator's own: a kernel's author has written __ldg(), not what it stands
// for.
const source_line& line_of(std::uint32_t offset);

// "stages/reduction/02_tree/stage.cu:31"
std::string text_of_line(std::uint32_t offset);

// The line of the program's own code whose call the host is in, as "main.cu:31: "; empty where it is not
// known, in a kernel, and in a stage's worker.
std::string text_of_call();

// Of an instruction: "stages/reduction/02_tree/stage.cu:31: "; empty where it is not known, as in a program
// without debug information.
std::string text_of_instruction(const void* address);

}  // namespace lab::emulator
