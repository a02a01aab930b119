// `lab translate` as a person calls it.
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::outcome;
using lab::test::strings;
using lab::test::temporary_directory;

const std::string inputs = LAB_PTX_INPUTS;

// `lab translate` with these arguments ends with `code`, and says all of `words`.
void expect(const strings& arguments, int code, const strings& words) {
  lab::test::expect(
      lab::test::call_program({}, LAB_PROGRAM, {"translate"}, arguments, std::chrono::seconds(60)), code,
      words);
}

}  // namespace

TEST_CASE("PTX is shown beside its translation, which --json keeps") {
  const temporary_directory directory;
  const std::string json = (directory / "out.json").string();
  expect({inputs + "/printed/two_inputs.ptx", "--called", "cube_plus", "--json", json}, 0,
         {"_Z7add$241Eff: PTX 0.0 for any target, Numba's convention",
          "__device__ inline float cube_plus(float x0, float x1) {", "mul.f32 %f3, %f1, %f1;",
          "|        \"  mul.f32 %%_f3, %%_f1, %%_f1;\\n\""});
  const auto document = nlohmann::json::parse(lab::test::get(json));
  CHECK(document["schema"] == "kernel-lab-translate");
  CHECK(document["convention"] == "numba");
  CHECK(document["parameters"].size() == 2);
  const std::string text = document["text"];
  CHECK(document["lines"].size() == static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

TEST_CASE("the verb refuses what it cannot read, with the place and a caret") {
  const temporary_directory directory;
  const std::string path = (directory / "a.ptx").string();
  lab::test::put(path, ".visible .func f()\n{\n\tadd.s32 %r1, %r1, 1;\n}\n");
  expect({path}, 2, {"a.ptx:3:10: %r1 is not declared\n   add.s32 %r1, %r1, 1;\n           ^\n"});
  lab::test::put(path, std::string("\x7f"
                                   "ELF\0\1",
                                   6));
  expect({path}, 2, {"a.ptx:1:1: this is no text of PTX: the byte \\x7f"});
  lab::test::put(path, "");
  expect({path}, 2, {"a.ptx:1:1: there is no PTX here"});
  lab::test::put(path, std::string(9'000'000, ' '));
  expect({path}, 2, {"a.ptx: is larger than"});
  expect({directory.path().string()}, 2, {"is a directory, and a file is wanted"});
  expect({(directory / "no.ptx").string()}, 2, {"no.ptx: there is no such file"});
  expect({"/dev/zero"}, 2, {"is not a regular file"});
}

TEST_CASE("bad calls of the verb") {
  const std::string file = inputs + "/nvcc/square.sm_100.ptx";
  expect({}, 2, {"file is required"});
  expect({file, "--convention", "pascal"}, 2, {"--convention must be numba or c, not 'pascal'"});
  expect({file, "--compile", "sm_"}, 2, {"--compile needs an architecture such as sm_90, not 'sm_'"});
  expect({file, "--compile", "90"}, 2, {"--compile needs an architecture such as sm_90, not '90'"});
  expect({file, "--result", "double"}, 2, {"square.sm_100.ptx:", "the function stores an integer"});
  expect({file, "--parameters", "int"}, 2, {"the parameter has 64 bits, and int has 32"});
  expect({file, "--name", "cube"}, 2, {"the file has no function cube"});
  expect({file, "--json", file}, 2, {"FILE and --json are one file"});
  expect({file, "--result", ""}, 2, {"--result needs a value"});
}

TEST_CASE("NVRTC compiles what the verb translates, where there is one") {
  const std::string file = inputs + "/nvcc/square.sm_100.ptx";
  const outcome found = lab::test::call_program({LAB_PROGRAM, "translate", file, "--compile", "sm_90"},
                                                std::chrono::seconds(60));
  if (lab::test::contains(found.text, "--compile needs NVRTC")) {
    CHECK(found.code == 2);
    LAB_SKIP("this machine has no NVRTC");
  }
  lab::test::expect(found, 0, {"NVRTC compiles it for sm_90, twice in one kernel."});
  expect({file, "--compile", "sm_11"}, 2, {"NVRTC does not compile the translation for sm_11"});
  const temporary_directory folder;
  const std::string newer = folder / "newer.ptx";
  lab::test::put(
      newer, std::regex_replace(lab::test::get(file), std::regex(R"(\.version \d+\.\d+)"), ".version 99.1"));
  expect({newer, "--compile", "sm_90"}, 2, {"this is PTX 99.1, and NVRTC here knows no more than"});
}
