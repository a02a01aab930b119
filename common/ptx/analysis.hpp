// What a function's statements say of its registers, parameters and result.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/module.hpp"
#include "common/ptx/types.hpp"

namespace lab::ptx {

// The names that are declared at a place of a function, innermost block first.
class symbols {
 public:
  symbols() : scopes_(1) {}

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  // Throws error for a name that its block has already, and for a register of no known type.
  void declare(const declaration& declared);
  // Null for a name that is not declared; %r3 is found by %r<4>. Lives until its block closes.
  [[nodiscard]] const declaration* find(std::string_view name) const;

 private:
  std::vector<std::map<std::string, declaration, std::less<>>> scopes_;
};

// What instructions take a register's bits for.
struct evidence {
  bool is_floating = false;
  bool is_integer = false;
  bool is_constant = true;  // all that defines it is moves of numbers
  std::string number;       // the last of them
};

// Of every register of a function, by name. Loads, stores and moves say nothing of integers, since compilers
// move floating-point values with them.
[[nodiscard]] std::map<std::string, evidence, std::less<>> find_evidence(const function& of);

// Registers that hold the pointer that is the first parameter of Numba's convention, and nothing else.
struct result_pointer {
  std::set<std::string, std::less<>> registers;
  bool is_stored_through = false;
  // A use that is neither a store through it nor a copy; null where there is none.
  const statement* other_use = nullptr;
};
[[nodiscard]] result_pointer find_result_pointer(const function& of);

// Whether the instruction is ld.param (st.param), ld.param::func of a function's own interface.
[[nodiscard]] bool is_parameter_access(const statement& instruction, std::string_view opcode);

// Whether nothing but the operands decides what the instruction does, and its result registers are all that
// it changes. Of an instruction that is not known: no.
[[nodiscard]] bool is_pure(const statement& instruction);

}  // namespace lab::ptx
