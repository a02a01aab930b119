// What a stage has for exercises, read from the file beside its page: stages/TRACK/STAGE/exercises.json
// (docs/exercises.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/exercises/expression.hpp"
#include "harness/front/run/claim.hpp"
#include "harness/front/selection/patterns.hpp"

namespace lab::front {

// A part of the stage's source that is the student's to write.
struct exercise_region {
  std::string name;                // of its marker: "// exercise: padding"
  std::int64_t lines = 0;          // about how many the solution has
  std::vector<std::string> start;  // lines that stand there at first; none: the region is empty
};

// What is asked before the first run. Texts hold {expressions} of the student's sizes.
struct exercise_prediction {
  std::string name;
  std::string question;
  std::vector<std::string> choices;  // none: the answer is a number
  std::string answer;                // one of the choices, or an expression of the sizes
  double tolerance = 0;              // of a number, relative to it
  std::string because;               // why the answer is what it is
};

// What the emulator's counters must say of the student's kernel.
struct exercise_checkpoint {
  std::string name;
  claim aim;          // its value is worked out of `value`; of `at`, only the names and the texts are read
  std::string value;  // an expression of the sizes
  std::map<std::string, std::string> at;  // parameters beside the student's sizes
};

struct exercise {
  std::string stage;  // "moving_average/04_padded"
  std::string name;   // of the exercise within the stage
  std::string title;
  std::string task;
  std::vector<exercise_region> regions;
  // How comments of the stage begin that would tell an answer; its first comment, the idea, is one without
  // being named.
  std::vector<std::string> cut_comments;
  std::vector<std::string> words;  // that a solution may use, beside those of the stage's source
  std::map<std::string, std::vector<std::string>> sizes;  // of each parameter, those that students get
  std::vector<exercise_prediction> predictions;
  std::vector<exercise_checkpoint> checkpoints;
  std::vector<std::string> hints;
  std::vector<std::string> questions;  // without a machine that judges; answers are the teacher's
  std::string start_fails;             // words in which the check of what `lab new` makes fails
};

// What exercises of this stage are cut from: its stage.cu, or the exercise.cu that a student edition has
// instead.
[[nodiscard]] std::filesystem::path exercise_source(const std::string& stage);

// Reads exercises from a text; `file` stands before what is said of it. Throws usage_error with the line of
// the first mistake.
[[nodiscard]] std::vector<exercise> parse_exercises(const std::string& text, const std::string& file,
                                                    const std::string& stage);

// Each visible ASCII character is exchanged for the one 47 positions on (ROT47); a second call turns the text
// back. So is the exercises.json of a student edition, which is no secret but cannot be read by accident.
[[nodiscard]] std::string turned(std::string text);

// The exercises of the stage TRACK/NAME; none where it has no such file. Throws usage_error.
[[nodiscard]] std::vector<exercise> read_exercises(const std::string& stage);

// The paths of all stages that have exercises, sorted: "TRACK/STAGE" for the first of a stage and
// "TRACK/STAGE.NAME" for each further one.
[[nodiscard]] std::vector<std::string> exercise_paths();

// The exercise of that path; nothing where there is none. Throws usage_error for a file with a mistake.
[[nodiscard]] std::optional<exercise> find_exercise(const std::string& path);

// The sizes that this student gets, by a digest of who it is; without a name the first of each.
[[nodiscard]] std::map<std::string, std::string> sizes_of(const exercise& exercise,
                                                          const std::string& student);

// The numbers among them, for expressions.
[[nodiscard]] expression_values values_of(const std::map<std::string, std::string>& sizes);

}  // namespace lab::front
