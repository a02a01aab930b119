#include "harness/front/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace lab {

std::string claim_text(const claim& claim) {
  constexpr const char* signs[] = {"=", "<=", ">="};
  std::string text = claim.metric;
  if (!claim.per.empty()) text += " / " + claim.per;
  if (claim.over_previous) text += ", over the previous stage's,";
  text += fmt::format(" {} {}", signs[static_cast<int>(claim.holds)], claim.value);
  std::string where;
  for (const auto& [name, value] : claim.at)
    where += fmt::format("{}{} = {}", where.empty() ? "" : ", ", name, value);
  if (!claim.device.empty()) where += (where.empty() ? "" : ", ") + claim.device;
  return where.empty() ? text : text + " (" + where + ")";
}

bool holds(const claim& claim, double found) {
  switch (claim.holds) {
    case relation::equal:
      return std::abs(found - claim.value) <= 1e-9 * std::abs(claim.value);
    case relation::at_most:
      return found <= claim.value;
    case relation::at_least:
      return found >= claim.value;
  }
  return false;
}

std::optional<double> claimed_figure(const claim& claim, const profile_record& profile,
                                     const profile_record& previous) {
  const auto figure_of = [&claim](const profile_record& from) -> std::optional<double> {
    const auto metric = metric_of(from, claim.metric);
    if (!metric || claim.per.empty()) return metric;
    const auto per = metric_of(from, claim.per);
    if (!per || *per == 0) return std::nullopt;
    return *metric / *per;
  };
  const auto figure = figure_of(profile);
  if (!figure || !claim.over_previous) return figure;
  const auto before = figure_of(previous);
  if (!before || *before == 0) return std::nullopt;
  return *figure / *before;
}

const stage_description* previous_stage(const track_description& track, const stage_description& stage) {
  const stage_description* previous = nullptr;
  for (const auto& other : track.stages) {
    if (other.path == stage.path) return previous;
    if (!other.library) previous = &other;
  }
  return nullptr;
}

bool check_counter_claims(const track_selection& selection, const parameter_values& parameters,
                          const counting& count) {
  bool all_hold = true;
  std::map<std::pair<std::string, parameter_values>, stage_profile> known;
  const auto profile_of_stage = [&](const stage_description& stage,
                                    const parameter_values& values) -> const stage_profile& {
    const auto found = known.find({stage.path, values});
    if (found != known.end()) return found->second;
    return known.emplace(std::pair(stage.path, values), count(stage, values)).first->second;
  };
  // A specimen's claim is that it fails.
  const auto check_specimen = [&](const stage_description& stage) {
    const stage_profile& own = profile_of_stage(stage, parameters);
    std::string verdict = "holds: " + own.announced;
    if (!own.skipped.empty()) {
      verdict = "not tested here: " + own.skipped;
    } else if (own.announced.empty()) {
      verdict = "BROKEN: " + own.failure;
      all_hold = false;
    }
    std::printf("%s: fails as announced (%s): %s\n", stage.path.c_str(), stage.specimen.c_str(),
                verdict.c_str());
    std::fflush(stdout);
  };
  for (const stage_description* stage : selection.stages) {
    if (!stage->specimen.empty()) check_specimen(*stage);
    for (const claim& claim : stage->claims) {
      if (claim.metric == speed_up_metric) continue;
      parameter_values values = parameters;
      for (const auto& [name, value] : claim.at) values[name] = value;
      const stage_profile& own = profile_of_stage(*stage, values);
      const stage_description* const before =
          claim.over_previous ? previous_stage(*selection.track, *stage) : nullptr;
      const profile_record previous =
          before != nullptr ? profile_of_stage(*before, values).profile : profile_record{};
      const auto figure = claimed_figure(claim, own.profile, previous);
      std::string verdict = "not tested here: ";
      if (!own.skipped.empty()) {
        verdict += own.skipped;
      } else if (!own.failure.empty()) {
        verdict = "BROKEN: the stage fails: " + own.failure;
        all_hold = false;
      } else if (!figure) {
        verdict += "there is no such figure";
      } else {
        const bool kept = holds(claim, *figure);
        verdict = fmt::format("{}: {}{}", kept ? "holds" : "BROKEN", *figure,
                              own.profile.modelled ? " modelled" : "");
        all_hold = all_hold && kept;
      }
      std::printf("%s: %s: %s\n", stage->path.c_str(), claim_text(claim).c_str(), verdict.c_str());
      std::fflush(stdout);
    }
  }
  return all_hold;
}

}  // namespace lab
