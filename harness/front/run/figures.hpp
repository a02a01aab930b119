// What a ladder shows of counters: a few figures that a kernel's idea changes, whatever the size of its
// input.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/records.hpp"

namespace lab::front {

// One column of a ladder of counters.
struct figure_column {
  const char* name;     // in JSON
  const char* heading;  // in a table
  const char* meaning;
};
inline constexpr std::array<figure_column, 5> figure_columns{
    {{"bytes_per_output", "bytes/output",
      "bytes that lanes and bulk copies load from global memory, for each output"},
     {"sectors_per_request", "sectors/request",
      "sectors of 32 bytes for each load or store of a warp: 4 where 32 lanes have 4 bytes each, side by "
      "side"},
     {"wavefronts_per_access", "wavefronts/shared access",
      "passes through the banks for each access of a warp to shared memory: 1 where there is no conflict"},
     {"barriers_per_block", "barriers/block", "barriers that a block passes"},
     {"atomics_per_block", "atomics/block", "atomic operations of a block's lanes"}}};

// Of one stage, in the order of figure_columns; nothing where the kernels do no such thing, or where the
// device does not count it.
using stage_figures = std::array<std::optional<double>, figure_columns.size()>;

// The counters that figures are made of, by Nsight Compute's names.
[[nodiscard]] std::vector<std::string> figure_metrics();

// Of a run of the stage's kernels with so many outputs.
[[nodiscard]] stage_figures figures_of(const profile_record& profile, std::int64_t outputs);

// {"bytes_per_output": 8, ...}; null for a figure that is not there.
[[nodiscard]] nlohmann::json figures_json(const stage_figures& figures);

}  // namespace lab::front
