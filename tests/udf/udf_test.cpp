// What stages/udf compiles at run time, compiled here for several architectures: no function is called, no
// stack is needed, and the text is that of the function that was asked for.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "common/ptx/translate.hpp"
#include "common/run_time/compiler.hpp"
#include "common/run_time/linker.hpp"
#include "stages/udf/source.hpp"
#include "tests/catch.hpp"
#include "tests/udf/compiler.hpp"

namespace {

using namespace lab::udf;
using lab::test::has_compiler;
namespace run_time = lab::run_time;

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(LAB_SOURCE_DIRECTORY) + "/stages/udf/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every function with every type and result.
std::vector<problem::parameters> all_parameters() {
  std::vector<problem::parameters> all;
  for (std::int64_t function = 0; function < 6; ++function) {
    for (std::int64_t type = 0; type < 2; ++type) {
      for (std::int64_t result = 0; result < 3; ++result)
        all.push_back(
            {.n = 1, .type = type, .result = result, .window = function == 5 ? 3 : 0, .function = function});
    }
  }
  return all;
}

std::string from_source(const problem::parameters& p, walk how) {
  const signature types = signature::of(p);
  return types_text(types) + text_of("functions/functions.cuh") +
         calling(types, function_names[p.function], "__device__ inline") +
         kernel_text(types, how, text_of("kernels.cuh"));
}

std::string from_ptx(const problem::parameters& p) {
  static constexpr const char* results[] = {"bool", "int64", "float64"};
  const signature types = signature::of(p);
  const std::string value = cpp_name(types.value);
  const std::string name =
      std::string(function_names[p.function]) + (p.type == 0 ? ".int64." : ".float64.") + results[p.result];
  const lab::ptx::translation translated = lab::ptx::translate(
      text_of("functions/" + name + ".ptx"), {.called = function_name,
                                              .result_type = cpp_name(types.result),
                                              .parameters = {types.of_windows ? value + "[]" : value},
                                              .how = lab::ptx::convention::numba});
  return types_text(types) + translated.text + kernel_text(types, walk::elements, text_of("kernels.cuh"));
}

// The registers that a text declares: "%rd" of ".reg .b64 %rd<5>;".
std::set<std::string> declared_registers(const std::string& ptx) {
  static const std::regex declaration(R"(\.reg \.\w+ *\t*(%[A-Za-z_$]+))");
  std::set<std::string> names;
  for (std::sregex_iterator one(ptx.begin(), ptx.end(), declaration); one != std::sregex_iterator(); ++one)
    names.insert((*one)[1]);
  return names;
}

// A register that is declared within an asm statement hides one of the same name around it, an operand, say.
std::string hidden_register(std::string ptx) {
  std::set<std::string> inner;
  for (std::size_t begin = 0; (begin = ptx.find("// begin inline asm")) != std::string::npos;) {
    const std::size_t end = ptx.find("// end inline asm", begin);
    for (const std::string& name : declared_registers(ptx.substr(begin, end - begin))) inner.insert(name);
    ptx.erase(begin, end - begin);
  }
  for (const std::string& name : declared_registers(ptx)) {
    if (inner.count(name) != 0) return name;
  }
  return "";
}

// The compiler's words about stack and registers, and the PTX.
void require_no_call(const std::string& source) {
  const run_time::compiled machine =
      run_time::compile({.source = source, .options = {"--ptxas-options=-v"}, .architecture = 90});
  INFO(source << machine.log);
  CHECK(machine.log.find("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") !=
        std::string::npos);
  const run_time::compiled ptx =
      run_time::compile({.source = source, .architecture = 90, .wanted = run_time::target::ptx});
  CHECK(ptx.image.find("call") == std::string::npos);
  CHECK(hidden_register(ptx.image) == "");
  CHECK(ptx.image.find(std::string(".entry ") + kernel_name) != std::string::npos);
}

}  // namespace

TEST_CASE("source text is inlined into every kernel") {
  if (!has_compiler()) return;
  for (const problem::parameters& p : all_parameters()) {
    require_no_call(from_source(p, walk::elements));
    if (p.window == 0) require_no_call(from_source(p, walk::pairs));
  }
}

TEST_CASE("Numba's PTX is inlined into every kernel") {
  if (!has_compiler()) return;
  for (const problem::parameters& p : all_parameters()) require_no_call(from_ptx(p));
}

TEST_CASE("a function that is not inlined is seen") {
  if (!has_compiler()) return;
  const run_time::compiled ptx =
      run_time::compile({.source = "__device__ __noinline__ int f(int x) { return x * x; }\n"
                                   "extern \"C\" __global__ void k(int* x) { *x = f(*x); }",
                         .architecture = 90,
                         .wanted = run_time::target::ptx});
  CHECK(ptx.image.find("call") != std::string::npos);
}

TEST_CASE("a register that hides an operand is seen") {
  if (!has_compiler()) return;
  const run_time::compiled ptx = run_time::compile(
      {.source =
           "extern \"C\" __global__ void k(short* x) { short y; asm(\"{ .reg .b16 %%rs<3>; mov.b16 %%rs1, 7; "
           "mov.b16 %0, %%rs1; }\" : \"=h\"(y)); *x = y; }",
       .architecture = 90,
       .wanted = run_time::target::ptx});
  CHECK(hidden_register(ptx.image) == "%rs");
}

TEST_CASE("function and kernel are linked as LTO-IR") {
  if (!has_compiler()) return;
  for (const int architecture : {75, 90, 100}) {
    for (const problem::parameters& p : all_parameters()) {
      const signature types = signature::of(p);
      const auto part = [&](const char* name, const std::string& source) {
        const run_time::compiled linkable = run_time::compile(
            {.source = source, .architecture = architecture, .wanted = run_time::target::lto_ir});
        return run_time::link_input{run_time::target::lto_ir, linkable.image, name, linkable.compiler};
      };
      const run_time::link_input parts[] = {
          part("function", types_text(types) + text_of("functions/functions.cuh") +
                               calling(types, function_names[p.function], "extern \"C\" __device__")),
          part("kernel", types_text(types) + "extern \"C\" __device__ " + declaration(types) + ";\n" +
                             kernel_text(types, walk::elements, text_of("kernels.cuh")))};
      CHECK(!run_time::link(parts, architecture).cubin.empty());
      // Without the function there is nothing to link with.
      if (architecture == 90)
        CHECK_THROWS_AS(run_time::link({parts + 1, 1}, architecture), run_time::link_error);
      if (architecture != 90 && p.type == 0) break;
    }
  }
}
