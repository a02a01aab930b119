// A person's own function: what becomes a part of a kernel, and what is refused in words of its own lines.
// Needs NVRTC, and no GPU.
#include <string>

#include "common/ptx/module.hpp"
#include "common/run_time/compiler.hpp"
#include "common/run_time/linker.hpp"
#include "harness/device/track.hpp"
#include "stages/udf/own_source.hpp"
#include "tests/catch.hpp"
#include "tests/udf/compiler.hpp"

namespace {

using namespace lab::udf;
using lab::test::has_compiler;
namespace run_time = lab::run_time;

namespace own {

constexpr signature elements{value_type::int64, result_type::int64, false};
constexpr signature windows{value_type::float64, result_type::float64, true};
constexpr const char* inlined = "__device__ inline";

own_function expression(const std::string& text) {
  return {language::expression, text, "function", ""};
}
own_function cuda(const std::string& text, const std::string& name = "") {
  return {language::cuda, text, "f.cu", name};
}
own_function ptx_of(const std::string& cuda_text, const std::string& name = "") {
  const std::string text = run_time::compile({.source = cuda_text,
                                              .options = {"-rdc=true"},
                                              .architecture = 75,
                                              .wanted = run_time::target::ptx})
                               .image;
  return {language::ptx, text, "f.ptx", name};
}

// The PTX of the plain kernel around the function.
std::string compiled(const own_function& own, const signature& types) {
  return run_time::compile({.source = types_text(types) + own_definition(own, types, 90, inlined) +
                                      plain_kernel_text(types),
                            .architecture = 90,
                            .wanted = run_time::target::ptx})
      .image;
}

struct refusal {
  std::string message;
  std::string log;
};

refusal refused(const own_function& own, const signature& types) {
  try {
    static_cast<void>(own_definition(own, types, 90, inlined));
  } catch (const lab::source_error& error) {
    return {error.what(), error.log()};
  } catch (const lab::usage_error& error) {
    return {error.what(), ""};
  }
  FAIL("nothing was refused");
  return {};
}

bool holds(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace own
using namespace own;
}  // namespace

TEST_CASE("an expression, a file of CUDA C++ and its PTX become part of a kernel, without a call") {
  if (!has_compiler()) return;
  for (const own_function& own :
       {expression("in(x, 9, 44) ? 1 : 2"), expression("x > 9 ? x * x : -x  // a comment"),
        cuda("__device__ long long f(long long x) { return x * x; }"),
        cuda("namespace a { static long long g(long long x) { return x + 1; }\n"
             "__device__ long long f(long long x) { return g(x); } }"),
        cuda("template <class T> __device__ T twice(T x) { return x + x; }", "twice"),
        cuda("__device__ long long f(long long x) { return x; }\n__device__ long long g(long long x) { "
             "return -x; }",
             "g"),
        ptx_of("__device__ long long f(long long x) { return x * x + 1; }")}) {
    INFO(own.text);
    const std::string ptx = compiled(own, elements);
    CHECK(ptx.find("call") == std::string::npos);
    CHECK(ptx.find("udf_kernel") != std::string::npos);
  }
  for (const own_function& own :
       {expression("count > 1 ? x[count - 1] - x[0] : 0"),
        cuda(
            "__device__ double f(const double* x, long long count) { double s = 0; for (long long k = 0; k < "
            "count; ++k) s += x[k]; return s; }"),
        ptx_of("__device__ double f(const double* x, long long count) { return x[count - 1]; }")}) {
    INFO(own.text);
    CHECK(compiled(own, windows).find("call") == std::string::npos);
  }
}

TEST_CASE("the text of one function is in the kernel, and not that of another") {
  if (!has_compiler()) return;
  CHECK(holds(compiled(expression("x ^ 12345678901"), elements), "12345678901"));
  CHECK(holds(compiled(cuda("__device__ long long f(long long x) { return x; }\n"
                            "__device__ long long g(long long x) { return x ^ 98765432101; }",
                            "g"),
                       elements),
              "98765432101"));
}

TEST_CASE("PTX is linked with a kernel as it is") {
  if (!has_compiler()) return;
  const auto linked = [](const own_function& own, const signature& types) {
    const run_time::compiled kernel = run_time::compile(
        {.source = types_text(types) + own_linkage(own, types, inlined) + plain_kernel_text(types),
         .architecture = 90,
         .wanted = run_time::target::lto_ir});
    const run_time::link_input parts[] = {{run_time::target::lto_ir, kernel.image, "kernel", kernel.compiler},
                                          {run_time::target::ptx, own.text, own.origin, {}}};
    return run_time::link(parts, 90).cubin;
  };
  CHECK(!linked(ptx_of("__device__ long long f(long long x) { return x * x; }"), elements).empty());
  CHECK(!linked(ptx_of("__device__ double f(const double* x, long long count) { return x[count - 1]; }"),
                windows)
             .empty());
  // What cannot be translated can be linked: the function keeps state of its own.
  const own_function counts =
      ptx_of("__device__ int seen; __device__ long long f(long long x) { return atomicAdd(&seen, 1) + x; }");
  CHECK(!linked(counts, elements).empty());
}

TEST_CASE("an error in a function shows the person's line and a caret") {
  if (!has_compiler()) return;
  const refusal unknown = refused(expression("x + y"), elements);
  CHECK(holds(unknown.log, "function(1)"));
  CHECK(holds(unknown.log, "\"y\" is undefined"));
  CHECK(holds(unknown.log, "^"));
  const refusal third = refused(cuda("__device__ long long f(long long x) {\n\n  return z;\n}\n"), elements);
  CHECK(holds(third.log, "f.cu(3)"));
  CHECK(holds(third.message, "f.cu does not compile"));
  CHECK(holds(refused(expression("x +"), elements).log, "expected an expression"));
  CHECK(holds(refused(expression("x /* never closed"), elements).message, "does not compile"));
  CHECK(holds(refused(expression("x; } long long other() { return 1"), elements).log, "expected a \")\""));
}

TEST_CASE("a function that is not the one that is needed is refused by name") {
  if (!has_compiler()) return;
  const std::string f = "__device__ long long f(long long x) { return x; }\n";
  const std::string g = "__device__ long long g(long long x) { return x; }\n";
  CHECK(holds(refused(cuda(f + g), elements).message, "f(long long), g(long long); choose with --name"));
  CHECK(holds(refused(cuda("extern \"C\" __global__ void k(int* x) { *x = 1; }"), elements).message,
              "k is a kernel"));
  CHECK(holds(refused(cuda(f + "__global__ void k(int* x) { *x = 1; }", "k"), elements).message,
              "is a kernel"));
  CHECK(holds(refused(cuda("int unused;\n"), elements).message, "defines no function"));
  CHECK(holds(refused(cuda(f, "h"), elements).log, "\"h\" is undefined"));
  CHECK(holds(refused(cuda("__device__ long long f(long long x, int y) { return x; }"), elements).message,
              "f(long long, int) cannot be called as"));
  CHECK(holds(refused(cuda("__device__ void f(long long x) {}"), elements).message, "cannot be called"));
  CHECK(holds(
      refused(cuda("struct s { int a; };\n__device__ s f(long long x) { return {1}; }"), elements).message,
      "cannot be called"));
  // A function of windows on elements, and the reverse.
  CHECK(holds(
      refused(cuda("__device__ double f(const double* x, long long n) { return *x; }"), elements).message,
      "needs --window"));
  CHECK(holds(refused(cuda("__device__ double f(double x) { return x; }"), windows).message, "--window 0"));
  own_function both = ptx_of(
      "__device__ long long f(long long x) { return x; }\n"
      "__device__ long long g(long long x) { return x; }");
  CHECK(holds(refused(both, elements).message, "holds 2 functions"));
  both.name = "g";
  CHECK(!own_definition(both, elements, 90, inlined).empty());
  both.name = "h";
  CHECK(holds(refused(both, elements).message, "holds no function h"));
  CHECK(holds(refused(ptx_of("extern \"C\" __global__ void k(int* x) { *x = 1; }"), elements).message,
              "no visible function"));
  own_function newer = ptx_of(f);
  newer.text.replace(newer.text.find(".version ") + 9, 3, "99.9");
  CHECK(holds(refused(newer, elements).message, "this is PTX 99.9"));
  own_function cut = ptx_of(f);
  cut.text.resize(cut.text.size() - 12);
  CHECK(holds(refused(cut, elements).message, "f.ptx:"));
}
