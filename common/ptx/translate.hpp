// PTX device functions as CUDA C++: an inline function whose body is one asm statement (docs/ptx.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/error.hpp"

namespace lab::ptx {

// How a function takes its arguments and gives its result.
enum class convention {
  automatic,  // Numba's where the function stores through its first parameter and returns a constant; else
              // C's
  numba,      // the result is stored through the first parameter, and func_retval0 is a status
  c           // func_retval0 is the result: nvcc, and Numba's compile(..., abi="c")
};

struct request {
  std::string name;         // of the PTX function; empty: the only visible one
  std::string called;       // of the C++ function; empty: the PTX function's
  std::string result_type;  // "double", "long long", "bool", ...; empty: as the stores say
  // Of the inputs, in order: "double", "const double*", or "double[]" for an array of Numba (seven words in
  // PTX). Empty: all are values, of the types that the loads say; an empty text says so of one input.
  std::vector<std::string> parameters;
  convention how = convention::automatic;
};

struct parameter {
  std::string type;
  std::string name;
};

struct translation {
  std::string name;                // of the C++ function
  std::string text;                // the function, after the constant tables that it reads
  std::vector<std::size_t> lines;  // for each line of the text, the line of PTX that it comes from; 0: none
  // As C++ has them: an array is a pointer and the number of its elements, a long long.
  std::vector<parameter> parameters;
  std::string result_type;
  std::string source_name;  // of the PTX function
  convention how = convention::c;
  int version_major = 0;  // of PTX, which a compiler must know; 0.0 where the text does not say
  int version_minor = 0;
  std::string target;  // "sm_90"; may be empty
};

// Throws error, with the place in the PTX, for what is no PTX, what a request does not fit, and what cannot
// be translated without changing its meaning; the last names the stage that links PTX instead. Source of the
// idea: the translation of user-defined functions in RAPIDS cuDF.
[[nodiscard]] translation translate(std::string_view ptx, const request& asked);

}  // namespace lab::ptx
