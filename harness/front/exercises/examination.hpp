// What `lab check` asks of an exercise, step by step, and what came of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/exercises/shown_line.hpp"
#include "harness/front/exercises/slot.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/worker.hpp"

namespace lab::front {

// A submission that is graded: its source alone is read, and nothing is kept beside it.
struct graded_source {
  using command = std::vector<std::string>;

  std::filesystem::path file;
  exercise aims;                             // as the teacher's key has them
  std::map<std::string, std::string> sizes;  // not the student's own
  std::string shown_as;                      // before what the status line tells: "3 of 30: anna"
  // How its worker and its compiler are started: within limits, and walls.
  std::function<worker(const command& program)> started;
  exercise_slot::submission_terms compiled;
  // Asked once the worker itself has found its results right: what is wrong with what it makes of inputs that
  // it has not seen. Empty where nothing is.
  std::function<std::string(const command& worker, const std::string& stage)> also_right;
};

// By this name the compiler and the emulator know a submission's source; shown_path() makes "stage.cu" of it.
[[nodiscard]] std::string name_of_submission();

struct check_request {
  std::string exercise;  // as a person names it
  std::optional<int> hint;
  bool solution = false;  // of the lab's own stage, as the tests do, instead of a student's folder
  std::string student;    // with `solution`: whose sizes
  std::uint64_t seed = 1;
  std::uint64_t trial_seed = 0;
  std::optional<double> timeout_seconds;
  std::string json_path;
  bool watch = false;                     // check again whenever the student saves
  const graded_source* graded = nullptr;  // instead of a student's folder
};

enum class step_status { passed, failed, not_reached };
inline constexpr const char* step_status_names[] = {"passed", "failed", "not reached"};

struct check_step {
  std::string name;  // "prediction", "builds", "right", "sound", "checkpoints"
  step_status status = step_status::not_reached;
  std::string message;  // one line
  shown_line at;        // of a failure: the line that its message is about
  double seconds = 0;   // how long it took
  std::string warning;  // what is suspicious, though nothing is known to be wrong
};

struct checked_checkpoint {
  std::string name;
  claim aim;  // at the student's sizes
  bool reached = false;
  std::optional<double> figure;
  std::string file;  // of a miss: the line that has most of it, "" where no line has
  std::int64_t line = 0;
  std::string code;  // what stands on it, tabs as spaces
};

// What the kernels print in step 3 (right).
struct printed_output {
  static constexpr std::size_t most_lines = 20;

  std::vector<std::string> first;  // lines, at most so many
  std::size_t lines = 0;           // of worker::most_output_lines at most, and one if there are more
};

struct judged_answer {
  std::string name;
  std::string question;
  std::string given;
  std::string why;
  std::string answer;
  bool right = false;
  std::string because;
};

struct examination {
  std::string exercise;
  std::string student;
  std::map<std::string, std::string> sizes;
  bool passed = false;
  std::vector<check_step> steps;
  printed_output printed;
  std::vector<checked_checkpoint> checkpoints;
  std::vector<judged_answer> predictions;  // only after everything passed
  workbook_record record;                  // as it is after this check
  bool predictions_changed = false;        // since they were kept
  std::string notice;                      // what the student should know, though nothing failed
  std::string source_digest;               // of what was compiled (BLAKE2b-256)
};
void to_json(nlohmann::json& json, const examination& examination);

// Called with each step as soon as its outcome is known.
using step_told = std::function<void(const check_step& step, const examination& so_far)>;

// Checks the exercise in this order and ends with the first step that fails: the predictions are given and
// kept; the source builds; its results are right in both orders of the threads; no race and nothing read that
// nobody wrote; the counters are those of the checkpoints. All aims come from the lab's own files. Throws
// usage_error and environment_error.
[[nodiscard]] examination examine(const check_request& options, const step_told& told);

// The track of an exercise, whose workers have everything that the exercise itself is linked with; with
// `with_stage` its stage as well.
[[nodiscard]] stage_selector select_exercise(const std::string& exercise, bool with_stage);

// "is 4096, the aim is at most 2048"
[[nodiscard]] std::string figure_text(const checked_checkpoint& checkpoint);

// "l1tex__... / l1tex__... is 0.94, the aim is at most 0.01 (n = 100000, window = 300)"
[[nodiscard]] std::string checkpoint_text(const checked_checkpoint& checkpoint);

// The hints from the first to number `upto`, and keeps that they were asked for. Throws usage_error.
[[nodiscard]] std::vector<std::string> take_hints(const check_request& options);

}  // namespace lab::front
