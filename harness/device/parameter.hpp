// How a problem declares its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "harness/parameter_value.hpp"

namespace lab {

// A word that a parameter may be, and the value of the member that it stands for.
struct choice {
  std::int64_t value;
  const char* name;
};

// One parameter of a track: a member of its parameters. Several defaults are a sweep.
template <class Parameters>
struct parameter {
  using whole_member = std::int64_t Parameters::*;
  using real_member = double Parameters::*;

  const char* name;
  std::variant<whole_member, real_member> member;
  const char* meaning;
  // The least that it may be: 0 for whole numbers and none for real ones, where nothing else is said.
  std::optional<parameter_value> minimum;
  std::vector<parameter_value> bench;            // defaults on a GPU
  std::vector<parameter_value> emulator_bench;   // and on the emulator; empty: the same
  std::vector<choice> choices;                   // the parameter is one of these words; empty: a number
  std::optional<parameter_value> apply_default;  // of `apply`, where it need not be given
};

// n, the number of values; `Parameters` has a member of this name.
template <class Parameters>
parameter<Parameters> parameter_n(std::int64_t emulator_bench) {
  return {.name = "n",
          .member = &Parameters::n,
          .meaning = "values",
          .bench = {1'000'000'000},
          .emulator_bench = {emulator_bench}};
}

}  // namespace lab
