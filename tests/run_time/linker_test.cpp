// What nvJitLink makes of LTO-IR, PTX and cubins together, and what it is not given.
#include <string>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/toolkit.hpp"

namespace lab {
namespace {

using run_time::compile_request;
using run_time::link;
using run_time::link_error;
using run_time::link_input;
using run_time::target;

constexpr const char* caller =
    "extern \"C\" float twice(float x);\n"
    "extern \"C\" __global__ void apply(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n";
constexpr const char* callee = "extern \"C\" float twice(float x) { return 2 * x; }\n";

link_input input_of(const std::string& source, target kind, const std::string& name, int architecture = 90) {
  compile_request request;
  request.source = source;
  request.wanted = kind;
  request.architecture = architecture;
  if (kind != target::lto_ir) request.options = {"-rdc=true"};
  const auto compiled = compile(request);
  return {kind, compiled.image, name, compiled.compiler};
}

std::string refusal_of_link(const std::vector<link_input>& inputs, int architecture = 90,
                            const std::vector<std::string>& options = {}) {
  return test::message_of<link_error>([&] { (void)link(inputs, architecture, options); });
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a function that comes as LTO-IR is inlined") {
  LAB_NEEDS_TOOLKIT();
  const int architecture = GENERATE(75, 90, 100);
  const std::vector<link_input> inputs = {input_of(caller, target::lto_ir, "caller", architecture),
                                          input_of(callee, target::lto_ir, "callee", architecture)};
  const auto linked = link(inputs, architecture);
  CHECK(linked.cubin.substr(1, 3) == "ELF");
  CHECK(linked.log.empty());
  CHECK(holds(linked.cubin, ".text.apply"));
  CHECK_FALSE(holds(linked.cubin, ".text.twice"));
}

TEST_CASE("a function that comes as PTX or in a cubin stays a call") {
  LAB_NEEDS_TOOLKIT();
  const target kind = GENERATE(target::ptx, target::cubin);
  const std::vector<link_input> inputs = {input_of(caller, target::lto_ir, "caller"),
                                          input_of(callee, kind, "callee")};
  const auto linked = link(inputs, 90);
  CHECK(holds(linked.cubin, ".text.apply"));
  CHECK(holds(linked.cubin, ".text.twice"));
}

TEST_CASE("a function that no input has is named") {
  LAB_NEEDS_TOOLKIT();
  CHECK(holds(refusal_of_link({input_of(caller, target::lto_ir, "caller")}), "'twice'"));
  CHECK(holds(refusal_of_link({input_of(caller, target::cubin, "caller")}), "'twice'"));
}

TEST_CASE("PTX that is newer than the linker is refused with both versions") {
  LAB_NEEDS_TOOLKIT();
  link_input newer = input_of(callee, target::ptx, "twice.ptx");
  newer.bytes.replace(newer.bytes.find(".version") + 9, 3, "9.9");
  const std::string message = refusal_of_link({input_of(caller, target::lto_ir, "caller"), newer});
  INFO(message);
  CHECK(message.substr(0, 11) == "twice.ptx: ");
  CHECK(holds(message,
              "Unsupported .version 9.9; current version is '" + to_string(run_time::newest_ptx_version())));
}

TEST_CASE("LTO-IR of a compiler that is newer than the linker, or of another major version, is refused") {
  LAB_NEEDS_TOOLKIT();
  const auto refused = [](run_time::version compiler) {
    return test::message_of<link_error>([&] { run_time::require_linkable(compiler, {13, 2}, "f"); });
  };
  CHECK(refused({13, 3}) ==
        "f: LTO-IR of NVRTC 13.3 cannot be linked by nvJitLink 13.2, which takes that of 13.0 to 13.2: "
        "install both "
        "libraries of one toolkit");
  CHECK(holds(refused({14, 0}), "LTO-IR of NVRTC 14.0"));
  CHECK(holds(refused({12, 9}), "LTO-IR of NVRTC 12.9"));
  CHECK(refused({13, 2}) == "nothing was thrown");
  CHECK(refused({13, 0}) == "nothing was thrown");
  link_input newer = input_of(callee, target::lto_ir, "newer");
  newer.compiler = run_time::version{99, 0};
  CHECK(holds(refusal_of_link({newer}), "newer: LTO-IR of NVRTC 99.0"));
}

TEST_CASE("inputs that are not what they are said to be are refused by name") {
  LAB_NEEDS_TOOLKIT();
  CHECK(refusal_of_link({{target::lto_ir, "garbage", "in", {}}}) == "in: is not LTO-IR");
  CHECK(refusal_of_link({{target::cubin, "garbage", "in", {}}}) == "in: is not a cubin, or a part of one");
  CHECK(holds(refusal_of_link({{target::ptx, "garbage", "in", {}}}), "in: "));
  CHECK(refusal_of_link({{target::ptx, "", "in", {}}}) == "in: is empty, and PTX is wanted");
  CHECK(refusal_of_link({{target::ptx, std::string("a\0b", 3), "in", {}}}) ==
        "in: holds a NUL, which no PTX does");
  CHECK(holds(refusal_of_link({{target::ptx, "a", std::string("i\0n", 3), {}}}),
              "i\\x00n: the input's name holds a NUL"));
  CHECK(refusal_of_link({}) == "there is nothing to link");
}

TEST_CASE("a cubin or LTO-IR that was cut at any length is refused") {
  LAB_NEEDS_TOOLKIT();
  const target kind = GENERATE(target::cubin, target::lto_ir);
  const link_input whole = input_of(callee, kind, "whole");
  for (std::size_t length = 1; length < whole.bytes.size(); length += 61) {
    INFO(length);
    CHECK(refusal_of_link({{kind, whole.bytes.substr(0, length), "cut", {}}}) != "nothing was thrown");
  }
  CHECK(refusal_of_link({whole}) == "nothing was thrown");
}

TEST_CASE("a cubin of another architecture, an unknown architecture and an unknown option are refused") {
  LAB_NEEDS_TOOLKIT();
  const link_input input = input_of(callee, target::cubin, "twice");
  CHECK(holds(refusal_of_link({input}, 75), "twice: "));
  CHECK(holds(refusal_of_link({input}, 12), "-arch=sm_12"));
  CHECK(holds(refusal_of_link({input}, 90, {"-no-such-option"}), "-no-such-option"));
  CHECK(holds(refusal_of_link({input}, 90, {""}), "an option of the linker is empty"));
  CHECK(refusal_of_link({input}) == "nothing was thrown");
}

}  // namespace lab
