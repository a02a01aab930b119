// The statement of an asm() in a kernel as C++, for the instructions that programs write by hand. What it
// makes calls common/emulator/programs/inline_ptx.hpp.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

struct ptx_operand {
  std::string constraint;  // "=r", "+l", "f"; without its quotes
  std::string expression;  // of C++
};

struct translated_ptx {
  std::string text;     // an expression of type void, on one line; empty where something is not known
  std::string unknown;  // the first instruction that is not
};

// `ptx` is what the compiler would hand to ptxas but for its operands %0, %1, ..; outputs come first.
[[nodiscard]] translated_ptx translate_inline_ptx(const std::string& ptx,
                                                  const std::vector<ptx_operand>& operands);

}  // namespace lab::front
