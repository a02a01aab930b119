// What a CUDA program is compiled and linked with on this machine.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

struct emulation_toolchain {
  std::string compiler;
  std::vector<std::string> headers;      // the folders of headers under CUDA's names
  std::string root;                      // the folder that holds common/emulator
  std::vector<std::string> libraries;    // in the linker's order
  std::vector<std::string> observing;    // those that an observed program needs before them
  std::vector<std::string> flags;        // with which sources are compiled
  std::vector<std::string> definitions;  // the macros of a .cu
  std::string precompiled;               // the folder with lab_prelude.h.gch; may be empty
};

// Beside the program where it is installed, else where it was built. Throws environment_error, with what to
// do, where something is missing.
[[nodiscard]] emulation_toolchain find_toolchain(bool observe);

// The build's own targets for `./lab emulate`: also those to observe with, for the line of a fault.
[[nodiscard]] std::vector<std::string> toolchain_targets();

}  // namespace lab::front
