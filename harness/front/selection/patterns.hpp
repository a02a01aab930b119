// Which stages a person means.
#pragma once

#include <string>
#include <vector>

#include "harness/protocol.hpp"

namespace lab::front {

// A track and those of its stages that were asked for, in the order of the ladder.
struct track_selection {
  const track_description* track = nullptr;
  std::vector<const stage_description*> stages;
};

// A shell-style pattern names stages by their paths ("track/02_*", "*/*cub*"), or whole tracks
// ("track").
[[nodiscard]] bool matches(const std::string& pattern, const std::string& track,
                           const std::string& stage_path);

// The stages that at least one pattern matches; every stage when there is no pattern. The result points into
// `tracks`. Throws usage_error, with names that are near, when a pattern matches nothing.
[[nodiscard]] std::vector<track_selection> select_stages(const std::vector<track_description>& tracks,
                                                         const std::vector<std::string>& patterns);

struct stage_selection {
  const track_description* track = nullptr;
  const stage_description* stage = nullptr;
};

// The one stage that `name` means: its path, a beginning that no other path shares, or a pattern that matches
// only it. Throws usage_error when there is none or more than one.
[[nodiscard]] stage_selection select_one_stage(const std::vector<track_description>& tracks,
                                               const std::string& name);

// Those of `names` that are near to `name`, the nearest first, at most three.
[[nodiscard]] std::vector<std::string> near_names(const std::string& name,
                                                  const std::vector<std::string>& names);

}  // namespace lab::front
