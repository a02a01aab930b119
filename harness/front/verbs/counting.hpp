// One stage's counters: counted by Nsight Compute, or modelled by the worker whose kernels are observed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/selection/parameters.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {

struct profile_options {
  std::vector<std::string> patterns;
  std::string device;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::vector<std::string> metrics;  // empty: those that the stage's page speaks of
  std::string output;                // of Nsight Compute; empty: the stage's name, in the current directory
  bool source = false;               // show the source with the counters of each line
  bool occupancy = false;            // say what limits the blocks on a multiprocessor
  bool check = false;                // test the stages' claims about counters instead of showing the counters
  bool full = false;                 // all that Nsight Compute has, and the sources, in the report
  bool bench_size = false;           // the sizes of `lab run` instead of the emulator's
  std::string baseline;              // a second stage, to compare with; empty: none
  bool predict = false;              // ask for the counters of one stage first
  std::string answers;               // the file that answers; empty: the terminal does
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};

// Where Nsight Compute's report of a stage is kept.
[[nodiscard]] std::string report_path(const profile_options& options, const std::string& stage);

// What Nsight Compute counts when nobody says what: the common counters, those that the stage's page speaks
// of, and those that it or another stage of its track claims.
[[nodiscard]] std::vector<std::string> wanted_metrics(const track_selection& of,
                                                      const stage_description& stage,
                                                      const claims_by_stage& claims);

// Runs Nsight Compute over one run of the stage by the command `worker`. Every launch is a line of its table;
// a kernel's launches are added up. Throws usage_error or environment_error.
[[nodiscard]] stage_profile measure_counters(const profile_options& options,
                                             const std::vector<std::string>& worker,
                                             const std::vector<std::string>& wanted,
                                             const stage_description& stage,
                                             const parameter_values& parameters);

// Asks the worker whose kernels are observed. Throws environment_error.
[[nodiscard]] stage_profile model_counters(const profile_options& options, const worker_set& observed,
                                           const stage_description& stage,
                                           const parameter_values& parameters);

}  // namespace lab::front
