// The time of one stage against that of another in the lab's own conditions: both proved and timed by their
// workers, in turn, so that what drifts meets both.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/run/results.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// Up to this many times the reference's time a submission has all points for its time, and from the second
// number on none; in between they fall evenly.
inline constexpr double all_points_until = 1.03;
inline constexpr double no_points_from = 2;

// The part of the points, 0 to 1, of a submission that takes `ratio` times the reference's time.
[[nodiscard]] double share_of_points(double ratio);

// Who answers for a stage: the command that starts its worker, the stage's path there, and whether the worker
// seals its answers.
struct stage_worker {
  std::vector<std::string> command;
  std::string stage;
  bool is_sealed = false;
};

// What both are asked for.
struct timing_terms {
  parameter_values parameters;
  sampling_options sampling;
  std::uint64_t seed = 1;
  std::uint64_t trial_seed = 2;
  std::optional<ceiling_record> ceiling;  // of the same parameters: nothing can be faster
  std::chrono::milliseconds patience{std::chrono::seconds(60)};  // at least, for each answer
};

// What a submission's time came to.
struct timed_submission {
  std::string fault;                    // why it has no time, in words; empty: it is right, and timed
  std::vector<double> times;            // ns: the median of each of its processes
  std::vector<double> reference_times;  // ns: of the reference's, before and after them
  std::optional<double> ratio;          // the submission's time over the reference's
};
void to_json(nlohmann::json& json, const timed_submission& timed);

// Whether a reference with these medians (ns) may be compared with: they lie within a tenth of each other.
[[nodiscard]] bool is_steady(const std::vector<double>& reference_times);

// The ratio by which points are counted: the fastest of the submission's medians over the slowest of the
// reference's, so that noise counts for the student.
[[nodiscard]] double ratio_of(const std::vector<double>& times, const std::vector<double>& reference_times);

class time_against_reference {
 public:
  // Proves and times the reference once. Throws environment_error with the reason where it is not right, does
  // not fit, or cannot be run.
  time_against_reference(stage_worker reference, timing_terms terms);

  // Puts the submission through the verifier at the terms' parameters and times it: reference, submission,
  // submission, reference, each in a process of its own. Of what a submission's process says only its
  // own result is believed: references are those that the reference's has worked out. Throws
  // environment_error where the reference fails, or does not keep to one time in three attempts.
  [[nodiscard]] timed_submission time(const stage_worker& submitted) const;

  // ns: of the constructor's process.
  [[nodiscard]] double reference_time() const { return reference_time_; }

 private:
  [[nodiscard]] answer_record ask(const stage_worker& of, nlohmann::json message,
                                  std::chrono::milliseconds patience) const;
  // The verification by the track's quick trials, as `lab check` makes it.
  [[nodiscard]] result_row verified(const stage_worker& of, std::chrono::milliseconds patience) const;
  [[nodiscard]] result_row measured(const stage_worker& of, const verification_record& proved,
                                    std::chrono::milliseconds patience,
                                    answer_record* answer = nullptr) const;
  [[nodiscard]] double reference_again() const;

  stage_worker reference_;
  timing_terms terms_;
  std::map<std::string, std::string> references_;  // what the track's reference has worked out
  std::optional<verification_record> proved_;      // the reference's
  double reference_time_ = 0;
  std::chrono::milliseconds patience_{};  // with a submission
};

}  // namespace lab::front
