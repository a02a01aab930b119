// From CUDA sources to a program that runs on the emulator.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace lab::front {

// What the words of a call mean that are the compiler's: those of g++, and those that nvcc has beside them.
struct compiler_words {
  std::vector<std::string> compile;  // -I, -D, -U, -include, -std, -f...
  std::vector<std::string> link;     // -l, -L
  std::vector<std::string> device;   // for nvcc alone: -use_fast_math, -maxrregcount, -ccbin, ...
  std::string architecture = "900";  // __CUDA_ARCH__
  std::string output;                // -o
  bool only_objects = false;         // -c, -dc
  bool only_links_device = false;    // -dlink
  bool is_cuda = false;              // -x cu: sources of any name are CUDA's
};

// Takes the compiler's words out of `arguments`, up to "--". Options of nvcc that choose a GPU's code or
// describe its compilation are taken and forgotten. Throws usage_error for one that needs a value and has
// none.
[[nodiscard]] compiler_words take_compiler_words(std::vector<std::string>& arguments);

struct compile_request {
  std::vector<std::string> sources;  // .cu, and .cpp, .cc, .cxx, .c, .o, .a
  compiler_words words;
  bool observe = false;
  std::string folder;   // for what is in between
  std::string program;  // the result, or with only_objects an object (of one source)
  std::chrono::seconds time_limit{300};
};

// Throws usage_error with the compiler's words, or with the locations that use what is not emulated;
// environment_error where the compiler does not end in time.
void compile_program(const compile_request& request);

}  // namespace lab::front
