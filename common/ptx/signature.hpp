// How a PTX function is called: its convention, and the C++ types of its result and parameters.
#pragma once

#include <string>
#include <vector>

#include "common/ptx/analysis.hpp"
#include "common/ptx/module.hpp"
#include "common/ptx/translate.hpp"
#include "common/ptx/types.hpp"

namespace lab::ptx {

// An input operand of the asm statement that is there once its place has been used.
struct input_operand {
  std::string parameter;   // of PTX
  std::string expression;  // of C++
  char constraint = 'l';
  int bits = 64;
  bool is_number = false;  // no operand, but this number
};

struct signature {
  bool is_numba = false;
  result_pointer pointer;  // of Numba's convention
  cpp_type result;
  int result_bits = 0;  // of the register that holds the result: 16, 32, 64; 0: there is none
  std::vector<parameter> parameters;
  std::vector<input_operand> inputs;  // for each parameter of PTX but the pointer to the result
};

// Throws error where the function and what is asked of it contradict each other, and for structures.
[[nodiscard]] signature find_signature(const function& of, const request& asked);

// The letter of inline assembly for a value of this type.
[[nodiscard]] char constraint_of(const cpp_type& type);

}  // namespace lab::ptx
