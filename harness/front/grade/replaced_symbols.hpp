// Whether a stage's program replaces functions that are not the stage's.
#pragma once

#include <string>

namespace lab::front {

// The name (demangled) of a function that the program at `stage_path` defines itself, and that the program of
// its track at `track_path`, which is linked from the same harness, takes from a system library or has as a
// template's instance: memcmp, clock_gettime, operator new, a specialisation of the harness's own classes.
// Whoever calls it in that program, the harness included, would get the stage's. Empty where there is none,
// or where one of the programs cannot be read as an ELF file of this machine's word size.
[[nodiscard]] std::string replaced_function(const std::string& stage_path, const std::string& track_path);

}  // namespace lab::front
