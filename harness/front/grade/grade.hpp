// Grading of submissions: what a teacher's key, an exercise and the source of somebody unknown come to in
// points (docs/grade.md).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/exercises/examination.hpp"
#include "harness/front/grade/confinement.hpp"
#include "harness/front/grade/gpu_part.hpp"
#include "harness/front/grade/hidden_inputs.hpp"
#include "harness/front/grade/key.hpp"
#include "harness/front/process/temporary_folder.hpp"

namespace lab::front {

// What one student has handed in.
struct submission {
  std::string name;
  std::filesystem::path source;       // stage.cu
  std::filesystem::path predictions;  // predictions.json; empty: none
  std::string problem;                // why there is nothing to grade; else empty
};

// The submissions that `path` holds: a source, an exercise's folder, a folder of exercises
// (TRACK/STAGE/stage.cu), or a folder with an entry for each student, each of which is one of these. Links
// are not followed. Throws usage_error where there is none.
[[nodiscard]] std::vector<submission> find_submissions(const std::filesystem::path& path,
                                                       const std::string& exercise);

// The text of parts that wait for the correctness of a submission that lacks it.
inline constexpr const char* counted_when_right =
    "counted once the results are right and the kernel is sound";

// "correctness", and what it came to.
struct graded_part {
  std::string name;
  double points = 0;
  double most = 0;
  bool is_counted = true;  // else it is the teacher's, or was not measured: `most` is in no sum
  std::string text;        // why, for the student; lines
};

struct submission_grade {
  std::string name;
  std::vector<graded_part> parts;
  examination found;
  std::optional<timed_submission> timed = {};  // on a GPU, where the part is counted and came so far
  std::string lab_fault;  // why it could not be graded, through no fault of its own; else empty
  double seconds = 0;

  [[nodiscard]] double points() const;
  [[nodiscard]] double most() const;  // of the counted parts
};
void to_json(nlohmann::json& json, const submission_grade& grade);

struct grading_terms {
  bool unconfined = false;
  std::optional<double> timeout_seconds = {};
  std::string device = {};  // for the time: "cuda:0"; "emulator": none; empty: what the machine has
};

class grader {
 public:
  // Draws the hidden inputs, and times the lab's own stage where there is a GPU. Throws usage_error, and
  // environment_error where a submission cannot be confined, or where the GPU that was asked for cannot time
  // the exercise.
  grader(const std::string& exercise, const grading_key& key, const grading_terms& terms);

  // Never throws but `interrupted`: whatever a submission does costs its own row. `shown_as` stands before
  // what the status line tells: "3 of 30: anna".
  [[nodiscard]] submission_grade grade(const submission& one, const std::string& shown_as);

  [[nodiscard]] const std::map<std::string, std::string>& sizes() const { return graded_.sizes; }
  [[nodiscard]] const std::string& exercise() const { return exercise_; }
  [[nodiscard]] std::string confinement_text() const { return confinement_.text(); }
  // On which GPU submissions are timed, or why on none.
  [[nodiscard]] const std::string& gpu_text() const { return gpu_text_; }

 private:
  void find_gpu();
  void count_source(submission_grade& grade, const submission& one);
  void count_time(submission_grade& grade, const submission& one);
  // What the teacher judges: each answer with its reason, or why there is none.
  [[nodiscard]] std::string derivations_in(const submission& one) const;
  [[nodiscard]] std::string fault_on_hidden_inputs(const stage_worker& submitted, bool on_gpu);

  std::string exercise_;
  grading_key key_;
  grading_terms terms_;
  confinement confinement_;
  temporary_folder folder_;
  graded_source graded_;
  std::unique_ptr<hidden_inputs> inputs_;
  std::unique_ptr<gpu_part> gpu_;  // nothing: no submission is timed
  std::string gpu_text_;
};

}  // namespace lab::front
