// Exercises as students and teachers meet them: the stages pass their own checks, what students begin with
// fails where it should, and a solution in a student's file passes. Only a few beginnings are compiled, and
// an eighth of the solutions checked, unless LAB_EXERCISES_ALL is set.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/process/child_process.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::call_program;
using lab::test::contains;
using lab::test::outcome;
using lab::test::temporary_directory;
using nlohmann::json;
using strings = std::vector<std::string>;

// A workbook of a student's.
class workbook {
 public:
  [[nodiscard]] outcome lab(strings arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "LAB_EXERCISES=" + directory_.path().string(), LAB_PROGRAM});
    return lab::test::call_program(arguments, std::chrono::seconds(1200));
  }
  [[nodiscard]] std::filesystem::path file(const std::string& exercise, const char* name) const {
    return directory_ / exercise / name;
  }
  // Answers every question somehow, with a sentence: "I think that it is so".
  void predict(const std::string& path) const {
    const auto exercise = lab::front::find_exercise(path);
    REQUIRE(exercise);
    json answers;
    for (const auto& asked : exercise->predictions) {
      answers[asked.name] = {{"answer", asked.choices.empty() ? json(1) : json(asked.choices.front())},
                             {"why", "I think that it is so"}};
    }
    lab::test::put(file(path, "predictions.json"), answers.dump());
  }
  // Makes the exercise and predicts.
  void begin(const std::string& path) const {
    const outcome made = lab({"new", "--exercise", path, "--student", "anna"});
    INFO(made.text);
    REQUIRE(made.code == 0);
    predict(path);
  }

 private:
  temporary_directory directory_;
};

std::string stage_source(const std::string& stage) {
  return lab::test::get(lab::front::stages_directory() / stage / "stage.cu");
}

bool all_are_compiled() {
  const char* const wanted = std::getenv("LAB_EXERCISES_ALL");
  return wanted != nullptr && *wanted != '\0';
}

// Refuses the beginning of an exercise in the words that its file promises.
void check_beginning(const workbook& book, const std::string& path) {
  CAPTURE(path);
  book.begin(path);
  const outcome found = book.lab({"check", path});
  INFO(found.text);
  CHECK(found.code == 1);
  CHECK(contains(found.text, lab::front::find_exercise(path)->start_fails));
  // A wrong output is named by its index, or differs from launch to launch; all else has a line.
  CHECK((contains(found.text, path + "/stage.cu:") || contains(found.text, "wrong at index ") ||
         contains(found.text, "found other bits")));
}

}  // namespace

TEST_CASE("every stage passes the check of its own exercise, whatever the student's sizes") {
  const workbook book;
  const auto paths = lab::front::exercise_paths();
  CHECK(paths.size() >= 30);
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (k % 8 != 0 && !all_are_compiled()) continue;
    const std::string& path = paths[k];
    CAPTURE(path);
    // One student each, for time's sake: together they get many of the sizes.
    const outcome found =
        book.lab({"check", path, "--solution", "--student", "s-" + path.substr(path.find('/') + 1)});
    INFO(found.text);
    CHECK(found.code == 0);
    CHECK(contains(found.text, path + ": PASSED"));
  }
}

TEST_CASE("what a student begins with fails, an empty part before anything is compiled") {
  const workbook book;
  for (const std::string& path : lab::front::exercise_paths()) {
    const auto exercise = lab::front::find_exercise(path);
    const bool is_empty = std::any_of(exercise->regions.begin(), exercise->regions.end(),
                                      [](const auto& region) { return region.start.empty(); });
    const bool is_tried = path == "shared_tile/01_synchronized";
    if (is_empty || is_tried || all_are_compiled()) check_beginning(book, path);
  }
}

TEST_CASE("a miss names line, figure and aim, a hint helps, and the solution passes") {
  const workbook book;
  const std::string path = "moving_average/04_padded";
  book.begin(path);
  outcome found = book.lab({"check", path, "--hint", "1"});
  CHECK(found.code == 2);
  CHECK(contains(found.text, "predict first"));

  found = book.lab({"check", path});
  INFO(found.text);
  CHECK(contains(found.text, "sum += tile[padded(k)];"));
  CHECK(contains(found.text, "the aim is at most 0.010 (n = "));
  CHECK(contains(found.text, "--hint 1"));
  CHECK(!contains(found.text, "you predicted"));
  found = book.lab({"check", path, "--hint", "2"});
  CHECK(contains(found.text, "hint 2: "));
  CHECK(!contains(found.text, "hint 3: "));

  // What was predicted first counts, and that it was changed is said.
  const json kept = json::parse(lab::test::get(book.file(path, "exercise.json"))).at("kept");
  lab::test::put(book.file(path, "predictions.json"),
                 R"({"before": {"answer": 32, "why": "I know it now"}})");
  lab::test::put(book.file(path, "stage.cu"), stage_source(path));
  const std::string result = book.file(path, "result.json").string();
  found = book.lab({"check", path, "--json", result});
  INFO(found.text);
  CHECK(found.code == 0);
  const json document = json::parse(lab::test::get(result));
  CHECK(document.at("passed") == true);
  CHECK(document.at("predictions_changed_since") == true);
  CHECK(document.at("prediction_digest") == kept.at("digest"));
  CHECK(document.at("hints") == 2);
  CHECK(document.at("checks") == 2);
  for (const json& one : document.at("predictions")) {
    CAPTURE(one.dump());
    if (one.at("name") == "before") CHECK((one.at("given") == "1" && one.at("right") == false));
  }
}

TEST_CASE("a student's file that does not compile, never ends, or races is told so with its line") {
  const workbook book;
  const std::string path = "shared_tile/01_synchronized";
  book.begin(path);
  const std::string solution = stage_source(path);
  const std::string barrier = "  __syncthreads();\n";
  const auto check_with = [&](const std::string& line, const std::string& option = "--seed=1") {
    std::string source = solution;
    source.replace(source.find(barrier), barrier.size(), line);
    lab::test::put(book.file(path, "stage.cu"), source);
    return book.lab({"check", path, option});
  };
  outcome found = check_with("  __syncthread();\n");
  INFO(found.text);
  CHECK(found.code == 1);
  CHECK(contains(found.text, "stage.cu:18: "));
  CHECK(contains(found.text, "__syncthread"));
  CHECK(contains(found.text, "2. builds       FAIL"));

  found = check_with("  while (true) __syncthreads();\n", "--timeout=1");
  INFO(found.text);
  CHECK(found.code == 1);
  CHECK(contains(found.text, "no answer within 1 s"));

  // The order of the threads may happen to be right, and the race is found all the same.
  found = check_with("  if (threadIdx.x < 100) __syncwarp();\n");
  INFO(found.text);
  CHECK(found.code == 1);
  CHECK(contains(found.text, "4. sound        FAIL    race: "));

  // A change outside of the markers is not compiled: the grid is the lab's.
  lab::test::put(book.file(path, "stage.cu"), "int no_such_thing = cheat();\n" + solution);
  found = book.lab({"check", path});
  INFO(found.text);
  CHECK(found.code == 0);
  CHECK(contains(found.text, "has no effect"));
}

TEST_CASE("a stage of one's own fails until it is written, and is no stage of the lab") {
  const workbook book;
  outcome found = book.lab({"new", "elementwise/09_mine", "--from", "01_naive"});
  INFO(found.text);
  REQUIRE(found.code == 0);
  found = book.lab({"check", "elementwise/09_mine"});
  INFO(found.text);
  CHECK(found.code == 1);
  CHECK(contains(found.text, "was never written"));
  CHECK(!contains(book.lab({"describe", "elementwise", "--device", "emulator"}).text, "09_mine"));
  CHECK(book.lab({"run", "elementwise/09_mine", "--device", "emulator"}).code == 2);

  lab::test::put(book.file("elementwise/09_mine", "stage.cu"), stage_source("elementwise/01_naive"));
  found = book.lab({"check", "elementwise/09_mine"});
  INFO(found.text);
  CHECK(found.code == 0);

  for (const strings& wrong : {strings{"new", "elementwise/09_mine"},
                               {"new", "elementwise/mine"},
                               {"new", "nothing/09_mine"},
                               {"new", "elementwise/01_naive"},
                               {"new"},
                               {"new", "elementwise/10_x", "--from", "reduction/01_naive"},
                               {"new", "--exercise", "elementwise/02"},
                               {"new", "--exercise", "elementwise/01_naive", "--student", "../x"},
                               {"check", "elementwise/77_none"},
                               {"check", "../x"}}) {
    INFO(wrong.back());
    CHECK(book.lab(wrong).code == 2);
  }
}
