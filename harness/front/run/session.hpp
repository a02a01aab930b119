// Measuring: the requests that a ladder takes, the rows they give, and the file that keeps them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/counters/counters_table.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/temporary_folder.hpp"
#include "harness/front/run/proofs.hpp"
#include "harness/front/run/results.hpp"
#include "harness/front/selection/parameters.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {

enum class l2_choice { unset, cold, warm, both };

// What the verbs that run stages are asked for.
struct run_options {
  std::vector<std::string> patterns;
  std::string device;  // empty: cuda:0 where there is one, else the emulator
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;  // of the verb, to suggest one that was misspelt
  std::uint64_t seed = 1;
  std::uint64_t trial_seed = 0;  // of further inputs that are tried; below 2^53
  l2_choice l2 = l2_choice::unset;
  sampling_options sampling;
  std::int64_t repeat = 1;                // processes that measure each row
  int processes = 1;                      // at once, with a GPU each
  std::string launcher = "mpirun";        // of several, with its options
  std::optional<double> timeout_seconds;  // for one answer; by default generous
  bool thorough = true;                   // verify alone
  std::string json_path;                  // empty: no file
  std::string images_path;                // a directory for what the stages draw; empty: nothing is drawn
  bool host_times = false;                // on the emulator: this host's times instead of counters
  bool counters = false;                  // on a GPU: counters instead of times
  bool prove = false;                     // prove every stage anew
};

// Seeds of a soak, both ends included.
struct seed_range {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

// A ladder that is to be measured.
struct ladder_job {
  track_selection selection;
  parameter_values parameters;
  cache_state l2 = cache_state::none;
};

class session {
 public:
  // Connects to the device, and refuses what is wrong in the options before anything runs: throws usage_error
  // or environment_error. With `one_by_one` the tracks are opened later, and only the first of them is built
  // by now.
  session(const std::string& verb, const run_options& options, bool whole_tracks = false,
          bool one_by_one = false);

  // The names of the selected tracks, and one of them made the only one in selections(): it is described once
  // it is built. Throws as the constructor does.
  [[nodiscard]] std::vector<std::string> tracks() const;
  void open(const std::string& track);

  [[nodiscard]] const std::string& note() const { return connection_.note; }
  [[nodiscard]] bool on_emulator() const { return is_emulator(*connection_.description.device); }
  // Whether rows show figures of counters, and no times.
  [[nodiscard]] bool counts() const { return results.counts; }
  [[nodiscard]] const std::vector<track_selection>& selections() const { return selections_; }

  // Every combination of parameters and cache states for every selected track.
  [[nodiscard]] std::vector<ladder_job> jobs() const;

  // An empty group for the job, appended to the results.
  result_group& begin_group(const ladder_job& job);

  // The time of an empty kernel; not on the emulator, whose launches say nothing of a GPU's.
  void measure_floor();

  // Adds one ceiling to the group, or says why it has none. Not on the emulator.
  void measure_ceiling(const ladder_job& job, result_group& group);

  // Adds one row to the group and saves the results. Where the group has the row already, this is another
  // process's timing of it: the row keeps all (see add_process). One that is not ok stays as it is.
  // Throws usage_error or environment_error when the worker says that going on makes no sense.
  result_row& measure(const ladder_job& job, const stage_description& stage, result_group& group);
  result_row& verify(const stage_description& stage, result_group& group);
  // Adds the row of a ladder of counters, of a stage that is proved: right in both orders of a block's
  // threads, and free of races. On a GPU `measured` asks Nsight Compute.
  using gpu_counter =
      std::function<stage_profile(const stage_description& stage, const parameter_values& parameters)>;
  result_row& count(const ladder_job& job, const stage_description& stage, result_group& group,
                    const gpu_counter& measured);
  // The command that starts the stage's worker.
  [[nodiscard]] std::vector<std::string> worker_command(const stage_description& stage) const {
    return connection_.workers.command({{"stage", stage.path}});
  }

  // Writes what each stage draws, and its difference from what is right, as PNG into the directory, and says
  // so. A track that draws nothing is left alone.
  void draw(const ladder_job& job, const std::string& directory);

  // Compares the rows with the last ceiling, and saves them.
  void end_group(result_group& group);

  // Writes the results file, if one was asked for.
  void save() const;

  run_results results;

 private:
  // The process that `next` is sent to is started as soon as it does not disturb this one. A request that is
  // whole is sent to it when the timing of this one is over.
  answer_record request(const worker_set& workers, const nlohmann::json& message, const std::string& status,
                        const nlohmann::json& next = nullptr);
  // The message with the stage, the seeds, and what references of its track worked out before.
  nlohmann::json about(const stage_description& stage, nlohmann::json message);
  std::map<std::string, std::string>& references_of(const stage_description& stage,
                                                    const nlohmann::json& message);
  answer_record request_about(const worker_set& workers, const stage_description& stage,
                              const nlohmann::json& message, const nlohmann::json& next = nullptr);
  // The request for a row of the job, of a stage that is proved.
  [[nodiscard]] nlohmann::json measurement(const ladder_job& job, const proof& of) const;
  // Whether the stage is proved already: in this run, or by an earlier proof, where no new one is needed.
  bool is_proved(const stage_description& stage);
  // Sees to it that the stage is proved, by an earlier proof or one that is made now. The row of a stage that
  // cannot be: it fails, or is an expected failure; nothing of any other.
  std::optional<result_row> prove(const stage_description& stage);
  // What makes a proof: the stage's row, after everything that `verify` asks.
  result_row proved_row(const stage_description& stage);
  // Whether its proof asks the observed kernels, too: the emulator's.
  [[nodiscard]] bool is_observed(const stage_description& stage) const;
  // The row of a stage whose observed kernels show a fault; nothing of any other.
  std::optional<result_row> observe(const stage_description& stage);
  void check_selections();
  // Counts a row for each stage and set of parameters of what is selected now, instead of one for each stage.
  void count_sweeps();
  [[nodiscard]] const std::vector<track_description>& known_names() const;
  // "[3/17] track/02_tree"
  [[nodiscard]] std::string progress_text(const stage_description& stage) const;
  result_row& add_row(result_row row, result_group& group);

  run_options options_;
  status_line status_;
  connection connection_;
  stage_selector select_;
  std::deque<worker_description> opened_;  // what `selections_` and rows point into
  std::vector<track_selection> selections_;
  std::optional<temporary_folder> turns_;  // of a GPU's processes (harness/turns.hpp)
  std::unique_ptr<worker> ahead_;          // started before it is asked for
  worker_set observed_{backend::observed};
  worker_set plain_;  // that prove: the connection's own, but where that counts
  // What references worked out, of each track and operation.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>> references_;
  std::map<std::string, std::optional<result_row>> refused_;  // stages that prove() was asked for in this run
  std::map<std::string, proof> proved_;                       // and those of them that are proved
  proof_store proofs_;
  source_digests digests_;
  struct measured_ceiling {
    nlohmann::json request, content;
  };
  std::optional<measured_ceiling> last_ceiling_;  // behind which no stage was measured
  std::size_t all_rows_ = 0;                      // of the whole run
};

// The files in `directory` that a stage's image and its difference from what is right are written to.
[[nodiscard]] std::vector<std::string> images_of(const ladder_job& job, const stage_description& stage,
                                                 const std::string& directory);

// What an answer that is not ok says, memory counted in units that people read.
[[nodiscard]] std::string answer_text(const answer_record& answer);

// How an expected failure failed; empty where the answer is of a stage that is right.
[[nodiscard]] std::string expected_failure_in(const answer_record& answer);

// The row that an answer about a stage means. Throws usage_error or environment_error for an answer that says
// that the request or the machine is at fault, unless only this row is concerned.
[[nodiscard]] result_row row_from(const stage_description& stage, const answer_record& answer, bool timed);

}  // namespace lab::front
