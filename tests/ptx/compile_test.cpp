// Translations are compiled by NVRTC, twice in one kernel: machine code, no call, and a stack frame only
// where the function has an array of its own.
#include <regex>
#include <string>

#include "common/ptx/translate.hpp"
#include "tests/catch.hpp"
#include "tests/ptx/inputs.hpp"
#include "tests/ptx/nvrtc.hpp"

namespace {

using lab::test::compile_with_nvrtc;
using lab::test::compiled;

std::string kernel_around(const lab::ptx::translation& translated) {
  std::string parameters, arguments;
  for (const auto& one : translated.parameters) {
    parameters += ", " + one.type + " " + one.name;
    arguments += (arguments.empty() ? "" : ", ") + one.name;
  }
  const std::string call = translated.name + "(" + arguments + ")";
  return "extern \"C\" __global__ void kernel_" + translated.name + "(" + translated.result_type +
         "* results" + parameters + ") {\n  results[threadIdx.x] = " + call +
         ";\n  if (results[1]) results[2] = " + call + ";\n}\n";
}

std::string with_kernel(const lab::ptx::translation& translated) {
  return translated.text + kernel_around(translated);
}

// Of the kernel, as ptxas says; -1 where it does not.
int frame_bytes(const std::string& log, const std::string& kernel) {
  std::smatch found;
  const std::regex line("Function properties for " + kernel + "\\s[^,]*?(\\d+) bytes stack frame");
  return std::regex_search(log, found, line) ? std::stoi(found[1]) : -1;
}

void check_all(const std::string& architecture) {
  std::string source;
  std::vector<std::pair<std::string, bool>> kernels;  // and whether PTX has arrays of its own
  for (auto& one : lab::test::ptx_inputs()) {
    if (lab::test::is_refused(one)) continue;
    one.asked.called = "translated_" + std::to_string(kernels.size());
    source += "// " + one.file + "\n" + with_kernel(lab::ptx::translate(one.ptx, one.asked));
    kernels.emplace_back("kernel_" + one.asked.called, one.ptx.find(".local") != std::string::npos);
  }
  const auto result = compile_with_nvrtc(source, architecture);
  if (!result) LAB_SKIP("this build is without NVRTC");
  INFO(result->log);
  REQUIRE(result->succeeded);
  CHECK(kernels.size() > 40);
  for (const auto& [kernel, has_array] : kernels) {
    CAPTURE(kernel);
    const int bytes = frame_bytes(result->log, kernel);
    CHECK(bytes >= 0);
    if (!has_array) CHECK(bytes == 0);
  }
  CHECK_FALSE(std::regex_search(result->ptx, std::regex("\\bcall")));
}

}  // namespace

TEST_CASE("all inputs compile for sm_75") {
  check_all("sm_75");
}

TEST_CASE("all inputs compile for sm_90") {
  check_all("sm_90");
}

TEST_CASE("all inputs compile for sm_100") {
  check_all("sm_100");
}

TEST_CASE("a branch table, a register pair and vectors compile") {
  const auto translated = lab::ptx::translate(
      ".func (.param .b64 func_retval0) f(.param .b64 p, .param .b64 q)\n{\n.reg .pred %p<3>; .reg .b32 "
      "%r<5>; .reg "
      ".b64 %rd<4>; .reg .f32 %f<3>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\ncvt.u32.u64 %r1, "
      "%rd1; and.b32 "
      "%r1, %r1, 1;\nmov.b64 {%r2, %r3}, %rd1;\nld.global.v2.f32 {%f1, %f2}, [%rd2+8];\nadd.f32 %f1, %f1, "
      "%f2;\n"
      "cvt.rzi.s32.f32 %r4, %f1;\nsetp.lt.s32 %p1|%p2, %r2, %r4;\nmov.b64 %rd3, {%r3, %r4};\n"
      "$targets: .branchtargets $A, $B;\nbrx.idx %r1, $targets;\n$A: add.s64 %rd3, %rd3, 1;\n$B: @%p2 "
      "add.s64 %rd3, "
      "%rd3, 2;\nst.param.b64 [func_retval0], %rd3; ret;\n}",
      {.parameters = {"long long", "const float*"}});
  const auto result = compile_with_nvrtc(with_kernel(translated), "sm_90");
  if (!result) LAB_SKIP("this build is without NVRTC");
  INFO(result->log);
  CHECK(result->succeeded);
  CHECK(result->ptx.find("brx.idx") != std::string::npos);
}

TEST_CASE("what a translation is spared: clashing labels, a return that leaves the kernel") {
  const auto translated = lab::ptx::translate(
      ".func (.param .b32 func_retval0) f(.param .b32 p)\n{ .reg .pred %p<2>; .reg .b32 %r<2>;\nld.param.u32 "
      "%r1, "
      "[p];\nL: add.s32 %r1, %r1, -3; setp.gt.s32 %p1, %r1, 10;\n@%p1 bra L; st.param.b32 [func_retval0], "
      "%r1;\n@%p1 "
      "ret;\nst.param.b32 [func_retval0], 4; ret; }",
      {});
  const auto result = compile_with_nvrtc(with_kernel(translated), "sm_90");
  if (!result) LAB_SKIP("this build is without NVRTC");
  INFO(result->log);
  CHECK(result->succeeded);
  // The kernel's own return, and no other.
  const auto returns = [](const std::string& ptx) {
    const std::regex word("\\bret;");
    return std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), word), std::sregex_iterator());
  };
  CHECK(returns(result->ptx) == 1);
  // Without the braces the same text clashes with itself, so that the test above can fail.
  std::string bare = with_kernel(translated);
  bare.replace(bare.find("\"{\\n\""), 5, "");
  bare.replace(bare.find("\"}\\n\""), 5, "");
  CHECK_FALSE(compile_with_nvrtc(bare, "sm_90")->succeeded);
}
