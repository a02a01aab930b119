// The vocabulary of a problem with one input array and one output array. A track's problem.hpp describes
// itself with these, and array_track.hpp turns that description into a track.
#pragma once

#include <cstdint>
#include "harness/device/inputs.hpp"
#include "harness/device/parameter.hpp"

namespace lab {

// What the reference says of one output: its value, and the magnitude that its error is measured against (for
// a mean, the mean of the absolute inputs; 0 asks for equality).
struct expectation {
  long double value = 0;
  long double scale = 0;
};

// The plain operation that moves the fewest bytes: half read and half written, or all read.
enum class array_ceiling { copy, read };

// Element j of a generated input. What it is made from can be read, so that a costly reference can be
// remembered.
template <class T>
struct generated_values {
  pattern kind;
  std::uint64_t seed;

  T operator()(std::int64_t j) const { return input_value<T>(kind, seed, j); }
};

// Calls visit.operator()<Input, Output>() with the element types that the parameters ask for: the problem's
// input_element and output_element, unless it has a function of this name that chooses by the parameters.
template <class Problem, class Visit>
auto with_elements(const typename Problem::parameters& p, const Visit& visit) {
  if constexpr (requires { Problem::with_elements(p, visit); }) {
    return Problem::with_elements(p, visit);
  } else {
    return visit.template operator()<typename Problem::input_element, typename Problem::output_element>();
  }
}

// One input that a stage must get right.
template <class Parameters>
struct verification_case {
  Parameters parameters;
  pattern input = pattern::random;
};

}  // namespace lab
