// A kernel's __shared__ variables. Internal.
#pragma once

#include <cstddef>
#include <span>

#include "common/emulator/core/program_symbols.hpp"

namespace lab::emulator {

// Where a variable lies in the thread-local memory of the executable.
struct shared_variable {
  std::size_t offset;
  std::size_t bytes;
};

// The variables that the kernel declares itself; those of functions that it calls are not known to be its
// own. The span stays valid.
std::span<const shared_variable> shared_variables(const void* kernel);

// Whether a thread-local variable is the emulator's own, and no shared memory. (CUB's are shared memory.)
bool is_of_emulator(const program_symbol& variable);

// Those of all functions of the program. The span stays valid.
std::span<const shared_variable> all_shared_variables();

}  // namespace lab::emulator
