// The verifier: no stage is timed before it has passed, and none keeps its time when it fails afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/track.hpp"
#include "harness/device/verify/checked_launch.hpp"
#include "harness/device/verify/runnable.hpp"

namespace lab {

// At most so much of a device does the context of another process take.
inline constexpr std::size_t bytes_of_a_context = std::size_t{2} << 30;

// The seeds of one verification: the one that every run has in common, and one drawn at random, so that no
// answer can be known beforehand.
struct trial_seeds {
  std::uint64_t fixed = 1;
  std::uint64_t drawn = 2;
};

// Hears now and then how far a proof has come.
using progress_sink = std::function<void(const std::string& what)>;

// What stands between a stage and its tick; `run`, `bench` and `verify` ask the same. docs/measuring.md says
// of each step what it tries and what it finds. (`thorough` false is for tests of the harness, and for a
// first look.) An expected failure must fail a trial in a way that it says: then the record has not passed
// and is `failed_as_expected`. One that is right, or fails otherwise, has failed.
class verifier {
 public:
  verifier(const stage_entry& stage, trial_seeds seeds, cudaStream_t stream, progress_sink progress = {});

  // Each returns whether the stage has passed so far. What was found stands in record().
  bool trials(bool thorough);
  bool at(const parameter_values& parameters);
  // What is left to ask of a stage that is proved before it is timed: one input whose results are exact.
  bool exact_at(const parameter_values& parameters);
  // One launch more, of a workload that is there. `remark` is added to what a failure says of the case.
  bool check(workload& work, const parameter_values& parameters, const launch_setup& setup,
             const char* remark = "");
  // Tells that it is at work, at most once a second: the phase, and `remark`.
  void tell(const char* remark = "");
  // Of a launch that was compared in full elsewhere.
  void note_errors(const check_result& result);
  void set_phase(std::string phase) { phase_ = std::move(phase); }
  // Takes a failure found elsewhere.
  bool fail(failure_record failure, const parameter_values& parameters, const launch_setup& setup,
            const char* remark = "");

  [[nodiscard]] const verification_record& record() const { return record_; }
  [[nodiscard]] verification_record& record() { return record_; }

 private:
  struct trait_evidence {
    bool tried = false;
    bool shown = false;
  };

  void try_track_trials();
  void again();
  void require_enough_trials();
  [[nodiscard]] std::vector<std::string> refusals(const std::vector<trial>& all) const;
  bool fail_absurd(const std::vector<trial>& all, const std::vector<std::string>& refused);
  void tell_unwritten(workload& work, failure_record& failure, const launch_setup& setup) const;
  [[nodiscard]] check_result launch_renewed(workload& work, std::uint64_t seed, bool reversed) const;
  void check_left_over(workload& work, const trial& one);
  [[nodiscard]] std::unique_ptr<workload> workload_if_it_fits(const parameter_values& parameters) const;
  void try_one(const trial& one, std::size_t index);
  void check_one_after_another(workload& work, const trial& one);
  void check_in_a_row(workload& work, const trial& one);
  void try_beyond(const parameter_values& measured, double seconds);
  bool try_all(workload& work, const std::vector<trial>& all);
  void launch_at(const parameter_values& parameters);
  void look_for_other_bits();
  void note_kept_memory();
  void note_traits(const check_result& result, const parameter_values& parameters, pattern input);
  void check_same_bits(workload& work, const trial& one, launch_setup setup);
  void judge_traits();
  void undemonstrated(const char* trait, const std::string& found);
  void add(const check_result& result);
  const stage_entry& stage_;
  const track& track_;
  trial_seeds seeds_;
  cudaStream_t stream_;
  progress_sink progress_;
  std::string phase_;
  std::chrono::steady_clock::time_point told_;
  block_order order_;
  verification_record record_;
  trait_evidence drift_;
  trait_evidence leaks_;
  trait_evidence other_bits_;
  bool forgot_ = false;        // an output that lacked old inputs
  int waits_for_cleared_ = 0;  // launches whose blocks found no answer of the launch before
  std::string first_refusal_;
  std::size_t too_large_ = 0;  // trials beyond the device's memory
  std::size_t kept_before_;  // device memory that is neither free nor the lab's, before anything is launched
  std::optional<std::size_t> kept_;  // more than that between launches: on a GPU the least that was seen
  bool thorough_ = false;
  bool tried_capture_ = false;
};

// All trials, and each of `measured` parameters.
verification_record verify(const stage_entry& stage, trial_seeds seeds, bool thorough, cudaStream_t stream,
                           const std::vector<parameter_values>& measured = {}, progress_sink progress = {});

// The parameters that are measured by default: every combination of the track's bench defaults.
std::vector<parameter_values> default_parameters(const track_description& track);

}  // namespace lab
