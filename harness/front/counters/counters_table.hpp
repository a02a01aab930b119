// Counters as a person reads them: metrics as rows and stages as columns, or beside the lines of the source.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/counters/nsight_compute.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// What was found out about one stage.
struct stage_profile {
  std::string stage;             // its path
  std::string skipped;           // why it was not run; else empty
  std::string failure;           // what was wrong with it; else empty
  std::string expected_failure;  // of an expected failure: how it failed, as it says; else empty
  profile_record profile;
  std::int64_t outputs = 0;       // that the run computed, where that is known
  std::string report;             // Nsight Compute's file, where there is one
  std::vector<counter> counters;  // its table, a line for each metric of each launch
  // By file and line, how its accesses were counted: shown beside them.
  std::map<std::pair<std::string, std::int64_t>, std::string> accesses;
};
void to_json(nlohmann::json& json, const stage_profile& stage);

// Whole numbers whole; others with three digits after the point.
[[nodiscard]] std::string plain_figure(double value);

// The launches of Nsight Compute's table, each kernel's added up (a ratio: its mean).
[[nodiscard]] profile_record profile_of(const std::vector<counter>& counters);

// A metric of all kernels of the stage together: a sum, or of ratios the mean. Nothing where no kernel has
// it.
[[nodiscard]] std::optional<double> metric_of(const profile_record& profile, const std::string& metric);

// `metrics` as rows; when empty, all that are not 0 everywhere.
[[nodiscard]] std::string counters_table(const std::vector<stage_profile>& stages,
                                         const std::vector<std::string>& metrics);

// Each stage's source, with the counters of each line that has any in front of it.
[[nodiscard]] std::string annotated_sources(const std::vector<stage_profile>& stages);

}  // namespace lab::front
