// Exercises without a worker: their file, expressions, the marked source, and a student's folder.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/front/exercises/check_text.hpp"
#include "harness/front/exercises/examination.hpp"
#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/exercises/expression.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/shown_line.hpp"
#include "harness/front/exercises/slot.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::front::exercise;
using lab::front::source_error;
using lab::front::usage_error;
using lab::test::message_of;
using strings = std::vector<std::string>;

constexpr const char* text_of_file = R"json({
  "exercises": [
    {
      "name": "padding",
      "title": "A gap",
      "task": "Leave gaps.",
      "regions": [{"name": "padding", "lines": 1, "start": ["return k;"]}],
      "sizes": {"n": [1000, 2000], "window": [3]},
      "predictions": [
        {"name": "blocks", "question": "How many for n = {n}?", "answer": "ceil(n / 128)", "checkpoint": "barriers"},
        {"name": "faster", "question": "Is it?", "choices": ["yes", "no"], "answer": "no", "because": "It is not."}
      ],
      "checkpoints": [
        {"name": "barriers", "metric": "lab__barriers.sum", "holds": "equal", "value": "ceil(n / 128)",
         "because": "One for each of {ceil(n / 128)} blocks."}
      ],
      "hints": ["one", "two", "three"],
      "start_fails": "MISSED"
    }
  ]
})json";

exercise example() {
  return lab::front::parse_exercises(text_of_file, "exercises.json", "track/01_stage").front();
}

// What is said of the example where `from` is replaced by `to`.
std::string problem_with(const std::string& from, const std::string& to) {
  std::string text = text_of_file;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return message_of<usage_error>(
      [&] { (void)lab::front::parse_exercises(text, "exercises.json", "track/01_stage"); });
}

bool holds(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

const strings solution{"int padded(int k) {",
                       "  // exercise: padding",
                       "  return k + k / 48;",
                       "  // end",
                       "}",
                       "// exercise: other",
                       "int other;",
                       "// end"};

std::string fault_of(const strings& student) {
  return message_of<source_error>([&] { (void)lab::front::put_in(student, solution, example(), "s.cu"); });
}

}  // namespace

TEST_CASE("expressions of sizes are worked out") {
  const lab::front::expression_values sizes{{"n", 1000}, {"window", 300}};
  CHECK(lab::front::evaluate("ceil(n / 128) + 1", sizes) == 9);
  CHECK(lab::front::evaluate("2 + 3 * (4 - 1) / -2", sizes) == -2.5);
  CHECK(lab::front::evaluate("floor(7 / 2)", {}) == 3);
  CHECK(lab::front::filled_in("{n} values, {(127 + window) / 128} each", sizes) ==
        "1000 values, 3.3359375 each");
  for (const char* wrong : {"", "n n", "m", "1 +", "(1", "1 / 0", "ceil", "ceil 3", "system(1)", "1)"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(lab::front::evaluate(wrong, sizes), lab::front::expression_error);
  }
  CHECK_THROWS_AS(lab::front::evaluate(std::string(100'000, '('), {}), lab::front::expression_error);
}

TEST_CASE("a file of exercises is read, and a mistake in it named with its line") {
  const exercise read = example();
  CHECK(read.sizes.at("n") == strings{"1000", "2000"});
  CHECK(read.predictions[0].because == "One for each of {ceil(n / 128)} blocks.");
  CHECK(read.regions[0].start == strings{"return k;"});
  CHECK(holds(problem_with("\"title\"", "\"titel\""), "exercises.json:"));
  CHECK(holds(problem_with("lab__barriers.sum", "lab__barrier.sum"),
              "exercises.json:14: the emulator models no"));
  CHECK(holds(problem_with("\"answer\": \"no\"", "\"answer\": \"maybe\""), "none of the choices"));
  CHECK(holds(problem_with("\"answer\": \"ceil(n / 128)\"", "\"answer\": \"ceil(m / 128)\""), "no size 'm'"));
  CHECK(holds(problem_with("for n = {n}?", "for n = {m}?"), "no size 'm'"));
  CHECK(holds(problem_with("\"checkpoint\": \"barriers\"", "\"checkpoint\": \"barrier\""),
              "no such checkpoint"));
  CHECK(holds(problem_with(", \"three\"", ""), "three hints"));
  CHECK(holds(problem_with("\"lines\": 1", "\"lines\": 0"), "from 1 to 200"));
  CHECK(holds(problem_with("\"holds\": \"equal\"", "\"holds\": \"about\""), "equal, at_most or at_least"));
  CHECK(holds(problem_with("[1000, 2000]", "[]"), "at least one size"));
  CHECK(holds(problem_with("\"because\": \"It is not.\"", "\"tolerance\": 1"), "and not both"));
  CHECK(holds(problem_with("]\n}", "]\n"), "no JSON"));
}

TEST_CASE("every student gets the same sizes each time, and not all the same ones") {
  const exercise read = example();
  CHECK(lab::front::sizes_of(read, "").at("n") == "1000");
  std::set<std::string> found;
  for (const char* student : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    found.insert(lab::front::sizes_of(read, student).at("n"));
    CHECK(lab::front::sizes_of(read, student) == lab::front::sizes_of(read, student));
  }
  CHECK(found.size() == 2);
}

TEST_CASE("an exercise is cut from its source, and what is written put back") {
  const strings blanked = lab::front::cut(solution, example());
  CHECK(blanked == strings{"int padded(int k) {", "  // exercise: padding",
                           "  // Change this part: about 1 line.", "  return k;", "  // end", "}",
                           "int other;"});
  const auto back = lab::front::put_in(blanked, solution, example(), "/x/s.cu");
  CHECK(back.changed_outside == 0);
  CHECK(
      holds(back.text,
            "#line 3 \"/x/s.cu\"\n  // Change this part: about 1 line.\n  return k;\n#line 5 \"/x/s.cu\"\n"));
  CHECK(!holds(back.text, "k / 48"));
  // The stage itself is a solution, and no change outside of the markers.
  CHECK(lab::front::put_in(solution, solution, example(), "s.cu").changed_outside == 0);
  // What is written outside has no part in what is compiled, and is spoken of.
  strings cheat = blanked;
  cheat[0] = "#define padded cheated";
  const auto checked = lab::front::put_in(cheat, solution, example(), "s.cu");
  CHECK(checked.changed_outside == 1);
  CHECK(!holds(checked.text, "cheated"));
}

TEST_CASE("comments that tell an answer are cut with the part, and lines keep their numbers") {
  exercise asked = example();
  asked.cut_comments = {"a gap after", "odd"};
  const strings source{"// The idea: a gap.",
                       "// Of one.",
                       "#include \"x\"",
                       "// Where it lies, with",
                       "// an offset.",
                       "// a gap after each,",
                       "// always.",
                       "int padded(int k) {",
                       "  // exercise: padding",
                       "  return k + k / 48;",
                       "  // end",
                       "}",
                       "int per = 15;  // odd: no conflict"};
  const strings blanked = lab::front::cut(source, asked);
  CHECK(blanked == strings{"#include \"x\"", "// Where it lies, with", "// an offset.", "int padded(int k) {",
                           "  // exercise: padding", "  // Change this part: about 1 line.", "  return k;",
                           "  // end", "}", "int per = 15;"});
}

TEST_CASE("a region that is missing, empty or reaches out of its place is refused") {
  const auto with = [](const std::string& line) {
    return fault_of({"int padded(int k) {", "  // exercise: padding", line, "  // end", "}"});
  };
  CHECK(with("  return k;") == "nothing was thrown");
  CHECK(with("  if (k) { return '}'; } return \"}\"[0] /* } */; // }") == "nothing was thrown");
  CHECK(with("  return 1'000;") == "nothing was thrown");
  CHECK(with("#pragma unroll") != with("#define x"));
  CHECK(holds(with("  // only words"), "nothing is written yet between '// exercise: padding'"));
  CHECK(holds(with("  /* */"), "nothing is written yet"));
  CHECK(holds(with("  return k; } void f() {"), "has no opening one"));
  CHECK(holds(with("  return k; %> void f() <%"), "digraph"));
  CHECK(holds(with("  if (k) {"), "does not close"));
  CHECK(holds(with("  #include \"/etc/passwd\""), "preprocessor"));
  CHECK(holds(with("  %:define x"), "digraph"));
  CHECK(holds(with("  /* "), "comment does not end"));
  CHECK(holds(with("  R\"x(})x\";"), "raw string"));
  CHECK(holds(fault_of({"int padded(int k) {", "}"}), "marker '// exercise: padding' is missing"));
  CHECK(holds(fault_of({"// exercise: padding", "x;"}), "has no '// end'"));
  CHECK(holds(fault_of({"// exercise: padding", "// exercise: padding", "// end"}), "begins before"));
  CHECK(holds(fault_of({"// exercise: padding", "x;", "// end", "// exercise: padding", "// end"}),
              "stands twice"));
  // A comment whose line goes on hides nothing.
  CHECK(holds(fault_of({"// exercise: padding", "// \\", "{", "}", "// end"}), "joins the next line"));
  CHECK(holds(fault_of({"// exercise: padding", "  return k; // \\", "// end"}), "joins the next line"));
}

TEST_CASE("a part is read as a compiler reads it, whatever it is disguised as") {
  const auto with = [](const std::string& line) {
    return fault_of({"int padded(int k) {", "  // exercise: padding", line, "  return k;", "  // end", "}"});
  };
  CHECK(with("  int own = k; // it's mine, and \"open") == "nothing was thrown");
  CHECK(with("  const auto twice = [](int x) { return 2 * x; }; k = twice(k);") == "nothing was thrown");
  CHECK(with("  [[maybe_unused]] static constexpr int four = 0x4p0 + 1'0 + '\\'';") == "nothing was thrown");
  CHECK(with("  if (*own) (void)k; std::int64_t a[2]; double2 pair;") == "nothing was thrown");
  CHECK(with("  #pragma unroll 4 // four") == "nothing was thrown");
  // A prefix and a quote begin one character or text.
  CHECK(holds(with("  int q = u8'\"'; } void f() { int r = u8'\"';"), "no opening one"));
  CHECK(with("  auto q = u8'\"'; auto r = L\"}\"; auto s = U'}';") == "nothing was thrown");
  for (const char* line :
       {"  /**/ #include </etc/passwd>", "  #include <fstream>", "  %:include <fstream>",
        "  /**/%:define x y", "  # /**/ include <x>", "  #pragma GCC poison x", "  #pragma push_macro(\"x\")",
        "  # 12 \"other.cu\"", "  #line 1 \"other.cu\"", "  ?\?=include <x>", "  k = 1; #define x",
        "  #pragma unroll\\", "  #error x", "  #if __has_include(<x>)", "  #embed \"/etc/passwd\""}) {
    CAPTURE(line);
    const std::string fault = with(line);
    CHECK((holds(fault, "preprocessor") || holds(fault, "digraph") || holds(fault, "trigraph") ||
           holds(fault, "joins the next line")));
  }
  CHECK(holds(with("  \\u0065xit(0);"), "C++ has no use for"));
  CHECK(holds(with("  \"open"), "does not end on its line"));
  CHECK(holds(with("  'a"), "does not end on its line"));
  CHECK(holds(with("  u8R\"(x)\";"), "raw string"));
  CHECK(holds(with(std::string("  k\0;", 5)), "control character"));
  CHECK(holds(with("  k\f;"), "control character"));
  CHECK(holds(with("  k = (k]; )"), "has no opening one"));
  for (const char* word :
       {"asm(\"\");", "goto end;", "throw 1;", "try {} catch (...) {}", "new int;", "static int kept;",
        "extern int other;", "thread_local int x;", "using namespace std;", "typedef int t;", "union u {};",
        "decltype(k) x;", "namespace n = std;", "reinterpret_cast<long*>(k);"}) {
    CAPTURE(word);
    CHECK(holds(with(word), "has no place in this part"));
  }
  for (const char* word : {"__asm__(\"\");", "__builtin_trap();", "_Pragma(\"once\");", "_exit(0); __FILE__;",
                           "__attribute__((constructor)) void f();", "__COUNTER__;"}) {
    CAPTURE(word);
    CHECK(holds(with(word), "is no function or word"));
  }
  CHECK(holds(with("  [[gnu::constructor]] int x;"), "attribute"));
  CHECK(holds(with("  [[using gnu: weak]] int x;"), "attribute"));
  CHECK(holds(with("  void (*call)(int) = 0;"), "pointer to a function"));
  CHECK(holds(with("  *(long*)4096 = 1;"), "cast to a pointer"));
  CHECK(holds(with("  void* any = &k;"), "void*"));
  CHECK(holds(with("  k = 1_x;"), "name behind it"));
  CHECK(holds(with("  int $x;"), "letters, digits and _"));
  CHECK(holds(with("  int \xc3\xa9;"), "letters, digits and _"));
}

TEST_CASE("a name that no kernel has a use for means what the part itself declares, and nothing else") {
  const auto compiled = [](const std::string& line) {
    return lab::front::put_in({"// exercise: padding", line, "// end"}, solution, example(), "s.cu").text;
  };
  CHECK(holds(compiled("exit(0); return k;"), "\nyours_exit(0); return k;\n"));
  CHECK(holds(compiled("std::exit(0); ::close(3);"), "std::yours_exit(0); ::yours_close(3);"));
  CHECK(holds(compiled("int left = k; left += min(k, other);"),
              "int yours_left = k; yours_left += min(k, other);"));
  CHECK(holds(compiled("lab::launch(k); cudaFree(0);"), "yours_lab::yours_launch(k); yours_cudaFree(0);"));
  CHECK(lab::front::without_own_prefix("'yours_exit' was not declared") == "'exit' was not declared");
}

// The whole check takes the solution from the stage itself, and does not see marks that stand a line too
// early.
TEST_CASE("the solution of every exercise fits between its own marks, and an empty beginning does not") {
  const strings paths = lab::front::exercise_paths();
  CHECK(paths.size() >= 30);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const exercise asked = *lab::front::find_exercise(path);
    const strings source =
        lab::front::lines_of(lab::test::get(lab::front::stages_directory() / asked.stage / "stage.cu"));
    CHECK_NOTHROW(lab::front::put_in(source, source, asked, "stage.cu"));
    const strings begun = lab::front::cut(source, asked);
    CHECK(begun.front().rfind("//", 0) != 0);
    for (const auto& region : asked.regions) {
      if (!region.start.empty()) continue;
      CHECK(holds(message_of<source_error>([&] { (void)lab::front::put_in(begun, source, asked, "s.cu"); }),
                  "nothing is written yet"));
    }
  }
}

// That no file of it holds a solution: tests/program/edition_test.py.
TEST_CASE("a student edition takes every solution that a student writes") {
  const std::filesystem::path stages = lab::front::stages_directory();
  if (!std::filesystem::exists(stages.parent_path() / ".git")) {
    std::puts("this test is skipped: an edition is made of a Git checkout");
    return;
  }
  const lab::test::temporary_directory directory;
  const std::string edition = directory / "edition";
  const strings call{LAB_PROGRAM, "student-edition", edition};
  CHECK(lab::test::call_program(call, std::chrono::seconds(600)).code == 0);
  CHECK(lab::test::call_program(call, std::chrono::seconds(600)).code == 2);  // it is there already
  CHECK((std::filesystem::status(edition + "/lab").permissions() & std::filesystem::perms::owner_exec) !=
        std::filesystem::perms::none);
  const std::string proofs = lab::test::get(edition + "/reports/proofs/emulator.json");

  setenv("LAB_STAGES", (edition + "/stages").c_str(), 1);
  std::size_t cut = 0;
  for (const std::string& path : lab::front::exercise_paths()) {
    CAPTURE(path);
    const exercise asked = *lab::front::find_exercise(path);
    CHECK(holds(proofs, "\"" + asked.stage + "\"") ==
          std::filesystem::exists(edition + "/stages/" + asked.stage + "/stage.cu"));
    if (lab::front::exercise_source(asked.stage).filename() != "exercise.cu") continue;
    ++cut;
    const strings solution = lab::front::lines_of(lab::test::get(stages / asked.stage / "stage.cu"));
    const std::string left = lab::test::get(lab::front::exercise_source(asked.stage));
    CHECK_NOTHROW(lab::front::put_in(solution, lab::front::lines_of(left), asked, "s.cu"));
  }
  CHECK(cut >= 45);
  const std::string refused =
      lab::test::call_program({LAB_PROGRAM, "check", "moving_average/04_padded", "--solution"},
                              std::chrono::seconds(600))
          .text;
  CHECK(holds(refused, "a student edition has no solutions"));
  const auto told = [](const char* pattern) {
    return message_of<usage_error>([&] { (void)lab::front::select_stages({}, {pattern}); });
  };
  CHECK(told("elementwise") ==
        "no stage matches 'elementwise': elementwise/01_naive is an exercise, and yours "
        "to write: lab new --exercise elementwise/01_naive");
  CHECK(holds(told("moving_average/04"), "moving_average/04_padded is an exercise"));
  CHECK(holds(told("*/04_padded/"), "moving_average/04_padded is an exercise"));
  CHECK(holds(told("transpose/03_padded"), "stages/transpose/03_padded has no stage.cu"));
  CHECK(holds(told("reductoin"), "'lab list' shows what there is"));
  unsetenv("LAB_STAGES");
}

TEST_CASE("a check has colours, seconds and a width on a terminal, and none of them elsewhere") {
  lab::front::examination found;
  found.exercise = "track/01_stage";
  found.steps.push_back({.name = "right",
                         .status = lab::front::step_status::failed,
                         .message = "wrong at index 7: expected 1, found 2",
                         .at = {.file = "s.cu", .line = 5, .code = "  out[i] = in[i] + 1000 * other;"},
                         .seconds = 1.26});
  CHECK(lab::front::step_text(found.steps[0], found, {}) ==
        "1. right        FAIL    wrong at index 7: expected 1, found 2\n"
        "      5 |   out[i] = in[i] + 1000 * other;\n"
        "        |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  CHECK(lab::front::step_text(found.steps[0], found, {.colour = true, .seconds = true, .width = 30}) ==
        "1. right       \033[31m FAIL\033[0m    wrong\n"
        "      at index 7: expected 1,\n"
        "      found 2 (1.3 s)\n"
        "      5 |   out[i] = in[i] ...\n"
        "        |   ^~~~~~~~~~~~~~~~~~\n");
  CHECK(lab::front::outcome_text(found, {}) == "track/01_stage: not passed yet");
  found.printed = {.first = {"thread 0: 17"}, .lines = 4};
  CHECK(holds(lab::front::step_text(found.steps[0], found, {}),
              "   printed:\n      thread 0: 17\n      … and 3 more lines\n"));
  found.printed.lines = 1001;
  CHECK(holds(lab::front::step_text(found.steps[0], found, {}), "      … and at least 1000 more lines\n"));
  found.passed = true;
  CHECK(lab::front::outcome_text(found, {.colour = true}) == "track/01_stage: \033[32mPASSED\033[0m");

  const lab::front::shown_line cut = lab::front::clipped(
      {.line = 12, .code = std::string(50, 'a') + "!" + std::string(50, 'b'), .column = 51}, 6, 40);
  CHECK(cut.code.size() == 29);
  CHECK(cut.code[cut.column - 1] == '!');
  CHECK(lab::front::clipped({.line = 12, .code = "short", .column = 2}, 6, 40).code == "short");
}

TEST_CASE("kernels are emptied and nothing else") {
  int emptied = 0;
  CHECK(lab::front::without_kernel_bodies(
            "__global__ void f(int n) { if (n) { g(\"}\"); } }\nvoid h() { i(); }\n", emptied) ==
        "__global__ void f(int n) {\n  // Write the kernel.\n}\nvoid h() { i(); }\n");
  CHECK(emptied == 1);
  CHECK(lab::front::without_kernel_bodies("__global__ void f(int n);\nint x;\n", emptied) ==
        "__global__ void f(int n);\nint x;\n");
  CHECK(emptied == 0);
}

TEST_CASE("a page for students tells no outcome, and its links lead where they led") {
  const std::string page =
      "# Title\n\n**The bottleneck before.** Slow ([01](../01_naive/), [other](../../udf/)).\n\n**The "
      "idea.** A [gap], a [thread].\n\n"
      "**What changed.** k / 48.\n\n**Measured.**\n\n<!-- measured: x -->\n**The idea.** generated\n<!-- "
      "/measured "
      "-->\n\n[gap]: ../../../docs/glossary.md#gap\n[Thread]: ../../../docs/glossary.md#thread\n"
      "[warp]: ../../../docs/glossary.md#warp\n";
  CHECK(lab::front::page_without_figures(page, "track") ==
        "**The bottleneck before.** Slow ([01](../../../stages/track/01_naive/), "
        "[other](../../../stages/udf/)).\n\n"
        "**The idea.** A [gap], a [thread].\n\n[gap]: ../../../docs/glossary.md#gap\n"
        "[Thread]: ../../../docs/glossary.md#thread\n");
}

TEST_CASE("predictions are read, and garbage among them is named") {
  const lab::test::temporary_directory directory;
  const auto file = directory / "predictions.json";
  const exercise asked = example();
  const auto problem = [&](const std::string& text) {
    lab::test::put(file, text);
    return message_of<usage_error>([&] { (void)lab::front::read_predictions(file, asked); });
  };
  const auto missing = [&](const std::string& text) {
    lab::test::put(file, text);
    return lab::front::missing_prediction(lab::front::read_predictions(file, asked), asked, {{"n", 1000}});
  };
  CHECK(holds(problem("{"), "no JSON"));
  CHECK(holds(problem("[]"), "one JSON object"));
  CHECK(holds(problem(R"({"block": {}})"), "there is no question 'block'"));
  CHECK(holds(problem(R"({"blocks": 8})"), "'blocks' must be"));
  CHECK(holds(problem(R"({"blocks": {"answer": "8"}})"), "must be a number"));
  CHECK(holds(problem(R"({"faster": {"answer": "perhaps"}})"), "one of the choices"));
  CHECK(holds(problem(R"({"faster": {"answer": "yes", "because": "x"}})"), "no 'because'"));
  CHECK(holds(missing("{}"), "'blocks' has no answer yet: How many for n = 1000?"));
  CHECK(holds(missing(R"({"blocks": {"answer": 8, "why": "so"}})"),
              "no reason yet: its \"why\" needs at least 3 words"));
  const std::string whole = R"({"blocks": {"answer": 8, "why": "a block takes 128"},
                                "faster": {"answer": "no", "why": "it is bound by memory"}})";
  CHECK(missing(whole).empty());
  const auto given = lab::front::read_predictions(file, asked);
  const std::string digest = lab::front::digest_of(given, "track/01_stage", "anna");
  CHECK(digest.size() == 64);
  CHECK(digest != lab::front::digest_of(given, "track/01_stage", "bob"));
  auto changed = given;
  changed["blocks"].number = 9;
  CHECK(digest != lab::front::digest_of(changed, "track/01_stage", "anna"));
}

TEST_CASE("an exercise's page leads to its problem, and its stage's page keeps the answers back") {
  const auto padded = lab::front::find_exercise("moving_average/04_padded");
  REQUIRE(padded);
  const auto files = lab::front::exercise_files("moving_average/04_padded", *padded, "");
  const std::string& page = files.at("README.md");
  CHECK(holds(page, "[stages/moving_average](../../../stages/moving_average/)"));
  CHECK(holds(page, "## The stage"));
  // "before" asks for this figure.
  CHECK_FALSE(holds(page, "takes 32"));
}

TEST_CASE("names of exercises and students keep to their characters") {
  CHECK(lab::front::exercise_path("exercises/reduction/02_tree/") == "reduction/02_tree");
  CHECK(lab::front::exercise_path("reduction/02_tree.finish") == "reduction/02_tree.finish");
  CHECK(lab::front::exercise_path("reduction/02") == "reduction/02_tree");
  CHECK(lab::front::exercise_path("reduction/02.f") == "reduction/02.f");  // no exercise
  CHECK(holds(message_of<usage_error>([] { (void)lab::front::exercise_path("moving_average/0"); }),
              "means more than one exercise: moving_average/01_naive, moving_average/02_shared_memory, "));
  for (const char* wrong :
       {"", "reduction", "../x", "a/../b", "/etc/passwd", "a/b/c", "a/b\n", "a/b.C", "a b/c"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(lab::front::exercise_path(wrong), usage_error);
  }
  CHECK_NOTHROW(lab::front::check_student("s.012-x@y"));
  for (const std::string wrong : {".", "-x", "a b", "a/b", "$(x)", "\x1b[31m"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(lab::front::check_student(wrong), usage_error);
  }
  CHECK_THROWS_AS(lab::front::check_student(std::string(65, 'a')), usage_error);
}

TEST_CASE("a folder is made whole, and never over another") {
  const lab::test::temporary_directory directory;
  const auto folder = directory / "track/01_stage";
  lab::front::make_folder(folder, {{"a", "1"}, {"b", "2"}});
  CHECK(lab::test::get(folder / "b") == "2");
  CHECK(holds(message_of<usage_error>([&] {
                lab::front::make_folder(folder, {{"a", "x"}});
              }),
              "there already"));
  CHECK(lab::test::get(folder / "a") == "1");
  CHECK_THROWS_AS(lab::front::make_folder(folder / "a" / "under", {{"a", "x"}}),
                  lab::front::environment_error);
}

TEST_CASE("a message's line is shown with a caret, where the student has written what the compiler means") {
  using lab::front::caret_text;
  CHECK(caret_text({.line = 18, .code = "  f();", .column = 3}, 4) ==
        "    18 |   f();\n"
        "       |   ^");
  CHECK(caret_text({.line = 7, .code = "  sum += x;"}, 0) ==
        "7 |   sum += x;\n"
        "  |   ^~~~~~~~~");
  CHECK(lab::front::column_in_written("yours_a = yours_b + c;", "a = b + c;", 11) == 5);
  CHECK(lab::front::column_in_written("yours_a = yours_b + c;", "a = b + c;", 21) == 9);
  CHECK(lab::front::without_tabs("\tx\ty") == "        x       y");
  CHECK(
      lab::front::without_scopes(
          "race: s.cu:3: lab::moving_average::padded::(anonymous namespace)::moving_average_kernel: block") ==
      "race: s.cu:3: moving_average_kernel: block");

  const lab::test::temporary_directory directory;
  lab::test::put(directory / "stage.cu", "int a;\n\tint b;\n");
  const auto shown = lab::front::line_in("right: stage.cu:2: b", "stage.cu", directory / "stage.cu");
  CHECK(shown.line == 2);
  CHECK(shown.code == "        int b;");
  CHECK(lab::front::line_in("at stages/reduction/02_tree/stage.cu:1: x", "stage.cu", directory / "stage.cu")
            .file == "stages/reduction/02_tree/stage.cu");
  CHECK(lab::front::line_in("stage.cu:3: nothing", "stage.cu", directory / "stage.cu").line == 0);
  CHECK(lab::front::line_in("wrong at index 7", "stage.cu", directory / "stage.cu").line == 0);
  // Of the lab's own files those of stages and of what they share, and none that a message merely names.
  CHECK(lab::front::line_in("race: common/operations.hpp:1: x", "s", directory / "stage.cu").line == 1);
  CHECK(lab::front::line_in("/etc/passwd.h:1: x ../stages/x.cu:1", "s", directory / "stage.cu").line == 0);
}

TEST_CASE("the first error of a compiler is found") {
  std::size_t column = 0;
  (void)lab::front::first_compiler_error("/a/s.cu:31:5: error: expected ';'\n", &column);
  CHECK(column == 5);
  CHECK(lab::front::first_compiler_error(
            "[1/3] x\nFAILED: y\nIn file included from z.cpp:1:\n/a/s.cu: In function "
            "'f':\n/a/s.cu:31:5: error: expected ';'\n/a/s.cu:32:5: error: other\n") ==
        "/a/s.cu:31: expected ';'");
  CHECK(lab::front::first_compiler_error("[1/3] x\nFAILED: y\nstage.cu(31): error: identifier \"yours_x\" is "
                                         "undefined\n1 error detected in the compilation\n") ==
        "stage.cu:31: identifier \"x\" is undefined");
  CHECK(lab::front::first_compiler_error(
            "stage.cu(7): warning #177-D: unused\nptxas error   : Entry function "
            "'f' uses too much shared data\n") == "ptxas: Entry function 'f' uses too much shared data");
  CHECK(lab::front::first_compiler_error("s.o: undefined reference to `f()'\n") ==
        "the linker: undefined reference to `f()'");
  CHECK(lab::front::first_compiler_error("ninja: error: loading 'build.ninja'\n").empty());
}

TEST_CASE("a source without nvcc's words gets no advice about them") {
  CHECK(lab::front::words_of_nvcc("launch(kernel, grid, block, 0, stream, x << 3);").empty());
  CHECK(holds(lab::front::words_of_nvcc("k<<<1, 2>>>(x);"), "launch(kernel, grid, block"));
  CHECK(holds(lab::front::words_of_nvcc("extern __shared__ int a[];"), "T* name = dynamic_shared<T>()"));
}
