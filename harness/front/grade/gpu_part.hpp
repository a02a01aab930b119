// The points of a grade that a GPU gives: the submission built for it, right there, and timed against the
// lab's own stage.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/exercises/slot.hpp"
#include "harness/front/grade/confinement.hpp"
#include "harness/front/grade/time_against_reference.hpp"

namespace lab::front {

class gpu_part {
 public:
  // Connects to the device ("cuda:0"), and proves and times the exercise's stage within the walls that a
  // submission has: at the sizes of `lab run`, the last of several, and with the checkpoints' other
  // parameters. Throws usage_error and environment_error with the reason where that cannot be.
  gpu_part(const exercise& aims, const std::string& device, const confinement& walls, std::uint64_t seed,
           std::uint64_t trial_seed, std::optional<double> timeout_seconds);

  // Asked of a submission that has been found right by its own worker: what is wrong with what it makes of
  // hidden inputs; empty where nothing is.
  using also_right = std::function<std::string(const stage_worker& submitted)>;

  // Compiles the source (the lab's own, with the submission's part in it) on these terms, and compares.
  // Throws environment_error for what is not the submission's fault.
  // `shown_as` stands before what the status line tells.
  [[nodiscard]] timed_submission time(const std::string& source, const std::string& solution,
                                      const exercise_slot::submission_terms& terms, const also_right& right,
                                      const std::string& shown_as) const;

  // "cuda:0 (NVIDIA H200), n = 1000000000: 01_naive itself takes 4.740 ms"
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string track_;
  std::vector<std::string> reference_command_;  // without walls
  const confinement& walls_;
  std::unique_ptr<time_against_reference> comparison_;
  std::string text_;
};

// What a worker on a GPU may use: the harness in it holds inputs of gigabytes.
[[nodiscard]] process_limits gpu_worker_limits();

}  // namespace lab::front
