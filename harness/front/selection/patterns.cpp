#include "harness/front/selection/patterns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "harness/front/process/errors.hpp"
#include "harness/front/selection/verb_names.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

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

// Without FNM_PATHNAME a star spans slashes, so that "*cub*" finds every stage with cub in its path.
// `stage` is such a path: "track/02_name".
bool matches(const std::string& pattern, const std::string& track, const std::string& stage) {
  return fnmatch(pattern.c_str(), stage.c_str(), 0) == 0 || fnmatch(pattern.c_str(), track.c_str(), 0) == 0;
}

// The first stage that the pattern names and that has a page without a source, as in a student edition; empty
// where there is none.
std::string stage_without_source(const std::string& pattern) {
  std::string first;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(stages_directory(), error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& folder = entry->path();
    if (entry.depth() != 1 || !fs::exists(folder / "README.md", error) ||
        fs::exists(folder / "stage.cu", error))
      continue;
    const std::string track = folder.parent_path().filename();
    const std::string stage = track + "/" + folder.filename().string();
    const bool is_named = matches(pattern, track, stage) ||
                          (pattern.find('/') != std::string::npos && matches(pattern + "*", track, stage));
    if (is_named && (first.empty() || stage < first)) first = stage;
  }
  return first;
}

usage_error nothing_matches(const std::vector<track_description>& tracks, const std::string& pattern) {
  if (!verb_summary(pattern).empty()) {
    return usage_error(fmt::format("no stage matches '{}': {} is a verb, and comes first: lab {}", pattern,
                                   pattern, pattern));
  }
  if (const std::string stage = stage_without_source(without_trailing_slash(pattern)); !stage.empty()) {
    return usage_error(
        fs::exists(stages_directory() / stage / "exercise.cu")
            ? fmt::format(
                  "no stage matches '{}': {} is an exercise, and yours to write: lab new --exercise {}",
                  pattern, stage, stage)
            : fmt::format("no stage matches '{}': stages/{} has no stage.cu, which a student edition leaves "
                          "out where it "
                          "holds a solution",
                          pattern, stage));
  }
  const auto suggestions = near_names(pattern, all_names(tracks));
  if (suggestions.empty()) {
    return usage_error(fmt::format(
        "no stage matches '{}'; 'lab list' shows what there is, and 'lab new --list' the exercises",
        pattern));
  }
  return usage_error(
      fmt::format("no stage matches '{}'; did you mean {}?", pattern, fmt::join(suggestions, " or ")));
}

// The pattern, or one of what begins with it where nothing is called so: "track/02" means "track/02_*", and
// where there is none of these "track/02*".
std::string completed(const std::vector<track_description>& tracks, const std::string& text) {
  const std::string pattern = without_trailing_slash(text);
  const auto names_a_stage = [&](const std::string& wanted) {
    return std::any_of(tracks.begin(), tracks.end(), [&](const auto& track) {
      return std::any_of(track.stages.begin(), track.stages.end(),
                         [&](const auto& stage) { return matches(wanted, track.name, stage.path); });
    });
  };
  if (names_a_stage(pattern)) return pattern;
  if (pattern.find('/') == std::string::npos) throw nothing_matches(tracks, text);
  for (const char* const rest : {"_*", "*"}) {
    if (names_a_stage(pattern + rest)) return pattern + rest;
  }
  throw nothing_matches(tracks, text);
}

}  // namespace

fs::path stages_directory() {
  const char* const directory = std::getenv("LAB_STAGES");
  if (directory != nullptr && *directory != '\0') return fs::absolute(directory);
  return fs::path(LAB_SOURCE_ROOT) / "stages";
}

std::vector<track_selection> select_stages(const std::vector<track_description>& tracks,
                                           std::vector<std::string> patterns) {
  for (std::string& pattern : patterns) pattern = completed(tracks, pattern);
  std::vector<track_selection> selections;
  for (const auto& track : tracks) {
    track_selection selection{&track, {}};
    for (const auto& stage : track.stages) {
      const auto is_match = [&](const std::string& pattern) {
        return matches(pattern, track.name, stage.path);
      };
      if (patterns.empty() || std::any_of(patterns.begin(), patterns.end(), is_match))
        selection.stages.push_back(&stage);
    }
    if (!selection.stages.empty()) selections.push_back(std::move(selection));
  }
  if (selections.empty()) throw environment_error("the worker knows no stages");
  return selections;
}

stage_selection select_one_stage(const std::vector<track_description>& tracks, const std::string& name) {
  const std::vector<track_selection> found = select_stages(tracks, {name});
  std::vector<std::string> paths;
  for (const auto& [track, stages] : found) {
    for (const auto* stage : stages) paths.push_back(stage->path);
  }
  if (paths.size() > 1)
    throw usage_error(fmt::format("'{}' means more than one stage: {}", name, fmt::join(paths, ", ")));
  return {found[0].track, found[0].stages[0]};
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
