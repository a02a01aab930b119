// What nvcc makes of a program that is to be observed.
#pragma once

#include <string>
#include <vector>

#include "harness/front/emulate/compile.hpp"

namespace lab::front {

// Throws environment_error where there is no nvcc.
[[nodiscard]] std::string find_nvcc();

struct machine_code {
  std::string listing;                // of the kernels of all sources that nvcc has compiled (cubin.hpp)
  bool was_refused = false;           // nvcc has not compiled a source
  std::vector<std::string> problems;  // one for each source that it has not, with its own first error
};

// Compiles each CUDA source with the words that the call has for its compiler, for the compute capability
// that the emulator has (or that of -arch), and reads what came of it.
[[nodiscard]] machine_code read_machine_code(const compile_request& request, const std::string& nvcc);

// The words for nvcc, without those for input and output.
[[nodiscard]] std::vector<std::string> words_for_nvcc(const compiler_words& words);

}  // namespace lab::front
