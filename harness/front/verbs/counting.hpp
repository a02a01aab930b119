// One stage's counters: counted by Nsight Compute, or modelled by the worker whose kernels are observed.
#pragma once

#include <string>
#include <vector>

#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {

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
