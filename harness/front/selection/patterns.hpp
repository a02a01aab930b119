// Which stages a person means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/protocol.hpp"

namespace lab::front {

// Where the sources of stages are: the directory that LAB_STAGES names, or stages/ of the lab's own sources.
[[nodiscard]] std::filesystem::path stages_directory();

// A track and those of its stages that were asked for, in the order of the ladder.
struct track_selection {
  const track_description* track = nullptr;
  std::vector<const stage_description*> stages;
};

// The stages that at least one pattern matches; every stage when there is no pattern. A shell-style pattern
// names stages by their paths ("track/02_*", "*/*cub*"), or whole tracks ("track"); one with a slash that
// names nothing is a beginning of paths ("track/02": of "track/02_*" before "track/02b_*"). The result points
// into `tracks`. Throws usage_error, with names that are near or the exercise that a stage is, when a pattern
// matches nothing.
[[nodiscard]] std::vector<track_selection> select_stages(const std::vector<track_description>& tracks,
                                                         std::vector<std::string> patterns);

struct stage_selection {
  const track_description* track = nullptr;
  const stage_description* stage = nullptr;
};

// The one stage that a pattern selects. Throws usage_error when there is none or more than one.
[[nodiscard]] stage_selection select_one_stage(const std::vector<track_description>& tracks,
                                               const std::string& name);

// Those of `names` that are near to `name`, the nearest first, at most three.
[[nodiscard]] std::vector<std::string> near_names(const std::string& name,
                                                  const std::vector<std::string>& names);

}  // namespace lab::front
