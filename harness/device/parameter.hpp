// How a problem declares its parameters.
#pragma once

#include <cstdint>
#include <vector>

namespace lab {

// A value that a parameter may take, and the word for it.
struct choice {
  std::int64_t value;
  const char* name;
};

// One parameter of a track: an integer member of its parameters. Several defaults are a sweep.
template <class Parameters>
struct parameter {
  using pointer_to_member = std::int64_t Parameters::*;

  const char* name;
  pointer_to_member member;
  const char* meaning;
  std::int64_t minimum = 0;
  std::vector<std::int64_t> bench = {};           // defaults on a GPU
  std::vector<std::int64_t> emulator_bench = {};  // defaults on the emulator
  std::vector<choice> choices;                    // empty: any value from the minimum up
};

}  // namespace lab
