// What NVRTC makes of sources, and what is said of sources that it refuses.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "common/run_time/compiler_log.hpp"
#include "common/run_time/source_text.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/files.hpp"
#include "tests/run_time/toolkit.hpp"

namespace lab {
namespace {

using lab::test::contains;
using run_time::check_syntax;
using run_time::compile_error;
using run_time::compile_request;
using run_time::diagnostic;
using run_time::severity;
using run_time::syntax_request;
using run_time::target;

constexpr const char* kernel = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";

std::string image_of_kernel(target wanted, int architecture) {
  compile_request request;
  request.source = kernel;
  request.wanted = wanted;
  request.architecture = architecture;
  return compile(request).image;
}

std::string refusal(const std::string& text, const std::string& declarations = "") {
  return test::message_of<compile_error>([&] {
    (void)check_syntax({text, "user.cu", declarations, {}, 90});
  });
}

std::vector<diagnostic> diagnostics(const std::string& text) {
  try {
    (void)check_syntax({text});
  } catch (const compile_error& error) {
    return error.diagnostics();
  }
  return {};
}

}  // namespace

TEST_CASE("a kernel becomes a cubin, PTX and LTO-IR for each architecture") {
  LAB_NEEDS_TOOLKIT();
  const int architecture = GENERATE(75, 90, 100);
  const std::string cubin = image_of_kernel(target::cubin, architecture);
  REQUIRE(cubin.size() > 64);
  CHECK(cubin.substr(0, 4) ==
        "\x7f"
        "ELF");
  CHECK(static_cast<unsigned char>(cubin[18]) == 190);  // EM_CUDA
  CHECK(contains(cubin, ".text.twice"));
  const std::string ptx = image_of_kernel(target::ptx, architecture);
  CHECK(contains(ptx, ".target sm_" + std::to_string(architecture)));
  CHECK(contains(ptx, ".entry twice"));
  CHECK_FALSE(contains(ptx, std::string(1, '\0')));
  const std::string lto_ir = image_of_kernel(target::lto_ir, architecture);
  CHECK(lto_ir.size() > 64);
  CHECK(lto_ir.substr(0, 4) != cubin.substr(0, 4));
}

TEST_CASE("the same request gives the same image, another architecture another one") {
  LAB_NEEDS_TOOLKIT();
  CHECK(image_of_kernel(target::cubin, 90) == image_of_kernel(target::cubin, 90));
  CHECK(image_of_kernel(target::cubin, 90) != image_of_kernel(target::cubin, 80));
}

TEST_CASE("several threads compile at the same time") {
  LAB_NEEDS_TOOLKIT();
  const std::vector<int> architectures = {75, 80, 90, 100};
  std::vector<std::string> images(architectures.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < images.size(); ++k)
    threads.emplace_back([&, k] { images[k] = image_of_kernel(target::cubin, architectures[k]); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < images.size(); ++k)
    CHECK(images[k] == image_of_kernel(target::cubin, architectures[k]));
}

TEST_CASE("names of templates are lowered, and a name that is none is refused") {
  LAB_NEEDS_TOOLKIT();
  compile_request request;
  request.source = "template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }\n";
  request.name_expressions = {"fill<float>", "fill<long long>"};
  const auto compiled = compile(request);
  REQUIRE(compiled.lowered_names.size() == 2);
  CHECK(compiled.lowered_names[0] == "_Z4fillIfEvPT_S0_");
  for (const std::string& name : compiled.lowered_names) CHECK(contains(compiled.image, ".text." + name));
  request.name_expressions = {"fill<no_type>"};
  CHECK(contains(test::message_of<compile_error>([&] { (void)compile(request); }), "no_type"));
}

TEST_CASE("functions without an execution space are device code, and C++20 is the language") {
  LAB_NEEDS_TOOLKIT();
  compile_request request;
  request.source =
      "template <class T> concept small = sizeof(T) <= 4;\n"
      "auto half(small auto x) { return x / 2; }\n"
      "extern \"C\" __global__ void k(float* x) { *x = half(*x); }\n";
  CHECK(compile(request).log.empty());
}

TEST_CASE("warnings are handed over without advice on options") {
  LAB_NEEDS_TOOLKIT();
  compile_request request;
  request.source = "__device__ void f() { int unused; }\n";
  CHECK(compile(request).log ==
        "kernel.cu(1): warning #177-D: variable \"unused\" was declared but never referenced\n"
        "  __device__ void f() { int unused; }\n"
        "                            ^");
}

TEST_CASE("releases, architectures and the PTX version are told, and fit together") {
  LAB_NEEDS_TOOLKIT();
  const auto nvrtc = run_time::nvrtc_version();
  CHECK(nvrtc >= run_time::version{12, 0});
  CHECK(to_string(nvrtc) == std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor));
  const auto architectures = run_time::supported_architectures();
  CHECK(std::is_sorted(architectures.begin(), architectures.end()));
  CHECK(std::count(architectures.begin(), architectures.end(), 90) == 1);
  const auto ptx = run_time::newest_ptx_version();
  if (nvrtc == run_time::version{13, 0}) CHECK(ptx == run_time::version{9, 0});
  CHECK(ptx == run_time::ptx_version(image_of_kernel(target::ptx, 90)));
}

TEST_CASE("an architecture or an option that NVRTC does not know is named") {
  LAB_NEEDS_TOOLKIT();
  compile_request request;
  request.source = kernel;
  request.architecture = 35;
  const std::string message = test::message_of<compile_error>([&] { (void)compile(request); });
  CHECK(contains(message, "sm_35: NVRTC "));
  CHECK(contains(message, "sm_90"));
  request.architecture = 90;
  request.options = {"--no-such-option"};
  CHECK(contains(test::message_of<compile_error>([&] { (void)compile(request); }), "--no-such-option"));
}

TEST_CASE("a function's error shows its own line and a caret, whatever stands before it") {
  LAB_NEEDS_TOOLKIT();
  const std::string declarations = "typedef double value;\ntypedef long long index;\n";
  const std::string text = "value twice(value x) {\n  return 2 * y;\n}\n";
  const std::string expected =
      "user.cu(2): error: identifier \"y\" is undefined\n"
      "    return 2 * y;\n"
      "               ^";
  CHECK(refusal(text, declarations) == expected);
  const auto found = [&] {
    try {
      (void)check_syntax({text, "user.cu", declarations, {}, 90});
    } catch (const compile_error& error) {
      return error.diagnostics();
    }
    return std::vector<diagnostic>{};
  }();
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "user.cu");
  CHECK(found[0].line == 2);
  CHECK(found[0].column == 14);
  CHECK(found[0].weight == severity::error);
  CHECK(found[0].text == "identifier \"y\" is undefined");
}

TEST_CASE("a function that is right passes, and its warnings come back") {
  LAB_NEEDS_TOOLKIT();
  CHECK(check_syntax({"value f(value x) { return x + 1; }", "user.cu", "typedef float value;", {}, 90})
            .empty());
  CHECK(contains(check_syntax({"int f() {\n  int unused;\n  return 1;\n}"}), "user.cu(2): warning"));
}

TEST_CASE("a function that is declared alone may be called: nothing is assembled") {
  LAB_NEEDS_TOOLKIT();
  const std::string declaration = "extern \"C\" float weight(long long index);";
  CHECK(check_syntax({"float f(int k) { return weight(k); }", "user.cu", declaration, {}, 90}).empty());
  CHECK(contains(refusal("float f(int k) { return weight(k, k); }", declaration),
                 "user.cu(1): error: too many"));
}

TEST_CASE("what a declaration lacks is an error of the function's line") {
  LAB_NEEDS_TOOLKIT();
  CHECK(contains(refusal("value f(value x) { return x; }"),
                 "user.cu(1): error: identifier \"value\" is undefined"));
  CHECK(contains(refusal("int f() { return 1; }", "typedef no_type value;"), "declarations(1): error: "));
}

TEST_CASE("a text that ends too early has its error on its last line") {
  LAB_NEEDS_TOOLKIT();
  const auto open_brace = diagnostics("int f() {\n  return 1;\n\n\n");
  REQUIRE_FALSE(open_brace.empty());
  CHECK(open_brace[0].line == 2);
  const auto open_comment = diagnostics("int f() { return 1; }\n/* and so on");
  REQUIRE_FALSE(open_comment.empty());
  CHECK(open_comment[0].line == 2);
}

TEST_CASE("headers are refused by name") {
  LAB_NEEDS_TOOLKIT();
  const std::string message = refusal("#include <cmath>\nfloat f(float x) { return std::sin(x); }");
  CHECK(contains(message, "user.cu(1): catastrophic error: could not open source file \"cmath\""));
  CHECK_FALSE(contains(message, "detected in the compilation"));
  CHECK(diagnostics("#include <cmath>").at(0).line == 1);
}

TEST_CASE("an empty function is refused before NVRTC") {
  LAB_NEEDS_TOOLKIT();
  for (const char* text : {"", " ", "\n\n\t\r\n"})
    CHECK(refusal(text) == "user.cu(1): error: the text is empty, and a function is wanted");
}

TEST_CASE("a NUL and bytes that are no UTF-8 are refused with line and column") {
  LAB_NEEDS_TOOLKIT();
  // NVRTC takes both for the end of the source.
  const std::string with_nul = std::string("int f() {\n  return") + '\0' + " 1; }";
  CHECK(refusal(with_nul) == "user.cu(2): error: column 9: a NUL, which no source holds");
  CHECK(refusal("int f() { return 1; }\n\n// \xff") ==
        "user.cu(3): error: column 4: the byte \\xff is not UTF-8");
  CHECK(refusal("\xc3") == "user.cu(1): error: column 1: the byte \\xc3 is not UTF-8");
  compile_request request;
  request.source = kernel + std::string(1, '\0') + "no C++";
  CHECK(contains(test::message_of<compile_error>([&] { (void)compile(request); }),
                 "kernel.cu(2): error: column 1: a NUL"));
  request.source = kernel;
  request.options = {std::string("-DA=1\0-DB", 9)};
  CHECK(contains(test::message_of<compile_error>([&] { (void)compile(request); }),
                 "holds a NUL: -DA=1\\x00-DB"));
  request.options = {""};
  CHECK(contains(test::message_of<compile_error>([&] { (void)compile(request); }),
                 "an option of the compiler is empty"));
}

TEST_CASE("names of files with quotes are shown as they are, with control characters refused") {
  LAB_NEEDS_TOOLKIT();
  const auto named = [](const std::string& name) {
    return test::message_of<compile_error>([&] {
      (void)check_syntax({"int f() { return y; }", name, "", {}, 90});
    });
  };
  CHECK(contains(named("my \"own\".cu"), "my \"own\".cu(1): error: "));
  CHECK(contains(named("a\nb"), "file name has control characters or is not UTF-8: a\\x0ab"));
  CHECK(contains(named(""), "file name is empty"));
}

TEST_CASE("a source of 10 MB is compiled, and its error is found on the last line") {
  LAB_NEEDS_TOOLKIT();
  std::string source;
  while (source.size() < 10'000'000)
    source += "// a line of a long comment, one of very many such lines in this source\n";
  const auto lines = std::count(source.begin(), source.end(), '\n');
  compile_request request;
  request.source = source + kernel;
  CHECK(contains(compile(request).image, ".text.twice"));
  const std::string message = refusal(source + "int f() { return y; }");
  CHECK(contains(message, "user.cu(" + std::to_string(lines + 1) + "): error: "));
}

TEST_CASE("an error in a long line shows what stands around the caret") {
  LAB_NEEDS_TOOLKIT();
  const std::string message = refusal("int f() { return " + std::string(1000, ' ') + "y + 1; }");
  CHECK(message.size() < 400);
  const std::size_t excerpt = message.find('\n') + 1;
  const std::size_t caret_line = message.find('\n', excerpt) + 1;
  CHECK(message.at(excerpt + message.find('^') - caret_line) == 'y');
  CHECK(contains(message, "y + 1; }\n"));
  CHECK(diagnostics("int f() { return " + std::string(1000, ' ') + "y + 1; }").at(0).column == 1018);
  // The compiler's own excerpt ends before the caret.
  CHECK(refusal("int f() { return " + std::string(1'000'000, ' ') + "y + 1; }").size() < 600);
}

TEST_CASE("a hundred thousand brackets are refused, not run into the ground") {
  LAB_NEEDS_TOOLKIT();
  CHECK(contains(refusal(std::string(100'000, '(')), "user.cu(1): error: expected"));
}

TEST_CASE("a log loses counts and advice, and keeps its carets in place") {
  const auto log = run_time::read_log(
      "u.cu(3): warning #177-D: variable \"q\" was declared\n  \tint q;\n  \t    ^\n\nRemark: The warnings "
      "can be suppressed with "
      "\"-diag-suppress <warning-number>\"\n\nAt end of source: error: expected a \"}\"\nu.cu(1): note "
      "#3196-D: to match\n  "
      "f{\n   ^\n\n1 error detected in the compilation of \"u.cu\".\n",
      "u.cu(4)");
  CHECK(log.text ==
        "u.cu(3): warning #177-D: variable \"q\" was declared\n  \tint q;\n  \t    ^\n\n"
        "u.cu(4): error: expected a \"}\"\nu.cu(1): note #3196-D: to match\n  f{\n   ^");
  REQUIRE(log.diagnostics.size() == 3);
  CHECK(log.diagnostics[0].weight == severity::warning);
  CHECK(log.diagnostics[0].column == 6);
  CHECK(log.diagnostics[1].line == 4);
  CHECK(log.diagnostics[1].column == 0);
  CHECK(log.diagnostics[2].weight == severity::note);
  CHECK(run_time::read_log("\x1b[31mred").text == "\\x1b[31mred");
  CHECK(run_time::read_log("").text.empty());
  CHECK(run_time::read_log("no message").diagnostics.empty());
}

TEST_CASE("the version of PTX is read, and nothing is made of what is none") {
  CHECK(run_time::ptx_version("//\n.version 8.7\n.target sm_90") == run_time::version{8, 7});
  for (const char* ptx :
       {"", ".version", ".version x", ".version 9", ".version 9.", ".version 9.x", "version 9.0"})
    CHECK_FALSE(run_time::ptx_version(ptx).has_value());
}

}  // namespace lab
