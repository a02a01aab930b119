// What PTX becomes, word for word where that can be read, and what is refused.
#include <algorithm>
#include <string>

#include "common/ptx/translate.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/damaged.hpp"
#include "tests/files.hpp"
#include "tests/ptx/inputs.hpp"

namespace {

using lab::ptx::convention;
using lab::ptx::request;
using lab::ptx::translate;
using lab::test::contains;

std::string problem(const std::string& ptx, const request& asked = {}) {
  return lab::test::message_of<lab::ptx::error>([&] { (void)translate(ptx, asked); });
}

std::string input(const std::string& file) {
  return lab::test::get(std::string(LAB_PTX_INPUTS) + "/" + file);
}

// A function of C's convention with one 64-bit parameter and result.
std::string function(const std::string& body) {
  return ".visible .func (.param .b64 func_retval0) f(.param .b64 p)\n{\n.reg .pred %p<3>; .reg .b16 %rs<3>; "
         ".reg "
         ".b32 %r<4>; .reg .b64 %rd<4>; .reg .f64 %fd<4>;\n" +
         body + "\n}\n";
}

constexpr const char* link_instead = "which cannot be translated; use the stage \"udf/04_link_time\"";

}  // namespace

TEST_CASE("a function of Numba's convention with two inputs, word for word") {
  const auto translated =
      translate(input("printed/two_inputs.ptx"), {.called = "cube_plus", .result_type = "float"});
  CHECK(translated.text ==
        "__device__ inline float cube_plus(float x0, float x1) {\n"
        "  float result;\n"
        "  asm(\n"
        "      \"{\\n\"\n"
        "      \"  .reg .b32 %%_result;\\n\"\n"
        "      \"  .reg .f32 %%_f<5>;\\n\"\n"
        "      \"  .reg .b32 %%_r<2>;\\n\"\n"
        "      \"  .reg .b64 %%_rd<2>;\\n\"\n"
        "      \"  mov.f32 %%_f1, %1;\\n\"\n"
        "      \"  mov.f32 %%_f2, %2;\\n\"\n"
        "      \"  mul.f32 %%_f3, %%_f1, %%_f1;\\n\"\n"
        "      \"  fma.rn.f32 %%_f4, %%_f3, %%_f1, %%_f2;\\n\"\n"
        "      \"  mov.f32 %%_result, %%_f4;\\n\"\n"
        "      \"  mov.u32 %%_r1, 0;\\n\"\n"
        "      \"  mov.b32 %0, %%_result;\\n\"\n"
        "      \"}\\n\"\n"
        "      : \"=f\"(result)\n"
        "      : \"f\"(x0), \"f\"(x1));\n"
        "  return result;\n"
        "}\n");
  CHECK(translated.how == convention::numba);
  CHECK(translated.source_name == "_Z7add$241Eff");
  CHECK(translated.parameters.size() == 2);
  CHECK(std::count(translated.text.begin(), translated.text.end(), '\n') ==
        static_cast<std::ptrdiff_t>(translated.lines.size()));
  CHECK(translated.lines[11] == 14);  // the fma
  CHECK(translate(input("printed/two_inputs.ptx"), {}).name == "_Z7add_241Eff");
  CHECK(translate(input("printed/no_status.ptx"), {.how = convention::numba}).result_type == "float");
}

TEST_CASE("every input is translated in its convention, and its types are found") {
  for (const auto& one : lab::test::ptx_inputs()) {
    INFO(one.file);
    if (lab::test::is_refused(one)) {
      CHECK(contains(problem(one.ptx, one.asked), "settings is visible, so that others may change it"));
      continue;
    }
    const auto translated = translate(one.ptx, one.asked);
    CHECK(translated.how == one.how);
    CHECK(translated.result_type == one.asked.result_type);
    CHECK(translated.version_major == 9);
    const std::size_t statement = translated.text.find("  asm");
    CHECK(translated.text.find("  asm", statement + 1) == std::string::npos);
    for (const char* word : {"ret;", "ret.uni", ".param", "call.", " call ", "func_retval0"}) {
      CAPTURE(word);
      CHECK_FALSE(contains(translated.text, word));
    }
  }
}

TEST_CASE("types are those of the loads and stores where nobody names them") {
  const auto signature = [](const std::string& file) {
    const auto translated = translate(input(file), {});
    std::string text = translated.result_type;
    for (const auto& one : translated.parameters) text += ", " + one.type;
    return text;
  };
  CHECK(signature("numba/three_types_int64_float32_int8.numba.ptx") ==
        "double, long long, float, signed char");
  CHECK(signature("numba/narrow_int32_int16.c.ptx") == "int, int, short");
  CHECK(signature("numba/above_nine_float64.numba.ptx") == "long long, double");
  CHECK(signature("nvcc/saxpy.sm_100.ptx") == "float, float, float, float");
  CHECK(signature("nvcc/widen.sm_90.ptx") == "long long, int, signed char, unsigned int");
}

TEST_CASE("a type that the PTX does not tell has to be named") {
  const std::string ptx = function("ld.param.b64 %rd1, [p]; st.param.b64 [func_retval0], %rd1; ret;");
  CHECK(contains(problem(ptx), "4:1: the type of this parameter is not evident and has to be named"));
  const auto translated = translate(ptx, {.result_type = "double", .parameters = {"double"}});
  CHECK(contains(translated.text, "__device__ inline double f(double x0)"));
  CHECK(contains(translated.text, "mov.b64 %%_rd1, %1;"));
  CHECK(contains(translated.text, ": \"=d\"(result)"));
  // One that an instruction tells.
  const std::string added = function(
      "ld.param.b64 %rd1, [p]; add.rn.f64 %rd2, %rd1, %rd1; st.param.b64 [func_retval0], %rd2; ret;");
  CHECK(translate(added, {}).parameters[0].type == "double");
  CHECK(translate(added, {}).result_type == "double");
}

TEST_CASE("an array of Numba is a pointer and a number of items") {
  const std::string ptx = input("numba/window_sum_float64_array.numba.ptx");
  const auto translated = translate(ptx, {.called = "sum", .parameters = {"double[]"}});
  CHECK(contains(translated.text, "double sum(const double* x0, long long x0_items)"));
  CHECK(contains(translated.text, ": \"l\"(x0), \"l\"(x0_items)"));
  CHECK(contains(translated.text, "mov.b64 %%_rd28, 8;"));  // the stride
  CHECK(contains(translated.text, "asm volatile("));
  CHECK(contains(translated.text, ": \"memory\");"));
  CHECK(contains(problem(ptx, {.parameters = {"float[]", "double"}}), "has no more than 8 parameters"));
  CHECK(contains(problem(ptx, {.parameters = {"double"}}), "8 parameters in PTX, and 2 are accounted for"));
}

TEST_CASE("the sign of a parameter is that of its load") {
  const auto translated = [](const std::string& load) {
    return translate(
        ".func (.param .b64 func_retval0) f(.param .b32 p)\n{ .reg .b64 %rd<2>; .reg .b16 %rs<2>;\n" + load +
            "\nst.param.b64 [func_retval0+0], %rd1; ret; }",
        {});
  };
  CHECK(contains(translated("ld.param.s32 %rd1, [p];").text, "cvt.s64.s32 %%_rd1, %1;"));
  CHECK(translated("ld.param.s32 %rd1, [p];").parameters[0].type == "int");
  CHECK(contains(translated("ld.param.u32 %rd1, [p];").text, "cvt.u64.u32 %%_rd1, %1;"));
  CHECK(translated("ld.param.u32 %rd1, [p];").parameters[0].type == "unsigned int");
  CHECK(contains(translated("ld.param.s8 %rd1, [p];").text, "cvt.s64.s8 %%_rd1, %1;"));
  CHECK(contains(translated("ld.param.s8 %rd1, [p];").text, "\"h\"(static_cast<short>(x0))"));
  CHECK(
      contains(translated("ld.param.s8 %rs1, [p]; cvt.s64.s16 %rd1, %rs1;").text, "cvt.s16.s8 %%_rs1, %1;"));
  CHECK(contains(problem(function("ld.param.u64 %r1, [p]; ret;"), {.result_type = "void"}),
                 "stores no result"));
  CHECK(contains(problem(function("ld.param.u64 %r1, [p]; st.param.b64 [func_retval0], %rd1; ret;")),
                 "%r1 is narrower than what is loaded"));
}

TEST_CASE("returns go to the end of the function, and labels stay") {
  const std::string ptx = function(
      "ld.param.u64 %rd1, [p];\nmov.u64 %rd2, 5;\nst.param.b64 [func_retval0+0], %rd2;\nsetp.lt.s64 %p1, "
      "%rd1, 0;\n"
      "@%p1 ret;\n@!%p1 bra L1;\nret.uni;\nL1:\nst.param.b64 [func_retval0+0], %rd1;\nret;");
  const std::string text = translate(ptx, {}).text;
  CHECK(contains(text, "@%%_p1 bra $end;"));
  CHECK(contains(text, "bra.uni $end;"));
  CHECK(contains(text, "L1:\\n"));
  CHECK(contains(text, "$end:\\n\"\n      \"  mov.b64 %0, %%_result;"));
  // The label stands before a store of the status, which is dropped.
  const std::string numba =
      ".visible .func (.param .b32 func_retval0) g(.param .b64 r, .param .b64 p)\n{ .reg .pred %p<2>; .reg "
      ".b32 "
      "%r<2>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [r]; ld.param.u64 %rd2, [p];\nst.u64 [%rd1], %rd2;\n"
      "setp.eq.s64 %p1, %rd2, 0;\nmov.u32 %r1, 0;\n@%p1 bra L2;\nst.u64 [%rd1], 7;\nL2:\n"
      "st.param.b32 [func_retval0+0], %r1;\nret;\n}";
  const auto translated = translate(numba, {});
  CHECK(translated.how == convention::numba);
  CHECK(contains(translated.text, "L2:\\n"));
  CHECK(contains(translated.text, "mov.b64 %%_result, 7;"));
  CHECK(contains(translated.text, "mov.b64 %%_result, 0;"));  // a path that stores nothing
}

TEST_CASE("special registers, pragmas and names that occur already") {
  const std::string ptx = function(
      ".reg .b64 %result; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; cvt.u64.u32 %result, %r1;\n$end:\n"
      ".pragma \"nounroll\"; add.s64 %rd2, %rd1, %result; setp.eq.s64 %p1, %rd2, 3; @%p1 bra $end; @%p1 "
      "ret;\n"
      "st.param.b64 [func_retval0], %rd2; ret;");
  const std::string text = translate(ptx, {}).text;
  CHECK(contains(text, "mov.u32 %%_r1, %%tid.x;"));
  CHECK(contains(text, ".pragma \\\"nounroll\\\";"));
  CHECK(contains(text, "mov.b64 %0, %%_result_;"));
  CHECK(contains(text, "@%%_p1 bra $end_;"));
  CHECK(contains(
      translate(function("mov.u64 %rd1, %clock64; st.param.b64 [func_retval0], %rd1; ret;"), {}).text,
      "asm volatile("));
}

TEST_CASE("only what the named function reaches must be understood") {
  const std::string others =
      ".global .attribute(.managed) .b32 managed;\n"
      ".visible .func (.param .b32 r) indirect(.param .b64 q) { .reg .b64 %rd<2>;\n"
      "p: .callprototype (.param .b32 _) _ ();\nret; }\n"
      ".visible .func (.param .b32 r) calls() { .reg .b32 %r1; { .param .b64 a; .param .b32 x; call.uni (x), "
      "indirect, (a); ld.param.u32 %r1, [x]; } st.param.b32 [r], %r1; ret; }\n"
      ".visible .func (.param .b32 r) reads() { .reg .b32 %r1; ld.global.u32 %r1, [managed]; st.param.b32 "
      "[r], %r1; ret; }\n" +
      function("ld.param.u64 %rd1, [p]; st.param.b64 [func_retval0], %rd1; ret;");
  CHECK(contains(translate(others, {.name = "f"}).text, "mov.b64 %%_rd1, %1;"));
  const std::string through_pointer = ".callprototype: a call through a pointer cannot be translated";
  CHECK(contains(problem(others, {.name = "indirect"}), "3:4: " + through_pointer));
  CHECK(contains(problem(others, {.name = "calls"}), "3:4: " + through_pointer));
  CHECK(contains(problem(others, {.name = "reads"}), "managed is managed, so that others may change it"));
  CHECK(contains(problem(others), "there are several functions, and one is to be named"));
}

TEST_CASE("a structure that one function hands to another is local memory of the statement") {
  const auto translated = translate(input("nvcc/structures.sm_90.ptx"), {.name = "structures"});
  CHECK(translated.result_type == "double");
  CHECK(contains(translated.text, ".local .align 8 .b8 %%_argument1[24];"));
  CHECK(contains(translated.text, "st.local.f32 [%%_argument1+12]"));
  CHECK(contains(translated.text, "ld.local.f32 %%_f14, [%%_argument1+12];"));
  // One that a caller of the translation would have to hand over is refused in C++'s words.
  CHECK(contains(problem(input("nvcc/structures.sm_90.ptx"), {.name = "_Z5mixed7mixturei"}),
                 "the result is a structure"));
  CHECK(contains(problem(".func f(.param .align 8 .b8 s[16]) { ret; }"),
                 "the parameter s is a structure passed by value, " + std::string(link_instead)));
}

TEST_CASE("a confused type of the result is refused") {
  const std::string square = input("numba/square_int64.numba.ptx");
  CHECK(contains(problem(square, {.result_type = "double"}),
                 "the function stores an integer, and the result is said to be double"));
  const std::string one = function("mov.u64 %rd1, 1; st.param.b64 [func_retval0], %rd1; ret;");
  CHECK(contains(problem(one, {.result_type = "double"}), "stores an integer"));
  CHECK(contains(problem(function("st.param.b64 [func_retval0], -1; ret;"), {.result_type = "double"}),
                 "stores an integer"));
  CHECK(translate(input("numba/constant_half_int64.numba.ptx"), {.result_type = "double"}).result_type ==
        "double");
  CHECK(contains(problem(square, {.result_type = "int"}), "the function stores 64 bits, and int has 32"));
  CHECK(contains(problem(square, {.result_type = "void"}), "'void' is no arithmetic type"));
  CHECK(contains(problem(input("numba/square_float64.c.ptx"), {.result_type = "long long"}),
                 "stores a floating-point value, and the result is said to be long long"));
  CHECK(contains(problem(input("nvcc/saxpy.sm_100.ptx"), {.result_type = "int"}),
                 "stores a floating-point value"));
  CHECK(contains(problem(square, {.parameters = {"double"}}),
                 "the parameter is used as an integer, and is said to be double"));
  CHECK(contains(problem(square, {.result_type = "long long", .how = convention::c}), "stores 32 bits"));
  CHECK(contains(problem(input("numba/square_int64.c.ptx"), {.how = convention::numba}),
                 "the pointer to the result is used for more than to store one value"));
  CHECK(contains(problem(square, {.called = "a b"}), "cannot be called 'a b'"));
  CHECK(contains(problem(square, {.parameters = {"std::string"}}), "'std::string' is no type"));
}

TEST_CASE("which function is meant has to be clear") {
  const std::string two = ".visible .func a() { ret; }\n.visible .func b()\n{ ret; }\n";
  CHECK(problem(two) == "2:16: there are several functions, and one is to be named: a (line 1), b (line 2)");
  CHECK(translate(two, {.name = "b"}).source_name == "b");
  CHECK(contains(problem(two, {.name = "c"}), "the file has no function c"));
  CHECK(problem(".visible .entry k()\n{ ret; }") ==
        "1:17: k is a kernel (.entry), and a device function (.func) is wanted");
  CHECK(problem(".version 9.0\n") == "1:1: there is no function in this PTX");
  CHECK(contains(problem(".extern .func f();"), "f is declared here without a body"));
}

TEST_CASE("what would change its meaning is refused, with the stage to use instead") {
  const auto refused = [](const std::string& body, const std::string& why) {
    const std::string message = problem(function(body + " st.param.b64 [func_retval0], %rd1; ret;"));
    INFO(body);
    CHECK(contains(message, why));
    CHECK(contains(message, link_instead));
    CHECK(message.rfind("4:", 0) == 0);
  };
  refused("call.uni (p), vprintf, (p);", "the function calls vprintf, whose code is not in the file");
  refused("call.uni f, ();", "the function calls itself by way of f");
  refused("mov.u64 %rd1, p;", "the address of the parameter p is taken");
  refused("mov.u64 %rd1, f;", "the address of the function f is taken");
  refused(".shared .b32 s[4];", "the variable s in .shared memory is shared between calls");
  refused("ld.param.u32 %r1, [p+4];", "a part of the parameter p is accessed ([p+4])");
  refused("{ .param .v2 .b64 q; }", "the parameter q is neither a number nor a structure");
}

TEST_CASE("tables of the module that may change are refused") {
  const std::string body = function("mov.u64 %rd1, t; st.param.b64 [func_retval0], %rd1; ret;");
  CHECK(contains(problem(".extern .global .b32 t;" + body), "t is extern, so that others may change it"));
  CHECK(contains(problem(".global .b32 t;" + body), "t has no initial values"));
  CHECK(
      contains(problem(".global .b64 t = generic(u);" + body), "the initial value generic(u) is no number"));
  CHECK(contains(problem(".global .b8 t[1] = {1, 2};" + body), "t has more initial values than elements"));
  CHECK(
      contains(problem(".global .b8 t[100000000] = {1};" + body), "the table t has more than 2^24 elements"));
  CHECK(contains(problem(".global .b32 t[2] = {1, 2};" + function("mov.u64 %rd1, t; st.global.u32 [%rd1], 4; "
                                                                  "st.param.b64 [func_retval0], %rd1; ret;")),
                 "changes memory and reads a table in global memory"));
}

TEST_CASE("names that nothing declares are refused") {
  const auto refused = [](const std::string& body) {
    return problem(function(body + " st.param.b64 [func_retval0], %rd1; ret;"));
  };
  CHECK(refused("add.s64 %rd1, %rd2, %rd9;") == "4:21: %rd9 is not declared");
  CHECK(refused("bra L9;") == "4:5: L9 is not declared");
  CHECK(refused("@%q bra L9;") == "4:1: a register is wanted, and %q is not declared as one");
  CHECK(refused(".reg .b64 %rd<2>;") == "4:11: %rd is declared twice");
  CHECK(refused("L: L:") == "4:4: the label L is there twice");
  CHECK(refused("ld.param.u64 %rd1, [q];") == "4:20: the function has no parameter q");
}

TEST_CASE("functions that would take for ever are refused at once") {
  std::string many;
  for (int k = 0; k < 1001; ++k) many += (k == 0 ? "" : ", ") + (".param .b32 p" + std::to_string(k));
  CHECK(contains(problem(".func f(" + many + ")\n{ ret; }"), "more than 1000 parameters"));
  // Each function calls the next one four times: 4^12 copies.
  std::string deep = ".func f12()\n{ ret; }\n";
  for (int k = 11; k >= 0; --k) {
    const std::string call = "call.uni f" + std::to_string(k + 1) + ", ();\n";
    deep += ".func f" + std::to_string(k) + "()\n{\n" + call + call + call + call + "ret; }\n";
  }
  CHECK(
      contains(problem(deep, {.name = "f0"}), "with the functions that it calls, the function is too large"));
  CHECK(translate(deep, {.name = "f8"}).result_type == "void");
  std::string names;
  for (int k = 0; k < 10'002; ++k) names += ".global .b32 v" + std::to_string(k) + ";\n";
  CHECK(contains(problem(names), "more than 10000 functions and variables"));
  // A name that is nearly all underscores.
  const std::string long_name = "%result" + std::string(4'000'000, '_');
  CHECK(translate(
            function("// " + long_name + "\nld.param.u64 %rd1, [p]; st.param.b64 [func_retval0], %rd1; ret;"),
            {})
            .text.size() > 4'000'000);
}

// The same damage in every run.
TEST_CASE("damaged PTX is translated or refused, and never more") {
  std::mt19937 random(1);
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (const auto& input : lab::test::ptx_inputs()) {
    if (input.ptx.size() > 6000) continue;
    INFO(input.file);
    for (int k = 0; k < 80; ++k, ++tried) {
      const std::string ptx = lab::test::damaged(input.ptx, "{}[]();,.%@0", random);
      try {
        const auto translated = lab::ptx::translate(ptx, k % 2 == 0 ? input.asked : lab::ptx::request{});
        CHECK(translated.text.find("asm") != std::string::npos);
      } catch (const lab::ptx::error& error) {
        CHECK(error.line() >= 1);
        CHECK(error.column() >= 1);
        CHECK_FALSE(error.message().empty());
        ++refused;
      }
    }
  }
  CHECK(tried > 3000);
  CHECK(refused > tried / 4);
  CHECK(refused < tried);
}
