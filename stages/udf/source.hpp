// The texts that stages compile at run time: types, a function, and the kernel around it. Needs no CUDA.
#pragma once

#include <string>
#include <string_view>

#include "stages/udf/problem.hpp"

namespace lab::udf {

// What a kernel's text depends on.
struct signature {
  value_type value;
  result_type result;
  bool of_windows;

  static signature of(const problem::parameters& p) {
    return {static_cast<value_type>(p.type), static_cast<result_type>(p.result), p.window > 0};
  }
};

inline const char* cpp_name(value_type type) {
  return type == value_type::int64 ? "long long" : "double";
}
inline const char* cpp_name(result_type type) {
  if (type == result_type::boolean) return "bool";
  return type == result_type::int64 ? "long long" : "double";
}

// The name of the function that a kernel calls, whoever wrote it.
inline constexpr const char* function_name = "user_function";
inline constexpr const char* kernel_name = "udf_kernel";

// "using value_type = long long;" and its like: the first lines of every text.
inline std::string types_text(const signature& types) {
  return std::string("using value_type = ") + cpp_name(types.value) +
         ";\nusing result_type = " + cpp_name(types.result) + ";\n";
}

// "result_type user_function(value_type x)", or of a window.
inline std::string declaration(const signature& types) {
  return std::string("result_type ") + function_name +
         (types.of_windows ? "(const value_type* x, long long count)" : "(value_type x)");
}

// The function, which calls one of functions.cuh by its name.
inline std::string calling(const signature& types, const std::string& name, std::string_view qualifiers) {
  return std::string(qualifiers) + " " + declaration(types) + " {\n  return static_cast<result_type>(" +
         name + (types.of_windows ? "(x, count)" : "(x)") + ");\n}\n";
}

// How the kernel goes over the elements.
enum class walk { elements, pairs };
inline constexpr int vectors_of_thread = 4;

// The kernel that calls the function; `kernels` is the text of kernels.cuh.
inline std::string kernel_text(const signature& types, walk how, std::string_view kernels) {
  std::string text(kernels);
  text += "\nextern \"C\" __global__ void __launch_bounds__(256)\n    ";
  text += kernel_name;
  text += "(const value_type* __restrict__ values, result_type* __restrict__ results, long long n";
  if (types.of_windows) {
    text +=
        ",\n    long long window, long long min_periods, result_type missing) {\n"
        "  apply_to_windows(values, results, n, window, min_periods, missing,\n"
        "                   [](const value_type* first, long long count) { return ";
    return text + function_name + "(first, count); });\n}\n";
  }
  text += how == walk::pairs ? ") {\n  apply_to_pairs<" + std::to_string(vectors_of_thread) + ">"
                             : ") {\n  apply_to_elements";
  text += "(values, results, n, [](value_type x) { return ";
  return text + function_name + "(x); });\n}\n";
}

}  // namespace lab::udf
