#include "harness/front/selection/patterns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <numeric>

#include "harness/front/process/errors.hpp"
#include "harness/front/selection/verb_names.hpp"

namespace lab::front {
namespace {

// A directory name completed by a shell ends with a slash.
std::string without_trailing_slash(std::string text) {
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// Levenshtein's distance: the fewest insertions, deletions and replacements that turn one text into the
// other.
std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> all_names(const std::vector<track_description>& tracks) {
  std::vector<std::string> names;
  for (const auto& track : tracks) {
    names.push_back(track.name);
    for (const auto& stage : track.stages) names.push_back(stage.path);
  }
  return names;
}

usage_error nothing_matches(const std::vector<track_description>& tracks, const std::string& pattern) {
  if (!verb_summary(pattern).empty()) {
    return usage_error(fmt::format("no stage matches '{}': {} is a verb, and comes first: lab {}", pattern,
                                   pattern, pattern));
  }
  const auto suggestions = near_names(pattern, all_names(tracks));
  if (suggestions.empty()) {
    return usage_error(fmt::format("no stage matches '{}'; 'lab list' shows what there is", pattern));
  }
  return usage_error(
      fmt::format("no stage matches '{}'; did you mean {}?", pattern, fmt::join(suggestions, " or ")));
}

}  // namespace

bool matches(const std::string& pattern, const std::string& track, const std::string& stage_path) {
  const std::string wanted = without_trailing_slash(pattern);
  // Without FNM_PATHNAME a star spans slashes, so that "*cub*" finds every stage with cub in its path.
  return fnmatch(wanted.c_str(), stage_path.c_str(), 0) == 0 ||
         fnmatch(wanted.c_str(), track.c_str(), 0) == 0;
}

std::vector<track_selection> select_stages(const std::vector<track_description>& tracks,
                                           const std::vector<std::string>& patterns) {
  std::vector<bool> pattern_matched(patterns.size(), false);
  std::vector<track_selection> selections;
  for (const auto& track : tracks) {
    track_selection selection{&track, {}};
    for (const auto& stage : track.stages) {
      bool selected = patterns.empty();
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!matches(patterns[i], track.name, stage.path)) continue;
        pattern_matched[i] = true;
        selected = true;
      }
      if (selected) selection.stages.push_back(&stage);
    }
    if (!selection.stages.empty()) selections.push_back(std::move(selection));
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!pattern_matched[i]) throw nothing_matches(tracks, patterns[i]);
  }
  if (selections.empty()) throw environment_error("the worker knows no stages");
  return selections;
}

stage_selection select_one_stage(const std::vector<track_description>& tracks, const std::string& name) {
  const std::string wanted = without_trailing_slash(name);
  std::vector<stage_selection> beginnings;
  std::vector<stage_selection> pattern_matches;
  for (const auto& track : tracks) {
    for (const auto& stage : track.stages) {
      if (stage.path == wanted) return {&track, &stage};
      if (!wanted.empty() && stage.path.rfind(wanted, 0) == 0) beginnings.push_back({&track, &stage});
      if (matches(wanted, track.name, stage.path)) pattern_matches.push_back({&track, &stage});
    }
  }
  const auto& found = beginnings.empty() ? pattern_matches : beginnings;
  if (found.empty()) throw nothing_matches(tracks, name);
  if (found.size() > 1) {
    std::vector<std::string> paths;
    for (const auto& one : found) paths.push_back(one.stage->path);
    throw usage_error(fmt::format("'{}' means more than one stage: {}", name, fmt::join(paths, ", ")));
  }
  return found.front();
}

std::vector<std::string> near_names(const std::string& name, const std::vector<std::string>& names) {
  struct candidate {
    std::size_t distance;
    std::string name;
  };
  std::vector<candidate> candidates;
  for (const auto& other : names) {
    const bool contained = name.size() >= 2 && other.find(name) != std::string::npos;
    const std::size_t distance = contained ? 1 : edit_distance(name, other);
    // Two letters that changed places, or a third of the letters, may be wrong; more than that is another
    // name.
    if (distance <= std::max<std::size_t>(2, std::max(name.size(), other.size()) / 3) &&
        distance < name.size()) {
      candidates.push_back({distance, other});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const candidate& a, const candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> result;
  for (const auto& one : candidates) {
    if (result.size() < 3) result.push_back(one.name);
  }
  return result;
}

}  // namespace lab::front
