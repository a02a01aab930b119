// The command line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/front/command_line/verb.hpp"

namespace lab::front {

// Performs the command line with a program of these verbs, in the order in which the help shows them, and
// returns the exit code. `arguments` leave the program's own name out. Errors are told on stderr; nothing is
// thrown.
int run_program(std::span<const verb_maker> verbs, std::vector<std::string> arguments);

}  // namespace lab::front
