// The types of PTX and those of C++ that stand for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/module.hpp"

namespace lab::ptx {

// A fundamental type of PTX: ".u64" has kind 'u' and 64 bits.
struct ptx_type {
  char kind = 'b';  // u, s, f, b; p for .pred
  int bits = 0;
};

// No value for what is no fundamental type (".lo", ".v2").
[[nodiscard]] std::optional<ptx_type> find_ptx_type(std::string_view text);

// The types among an instruction's modifiers: one for add.s64, two for cvt.f64.s64 (result first).
[[nodiscard]] std::vector<ptx_type> types_of(const statement& instruction);

// An arithmetic type of C++ as nvcc has it on a 64-bit system.
struct cpp_type {
  std::string name;
  char kind = 'i';  // i: integer, f: floating point, b: bool
  int bits = 0;
};

// By name ("int", "long long", "std::int64_t", "double", ...); no value for any other type.
[[nodiscard]] std::optional<cpp_type> find_cpp_type(std::string_view name);

// What a parameter of the translation is, as a caller writes it: "double", "const double*", "double[]".
enum class parameter_kind { value, pointer, array };
struct parameter_type {
  parameter_kind kind = parameter_kind::value;
  std::string text;  // as it stands in C++; of an array, the pointer's: "const double*"
  cpp_type element;  // of a value, and of an array
};

// Throws error at `where` for what is none of the three.
[[nodiscard]] parameter_type read_parameter_type(std::string_view text, position where);

// The C++ type of a parameter that PTX loads so: its sign is the load's where that matters (below 32 bits, or
// into a wider register).
[[nodiscard]] cpp_type type_of_load(ptx_type loaded, bool is_widened);

}  // namespace lab::ptx
