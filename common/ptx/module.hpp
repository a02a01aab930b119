// PTX as a tree: modules, functions, statements, operands, each with its position.
//
// Only what functions are made of is told apart. An instruction is its opcode with modifiers and operands,
// whether or not the lab knows what it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/error.hpp"

namespace lab::ptx {

enum class operand_kind {
  name,     // %rd1, %tid.x, a label, a variable; may have an offset: table+8
  number,   // with its sign
  address,  // [text+offset]
  vector,   // {parts}
  list,     // (parts), of calls
  pair      // parts[0]|parts[1]
};

struct operand {
  operand_kind kind = operand_kind::name;
  std::string text;    // the name or number; of an address, its base
  std::string offset;  // "8" or "-8"; empty: none
  std::vector<operand> parts;
  bool negated = false;  // !%p1
  position where;
};

// .reg, .local, .param and so on, of one name.
struct declaration {
  std::string linkage;          // ".visible", ".extern", ".weak", ".common", ".managed", or empty
  std::string space;            // ".reg", ".param", ".local", ".shared", ".global", ".const"
  std::uint32_t alignment = 0;  // bytes; 0: as the type's
  std::string vector;           // ".v2", ".v4" or empty
  std::string type;             // ".b64"
  std::string name;
  std::uint64_t count = 0;  // %r<4>: 4 registers %r0 to %r3; 0: the name itself
  bool is_array = false;
  std::uint64_t elements = 0;  // of an array; 0: as many as initial values
  bool has_values = false;
  std::vector<std::string> values;  // initial ones; what is no number stays text, as "generic(name)"
  position where;
};

enum class statement_kind { instruction, label, declaration, block_begin, block_end, branch_targets, pragma };

struct statement {
  statement_kind kind = statement_kind::instruction;
  position where;
  std::string guard;           // @%p1: "%p1"; empty: none
  bool guard_negated = false;  // @!%p1
  std::string opcode;          // "setp"; the name of a label or of branch targets; a pragma with quotes
  std::vector<std::string> modifiers;  // ".lt", ".s64"
  std::vector<operand> operands;       // of branch targets as well
  declaration declared;
};

struct function {
  std::string linkage;
  std::string name;
  bool is_kernel = false;  // .entry
  bool has_body = false;
  std::vector<declaration> results;
  std::vector<declaration> parameters;
  std::vector<statement> body;  // blocks nest by block_begin and block_end, which are balanced
  position where;               // of the name
  position end;                 // of the brace that closes the body
  // Why the body is not understood (it calls through a pointer, for one), and is left out. No error of the
  // file, whose other functions may do without this one.
  std::optional<error> unread;
};

// Throws what the function is not understood for.
inline void require_read(const function& one) {
  if (one.unread) throw *one.unread;
}

struct module {
  int version_major = 0;  // .version; 0.0 where there is none
  int version_minor = 0;
  std::string target;  // the first word of .target: "sm_90"; may be empty
  std::vector<declaration> variables;
  std::vector<function> functions;
};

// The largest text, the most statements, and the most functions and variables that are read.
inline constexpr std::size_t most_bytes = std::size_t{8} << 20;
inline constexpr std::size_t most_statements = 200'000;
inline constexpr std::size_t most_names = 10'000;

// Reads a module. Debug information (.loc, .file, .section) is left out. Throws error for what is no PTX, is
// cut off, or is larger than the limits above. A function that is not understood says so (`unread`).
[[nodiscard]] module parse(std::string_view ptx);

// One line of PTX without indentation; parse() makes the same tree of it.
[[nodiscard]] std::string print(const operand& printed);
[[nodiscard]] std::string print(const declaration& printed);
[[nodiscard]] std::string print(const statement& printed);
// The whole text; of a function that is not understood, its head.
[[nodiscard]] std::string print(const module& printed);

}  // namespace lab::ptx
