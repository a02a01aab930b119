// A function of a person's own, for `lab apply`: an expression, or a file of CUDA C++ or PTX.
#pragma once

#include <map>
#include <string>

namespace lab::udf {

enum class language { expression, cuda, ptx };

struct own_function {
  language written_in = language::expression;
  std::string text;
  std::string origin;  // the option, or the file's name, in messages
  std::string name;    // of the function in the file; empty: the only one
};

// The largest file that is read.
inline constexpr std::size_t most_function_bytes = std::size_t{1} << 20;

// From the texts `function`, `function-file` and `name`, of which one of the first two is given. Throws
// usage_error for texts that make no sense together or hold no function, file_error for a file that cannot be
// read.
own_function own_function_from(const std::map<std::string, std::string>& texts);

}  // namespace lab::udf
