// The command line.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

// Performs the command line and returns the exit code. `arguments` leave the program's own name out. Errors
// are told on stderr; nothing is thrown.
int run_program(std::vector<std::string> arguments);

}  // namespace lab::front
