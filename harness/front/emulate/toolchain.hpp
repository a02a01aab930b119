// What a CUDA program is compiled and linked with on this machine.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

struct emulation_toolchain {
  std::string compiler;
  std::string headers;                       // the folder of cuda_runtime.h
  std::string root;                          // the folder that holds common/emulator
  std::vector<std::string> libraries;        // in the linker's order
  std::string last_resort;                   // a library for what the program's own do not have
  std::string last_headers;                  // the folder of that library's headers
  std::vector<std::string> observing;        // those that an observed program needs before them
  std::vector<std::string> observing_flags;  // with which observed kernels are compiled
};

// Beside the program where it is installed, else where it was built. Throws environment_error, with what to
// do, where something is missing.
[[nodiscard]] emulation_toolchain find_toolchain(bool observe);

// The build's own targets for `./lab emulate`: also those to observe with, for the line of a fault.
[[nodiscard]] std::vector<std::string> toolchain_targets();

}  // namespace lab::front
