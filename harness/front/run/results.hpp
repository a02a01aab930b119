// What a run found out, and its JSON ("kernel-lab-results", described in docs/results-schema.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/run/claim.hpp"
#include "harness/front/run/figures.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// An expected failure is wrong on purpose: it failed, and as it says.
enum class row_status { ok, failed, skipped, expected_failure };
inline constexpr const char* row_status_names[] = {"ok", "failed", "skipped", "expected_failure"};

// One stage with one set of parameters. A row that is not ok has no timing: a wrong result has no speed.
struct result_row {
  std::string stage;  // its path
  bool library = false;
  std::string idea;
  row_status status = row_status::ok;
  std::string message;  // why it failed or was skipped, or how the expected failure fails
  std::optional<verification_record> verification;
  std::optional<failure_record>
      failure;  // of a failed row or an expected failure, from the worker or the front
  std::optional<stage_figures> figures;  // of its counters, where the ladder shows them
  std::string proof;  // where its proof comes from ("recorded", "kept", "made") and when; empty: it has none
  std::optional<timing_record> timing;
  // Of each process that measured the row, in the order of their starts, where there are several; `timing` is
  // then that of the one with the middle median (the lower of two).
  std::vector<timing_record> processes;
  // Ratios of medians, each absent where one of the two is, or where their noise decides it.
  std::optional<double> speed_of_light;  // ceiling / this
  std::optional<double> over_previous;   // the timed stage before it, libraries aside / this
  std::optional<double> over_first;      // the first timed stage, libraries aside / this
  std::optional<double> over_library;    // the fastest library / this
  std::vector<std::string> undecided;    // the names of those that are absent for their noise
  std::string sources;                   // digest of what the stage was compiled from; empty: not known
};

// One ladder: the stages of a track with the same parameters and the same state of the cache.
struct result_group {
  std::string track;
  std::string title;
  std::vector<std::pair<std::string, parameter_value>> parameters;  // in the track's order
  cache_state l2 = cache_state::none;
  std::vector<ceiling_record> ceilings;  // before the stages, and after
  std::string ceiling_problem;           // why there is no ceiling, where one was asked for
  std::vector<result_row> rows;
};

enum class claim_status { holds, broken, not_tested };
inline constexpr const char* claim_status_names[] = {"holds", "broken", "not_tested"};

// What became of one claim of a stage's.
struct claim_verdict {
  std::string stage;                       // its path
  std::optional<front::claim> claim = {};  // nothing: the stage's claims cannot be read
  claim_status status = claim_status::not_tested;
  std::optional<double> figure;  // what was found, where something was
  bool modelled = false;
  std::string why;  // it was not tested; or broke without a figure
};

struct run_results {
  std::string verb;
  bool counts = false;  // rows have figures of counters, and no times
  std::string created;  // UTC, ISO 8601
  bool complete = false;
  std::uint64_t seed = 0;
  std::uint64_t trial_seed = 0;  // in JSON among the options
  std::optional<device_record> device;
  build_record kernels;
  std::string sources;  // digest of all sources that were compiled; empty: not known
  nlohmann::json options = nlohmann::json::object();
  std::optional<timing_record> floor;
  std::vector<result_group> groups;
  std::optional<std::vector<claim_verdict>> claims;  // where they were to be tested
};

// Makes `row`, which a further process has measured, the successor of `before`, the same row by the processes
// before: it has the timings of all. Their middle one is unstable where the medians differ by more than
// unstable_spread. A row that is not ok has no timing and is left as it is.
void add_process(const result_row& before, result_row& row);

// The largest median of the row's processes over the smallest, less one; 0 where one process measured it.
[[nodiscard]] double process_range(const result_row& row);

// The fastest ceiling of bytes that was measured, or of operations; null where there is none.
[[nodiscard]] const ceiling_record* roof(const result_group& group, bool of_operations);

// The speed of light: of the two roofs the one that takes longer.
[[nodiscard]] const ceiling_record* speed_of_light(const result_group& group);

// Works the ratios of all rows out anew.
void compare_rows(result_group& group);

// A row faster than the speed of light, by more than the noise of the two timings explains, fails and loses
// its timing. To be called once the last ceiling of the group is known.
void reject_faster_than_light(result_group& group);

struct row_counts {
  int ok = 0;
  int failed = 0;
  int skipped = 0;
  int expected_failures = 0;  // that failed as they say
};
[[nodiscard]] row_counts count_rows(const run_results& results);

// 0, 1 when a row failed, 2 when nothing ran at all.
[[nodiscard]] int exit_code(const run_results& results);

// "2025-01-31T12:00:00Z"
[[nodiscard]] std::string utc_now();

void to_json(nlohmann::json& json, const result_row& row);
void to_json(nlohmann::json& json, const result_group& group);
void to_json(nlohmann::json& json, const claim_verdict& verdict);
void to_json(nlohmann::json& json, const run_results& results);

}  // namespace lab::front
