// The vocabulary of a problem with one input array (or none) and one output array. A track's problem.hpp
// describes itself with these, and array_track.hpp turns that description into a track.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/inputs.hpp"

namespace lab {

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
};

// What the reference says of one output: its value, and the magnitude that its error is measured against (for
// a mean, the mean of the absolute inputs; 0 asks for equality).
struct expectation {
  long double value = 0;
  long double scale = 0;
};

// The plain operation that moves the fewest bytes: half read and half written, all read, or all written.
enum class array_ceiling { copy, read, write };
inline constexpr const char* array_ceiling_names[] = {"copy", "read", "write"};

// One input that a stage must get right.
template <class Parameters>
struct verification_case {
  Parameters parameters;
  pattern input = pattern::random;
};

}  // namespace lab
