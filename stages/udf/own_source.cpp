#include "stages/udf/own_source.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/ptx/module.hpp"
#include "common/ptx/signature.hpp"
#include "common/ptx/translate.hpp"
#include "common/run_time/compiler.hpp"
#include "harness/device/track.hpp"

namespace lab::udf {
namespace {

// Compiles, and says whose fault it is where that fails.
template <class Compile>
auto compiled_for(const std::string& origin, const Compile& compile) {
  try {
    return compile();
  } catch (const run_time::library_error& missing) {
    throw unsupported_error(std::string("a function of one's own needs NVRTC: ") + missing.what());
  } catch (const run_time::compile_error& refused) {
    throw source_error(origin + " does not compile", refused.what());
  }
}

// "FILE:LINE:COLUMN: message", as for `lab translate`.
std::string located(const own_function& own, const ptx::error& error) {
  return own.origin + ":" + std::to_string(error.line()) + ":" + std::to_string(error.column()) + ": " +
         error.message();
}

template <class Read>
auto read_ptx(const own_function& own, const Read& read) {
  try {
    return read();
  } catch (const ptx::error& error) {
    throw usage_error(located(own, error));
  }
}

// The name that messages of the compiler have for the person's text.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string call_of(const signature& types, const std::string& called) {
  return called + (types.of_windows ? "(x, count)" : "(x)");
}

constexpr const char* expression_name = "user_expression";
constexpr const char* ptx_name = "user_ptx";
// in(x, 9, 44): whether x is one of the others.
constexpr const char* vocabulary =
    "template <class T, class... Values>\n"
    "__device__ constexpr bool in(const T& x, const Values&... values) { return (... || (x == values)); }\n";

std::string expression_text(const own_function& own, const signature& types) {
  return std::string("__device__ inline auto ") + expression_name +
         (types.of_windows ? "(const value_type* x, long long count)" : "(value_type x)") +
         " {\n  return (\n#line 1 " + quoted(own.origin) + "\n" + own.text + "\n);\n}\n";
}

// A function that compiled code holds: "ns::f", and "ns::f(long long)".
struct found_function {
  std::string name;
  std::string signature;
};

found_function demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return {symbol, symbol};
  const std::string signature = text.get();
  return {signature.substr(0, signature.find('(')), signature};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The function of a CUDA C++ text that is meant: the one that is named, or the only one.
found_function meant_function(const own_function& own, const signature& types, int architecture) {
  const ptx::module compiled = read_ptx(own, [&] {
    return ptx::parse(compiled_for(own.origin, [&] {
                        return run_time::compile({.source = types_text(types) + vocabulary + "#line 1 " +
                                                            quoted(own.origin) + "\n" + own.text,
                                                  .file_name = "function.cu",
                                                  .options = {"-rdc=true"},
                                                  .architecture = architecture,
                                                  .wanted = run_time::target::ptx});
                      }).image);
  });
  std::vector<found_function> found;
  std::vector<std::string> names, kernels;
  for (const ptx::function& one : compiled.functions) {
    if (!one.has_body) continue;
    const found_function function = demangled(one.name);
    if (one.is_kernel) {
      kernels.push_back(function.name);
    } else if (one.linkage == ".visible") {
      found.push_back(function);
      names.push_back(function.signature);
    }
  }
  if (!own.name.empty()) {
    if (std::find(kernels.begin(), kernels.end(), own.name) != kernels.end())
      throw usage_error(own.origin + ": " + own.name + " is a kernel, and a function is needed");
    const auto named = std::find_if(found.begin(), found.end(),
                                    [&](const found_function& one) { return one.name == own.name; });
    // A template, or a static or inline function, is compiled when somebody calls it.
    return named != found.end() ? *named : found_function{own.name, own.name};
  }
  if (found.empty() && !kernels.empty())
    throw usage_error(own.origin + ": " + kernels.front() + " is a kernel, and a function is needed");
  if (found.empty()) {
    throw usage_error(own.origin +
                      " defines no function that others may call (static and inline functions "
                      "and templates must be named: --name)");
  }
  if (found.size() > 1) {
    throw usage_error(own.origin + " defines " + std::to_string(found.size()) +
                      " functions: " + joined(names) + "; choose with --name");
  }
  return found.front();
}

// Calls it as the kernel does, before the kernel is a part of the message.
void require_callable(const own_function& own, const found_function& function, const signature& types,
                      const std::string& before, int architecture) {
  try {
    static_cast<void>(run_time::check_syntax({.text = calling(types, function.name, "__device__ inline"),
                                              .file_name = "call.cu",
                                              .declarations = types_text(types) + vocabulary + before,
                                              .architecture = architecture}));
  } catch (const run_time::compile_error& refused) {
    throw source_error(own.origin + ": " + function.signature + " cannot be called as " + declaration(types) +
                           " needs it, where value_type is " + cpp_name(types.value) + " and result_type " +
                           cpp_name(types.result) +
                           (types.of_windows ? " (--window 0 is for functions of elements)"
                                             : " (a function of windows needs --window)"),
                       refused.what());
  }
}

// What a PTX text offers: its module, and the function that is meant.
struct ptx_function {
  ptx::module module;
  const ptx::function* meant = nullptr;
};

ptx_function find_ptx(const own_function& own) {
  ptx_function found{.module = read_ptx(own, [&] { return ptx::parse(own.text); })};
  std::vector<std::string> names;
  for (const ptx::function& one : found.module.functions) {
    const bool is_named = !own.name.empty() && (one.name == own.name || demangled(one.name).name == own.name);
    if (is_named && one.is_kernel)
      throw usage_error(own.origin + ": " + own.name + " is a kernel, and a function is needed");
    if (one.is_kernel || !one.has_body || (own.name.empty() ? one.linkage != ".visible" : !is_named))
      continue;
    found.meant = &one;
    names.push_back(one.name);
  }
  if (names.size() == 1) return found;
  if (names.empty()) {
    throw usage_error(own.origin + (own.name.empty() ? " holds no visible function (.visible .func)"
                                                     : " holds no function " + own.name));
  }
  throw usage_error(own.origin + " holds " + std::to_string(names.size()) + " functions: " + joined(names) +
                    "; choose with --name");
}

// How the function is asked for. Numba hands seven words for an array, C a pointer and a count.
ptx::request request_for(const ptx_function& found, const signature& types) {
  const std::string value = cpp_name(types.value);
  std::vector<std::string> parameters{value};
  if (types.of_windows && found.meant->parameters.size() == 2)
    parameters = {"const " + value + "*", "long long"};
  else if (types.of_windows)
    parameters = {value + "[]"};
  return {.name = found.meant->name,
          .called = ptx_name,
          .result_type = cpp_name(types.result),
          .parameters = parameters};
}

void require_known_ptx(const own_function& own, const ptx::module& read) {
  const run_time::version written{read.version_major, read.version_minor};
  const run_time::version newest = compiled_for(own.origin, [] { return run_time::newest_ptx_version(); });
  if (written > newest) {
    throw usage_error(own.origin + ": this is PTX " + run_time::to_string(written) +
                      ", and NVRTC here knows no more than " + run_time::to_string(newest));
  }
}

}  // namespace

std::string own_definition(const own_function& own, const signature& types, int architecture,
                           std::string_view qualifiers) {
  if (own.written_in == language::ptx) {
    const ptx_function found = find_ptx(own);
    require_known_ptx(own, found.module);
    const ptx::translation made =
        read_ptx(own, [&] { return ptx::translate(own.text, request_for(found, types)); });
    require_callable(own, {ptx_name, made.source_name}, types, made.text, architecture);
    return made.text + calling(types, ptx_name, qualifiers);
  }
  if (own.written_in == language::expression) {
    const std::string text = expression_text(own, types);
    compiled_for(own.origin, [&] {
      return run_time::check_syntax({.text = text,
                                     .file_name = own.origin,
                                     .declarations = types_text(types) + vocabulary,
                                     .architecture = architecture});
    });
    require_callable(own, {expression_name, "the expression"}, types, text, architecture);
    return vocabulary + text + "#line 1 \"call.cu\"\n" + calling(types, expression_name, qualifiers);
  }
  const std::string text = "#line 1 " + quoted(own.origin) + "\n" + own.text + "\n#line 1 \"call.cu\"\n";
  const found_function function = meant_function(own, types, architecture);
  require_callable(own, function, types, text, architecture);
  return vocabulary + text + calling(types, function.name, qualifiers);
}

std::string own_linkage(const own_function& own, const signature& types, std::string_view qualifiers) {
  const ptx_function found = find_ptx(own);
  require_known_ptx(own, found.module);
  const ptx::signature taken =
      read_ptx(own, [&] { return ptx::find_signature(*found.meant, request_for(found, types)); });
  const std::string& name = found.meant->name;
  const std::string value = cpp_name(types.value);
  const std::string result = cpp_name(types.result);
  const std::string extern_c = "extern \"C\" __device__ ";
  const std::string head = std::string(qualifiers) + " " + declaration(types) + " {\n";
  if (!taken.is_numba) {
    return extern_c + result + " " + name +
           (types.of_windows ? "(const " + value + "*, long long);\n" : "(" + value + ");\n") + head +
           "  return " + call_of(types, name) + ";\n}\n";
  }
  const std::string inputs =
      types.of_windows ? "void*, void*, long long, long long, const " + value + "*, long long, long long"
                       : value;
  const std::string given =
      types.of_windows ? "nullptr, nullptr, count, (long long)sizeof *x, x, count, (long long)sizeof *x"
                       : "x";
  return extern_c + "int " + name + "(" + result + "*, " + inputs + ");\n" + head + "  " + result +
         " result;\n  " + name + "(&result, " + given + ");\n  return result;\n}\n";
}

std::string own_ptx(const own_function& own, const signature& types, int architecture) {
  if (own.written_in == language::ptx) return own.text;
  const std::string source =
      types_text(types) + own_definition(own, types, architecture, "extern \"C\" __device__");
  return compiled_for(own.origin,
                      [&] {
                        return run_time::compile({.source = source,
                                                  .file_name = "function.cu",
                                                  .options = {"-rdc=true"},
                                                  .architecture = architecture,
                                                  .wanted = run_time::target::ptx});
                      })
      .image;
}

std::string plain_kernel_text(const signature& types) {
  const std::string value_of_i = types.of_windows ? "(values + (i + 1 - count), count)" : "(values[i])";
  return std::string("extern \"C\" __global__ void ") + kernel_name +
         "(const value_type* values, result_type* results, long long n, long long window,\n"
         "    long long min_periods, result_type missing) {\n"
         "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
         "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {\n"
         "    const long long count = i + 1 < window ? i + 1 : window;\n"
         "    results[i] = count < min_periods ? missing : " +
         function_name + value_of_i + ";\n  }\n}\n";
}

}  // namespace lab::udf
