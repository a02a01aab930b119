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

// In the order in which the help shows them. Each program has a file of its own for it: all_verbs.cpp, or
// what a newcomer's first call needs, which is built in half the time (ladder_verbs.cpp).
[[nodiscard]] std::span<const verb_maker> verbs_of_program();

}  // namespace lab::front
