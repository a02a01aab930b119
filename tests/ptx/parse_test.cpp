// Reading and printing PTX, and the places of what is wrong with it.
#include <string>

#include "common/ptx/module.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/ptx/inputs.hpp"

namespace {

using lab::ptx::parse;
using lab::ptx::print;

// Of the text, or of its first function that is not understood.
std::string parse_problem(const std::string& ptx) {
  return lab::test::message_of<lab::ptx::error>([&] {
    for (const auto& one : parse(ptx).functions) lab::ptx::require_read(one);
  });
}

}  // namespace

TEST_CASE("what is printed is the module that was read") {
  for (const auto& input : lab::test::ptx_inputs()) {
    INFO(input.file);
    const lab::ptx::module read = parse(input.ptx);
    CHECK(read.version_major == 9);
    CHECK(read.target.rfind("sm_", 0) == 0);
    const std::string printed = print(read);
    CHECK(print(parse(printed)) == printed);
    CHECK(printed.find(".func") != std::string::npos);
  }
}

TEST_CASE("statements are read with their parts and places") {
  const auto read = parse(
      ".version 8.5\n.target sm_90a, debug\n.address_size 64\n.visible .func f()\n{\n"
      "\t@!%p1 setp.lt.s32 %p2|%p3, %r1, -1;\nL1: // here\n  st.v2.f32 [%rd1+-8], {%f1, %f2};\n"
      "  .reg .pred %p<4>, %q;\n  .loc 1 2 3\n  .pragma \"nounroll\";\n}\n");
  CHECK(read.version_minor == 5);
  CHECK(read.target == "sm_90a");
  REQUIRE(read.functions.size() == 1);
  const auto& body = read.functions[0].body;
  REQUIRE(body.size() == 6);
  CHECK(body[0].guard == "%p1");
  CHECK(body[0].guard_negated);
  CHECK(body[0].opcode == "setp");
  CHECK(body[0].operands[0].kind == lab::ptx::operand_kind::pair);
  CHECK(body[0].operands[2].text == "-1");
  CHECK(body[0].operands[2].where == lab::ptx::position{6, 34});
  CHECK(body[1].opcode == "L1");
  CHECK(print(body[2]) == "st.v2.f32 [%rd1+-8], {%f1, %f2};");
  CHECK(print(body[3]) == ".reg .pred %p<4>;");
  CHECK(print(body[4]) == ".reg .pred %q;");
  CHECK(print(body[5]) == ".pragma \"nounroll\";");
}

TEST_CASE("what is no PTX is refused with its line and column") {
  CHECK(parse_problem("") == "1:1: there is no PTX here: the text is empty");
  CHECK(parse_problem(" \n // nothing\n") == "3:1: there is no PTX here: the text is empty");
  CHECK(parse_problem(std::string(".func f()\n{ \0 }", 15)) == "2:3: this is no text of PTX: the byte \\x00");
  CHECK(parse_problem(".func f() { \xff }") == "1:13: this is no text of PTX: the byte \\xff");
  CHECK(parse_problem(".func f()\n{\n  add.s32 %r1") ==
        "3:14: the text ends, and ',' or ';' after an operand is wanted; is the file cut off?");
}

TEST_CASE("PTX that is cut off, unbalanced or too large is refused") {
  CHECK(parse_problem(".func f()\n{\n  ret;\n")
            .find("4:1: the text ends within the function f, whose brace of line 2") == 0);
  CHECK(parse_problem(".func f()\n{\n  {\n  ret;\n}\n").find("6:1: the text ends within the function f") ==
        0);
  CHECK(parse_problem(".func f()\n{\n}\n}\n") == "4:1: this brace closes nothing");
  CHECK(parse_problem("/* never closed") == "1:1: a comment begins here and is never closed");
  CHECK(parse_problem(".func f() { .pragma \"x\n\"; }") ==
        "1:21: a string begins here and is not closed in its line");
  CHECK(parse_problem(std::string(10'000'000, ' ')) ==
        "1:1: PTX of 10000000 bytes; at most 8388608 are read");
  CHECK(parse_problem(".func f() {" + std::string(300'000, '{')).find("more than 200000 statements") !=
        std::string::npos);
  CHECK(parse_problem(".func f() { call ((((((x)))))); }").find("operands are nested too deep") !=
        std::string::npos);
  CHECK(parse_problem(".func f() { .reg .b32 %r<99999999999999999999>; }").find("how many registers") !=
        std::string::npos);
  CHECK(parse_problem(".address_size 32").find("1:15: addresses have 64 bits") == 0);
  CHECK(parse_problem("hello").find("1:1: a function, a variable or a directive of PTX is wanted") == 0);
  CHECK(parse_problem(".version nine").find("1:10: a version such as 9.0 is wanted") == 0);
}

TEST_CASE("what is not understood costs its own function or variable") {
  const auto read = parse(
      ".alias a, f;\n.global .attribute(.managed) .align 4 .u32 shared_with_host;\n"
      ".global .b8 nested[4] = {{1, 2}, {3, 4}}, never_read;\n.const .b32 table[2] = {1, 2};\n"
      ".visible .func f()\n{\n  p: .callprototype (.param .b32 _) _ (.param .b32 _);\n  { call %rd1, (), p; "
      "}\n}\n"
      ".func .attribute(.unified(19, 95)) g()\n{\n  ret;\n}\n.func h();\n");
  REQUIRE(read.variables.size() == 4);
  CHECK(read.variables[0].linkage == ".managed");
  CHECK(read.variables[1].values == std::vector<std::string>{"{1,2}", "{3,4}"});
  REQUIRE(read.functions.size() == 3);
  CHECK(lab::test::message_of<lab::ptx::error>([&] {
          lab::ptx::require_read(read.functions[0]);
        }).find("7:6: .callprototype: a call through a pointer") == 0);
  CHECK(read.functions[1].body.size() == 1);
  CHECK_FALSE(read.functions[1].unread.has_value());
  CHECK(print(parse(print(read))) == print(read));
  // A cut, or a brace too few, is the file's.
  CHECK(parse_problem(".func f()\n{\n  p: .callprototype _ ();\n")
            .find("2:1: what begins here is not closed") == 0);
}

TEST_CASE("every input is refused wherever it is cut off within its last function") {
  for (const auto& input : lab::test::ptx_inputs()) {
    if (input.ptx.size() > 4000) continue;
    INFO(input.file);
    const std::size_t close = input.ptx.rfind('}');
    for (std::size_t end = input.ptx.rfind('{'); end < close; end += 7)
      CHECK(parse_problem(input.ptx.substr(0, end)) != "nothing was thrown");
  }
}
