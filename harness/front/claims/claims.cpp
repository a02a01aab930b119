#include "harness/front/claims/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/front/counters/known_counters.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

claim_verdict not_tested(const stage_description& stage, const claim& claim, const std::string& why) {
  return {.stage = stage.path, .claim = claim, .why = why};
}

// Of shared memory a GPU counts a few wavefronts more: on an H100 1025 in one run and 1035 in another.
double excess_counted(const claim& claim, bool modelled) {
  constexpr double of_wavefronts = 0.03;
  return !modelled && claim.metric.find("wavefronts") != std::string::npos ? of_wavefronts : 0;
}

claim_verdict judged(const stage_description& stage, const claim& claim, double figure, bool modelled) {
  return {.stage = stage.path,
          .claim = claim,
          .status = holds(claim, figure, excess_counted(claim, modelled)) ? claim_status::holds
                                                                          : claim_status::broken,
          .figure = figure,
          .modelled = modelled};
}

claim_verdict failed(const stage_description& stage, const claim& claim, const std::string& failure) {
  return {.stage = stage.path,
          .claim = claim,
          .status = claim_status::broken,
          .why = "the stage fails: " + failure};
}

// Of a stage whose claims cannot be read.
claim_verdict unreadable(const stage_description& stage, const stage_claims& claims) {
  return {.stage = stage.path, .status = claim_status::broken, .why = claims.problem};
}

const result_row* row_of(const result_group& group, const std::string& stage) {
  const auto found = std::find_if(group.rows.begin(), group.rows.end(),
                                  [&](const result_row& row) { return row.stage == stage; });
  return found == group.rows.end() ? nullptr : &*found;
}

// Whether others are compared with it: a library stands beside the ladder, and an expected failure is wrong.
bool is_ranked(const stage_description& stage) {
  return !stage.library && stage.expected_failure.empty();
}

const stage_description* first_stage(const track_description& track) {
  const auto found = std::find_if(track.stages.begin(), track.stages.end(), is_ranked);
  return found == track.stages.end() ? nullptr : &*found;
}

const result_row* fastest_library(const result_group& group) {
  const result_row* fastest = nullptr;
  for (const result_row& row : group.rows) {
    if (!row.library || !row.timing) continue;
    if (fastest == nullptr || row.timing->median < fastest->timing->median) fastest = &row;
  }
  return fastest;
}

// Whether the group was run with the claim's parameters, and with the track's defaults for all others.
bool has_parameters(const result_group& group, const track_description& track, const claim& claim) {
  for (const auto& [name, value] : claim.at) {
    const auto found = std::find(group.parameters.begin(), group.parameters.end(), std::pair(name, value));
    if (found == group.parameters.end()) return false;
  }
  for (const auto& parameter : track.parameters) {
    if (claim.at.contains(parameter.name) || parameter.bench_defaults.empty()) continue;
    for (const auto& [name, value] : group.parameters) {
      const auto& defaults = parameter.bench_defaults;
      if (name == parameter.name && std::find(defaults.begin(), defaults.end(), value) == defaults.end())
        return false;
    }
  }
  return true;
}

std::string not_timed(const result_row& row) {
  return fmt::format("{} {}: {}", row.stage,
                     row.status == row_status::failed ? "failed in this run" : "was skipped", row.message);
}

// The median that the stage's own is compared with, or why there is none.
std::pair<const result_row*, std::string> base_of(const track_description& track,
                                                  const stage_description& stage, const claim& claim,
                                                  const result_group& group) {
  if (claim.metric == speed_up_over_library_metric) {
    const result_row* library = fastest_library(group);
    return {library, library == nullptr ? "no library of this track was timed in this run" : ""};
  }
  const stage_description* const base =
      claim.metric == speed_up_metric ? previous_stage(track, stage) : first_stage(track);
  if (base == nullptr) return {nullptr, "no stage stands before this one"};
  const result_row* row = row_of(group, base->path);
  if (row == nullptr) return {nullptr, base->path + " is not part of this run"};
  if (!row->timing) return {nullptr, not_timed(*row)};
  return {row, ""};
}

claim_verdict check_in_group(const track_description& track, const stage_description& stage,
                             const claim& claim, const result_group& group) {
  const result_row* own = row_of(group, stage.path);
  if (own == nullptr) return not_tested(stage, claim, "the run ended before this stage");
  if (own->status == row_status::failed) return failed(stage, claim, own->message);
  if (!own->timing) return not_tested(stage, claim, own->message);
  if (own->timing->unstable) return not_tested(stage, claim, "its timing is unstable");
  if (claim.metric == speed_of_light_metric) {
    if (own->speed_of_light) return judged(stage, claim, 100 * *own->speed_of_light, false);
    return not_tested(stage, claim,
                      group.ceiling_problem.empty() ? "the speed of light was not measured: too few bytes"
                                                    : group.ceiling_problem);
  }
  const auto [base, why_not] = base_of(track, stage, claim, group);
  if (base == nullptr) return not_tested(stage, claim, why_not);
  if (base->timing->unstable)
    return not_tested(stage, claim, "the timing of " + base->stage + " is unstable");
  return judged(stage, claim, base->timing->median / own->timing->median, false);
}

// Tests one track's claims about counters. What was counted once is not counted again.
class counter_claims {
 public:
  counter_claims(const track_selection& selection, const device_record& device,
                 const parameter_values& parameters, const counting& count)
      : selection_(selection), device_(device), parameters_(parameters), count_(count) {}

  // What an expected failure claims is that it fails.
  claim_verdict check_expected_failure(const stage_description& stage) {
    const claim expected{.metric = "failures as expected", .holds = relation::at_least, .value = 1, .at = {}};
    const stage_profile& own = profile_of_stage(stage, parameters_);
    if (!own.skipped.empty()) return not_tested(stage, expected, own.skipped);
    if (own.expected_failure.empty()) return failed(stage, expected, own.failure);
    return judged(stage, expected, 1, false);
  }

  claim_verdict check(const stage_description& stage, const claim& claim) {
    const std::string why_not = elsewhere(claim, device_);
    if (!why_not.empty()) return not_tested(stage, claim, why_not);
    parameter_values values = parameters_;
    for (const auto& [name, value] : claim.at) values[name] = value;
    const stage_profile& own = profile_of_stage(stage, values);
    if (!own.skipped.empty()) return not_tested(stage, claim, own.skipped);
    if (!own.failure.empty()) return failed(stage, claim, own.failure);
    if (!claim.over_previous) return judged_by(stage, claim, own.profile, {});
    const stage_description* const before = previous_stage(*selection_.track, stage);
    if (before == nullptr) return not_tested(stage, claim, "no stage stands before this one");
    const stage_profile& base = profile_of_stage(*before, values);
    if (!base.skipped.empty() || !base.failure.empty()) {
      return not_tested(stage, claim,
                        fmt::format("{}: {}", before->path,
                                    base.skipped.empty() ? "fails: " + base.failure : base.skipped));
    }
    return judged_by(stage, claim, own.profile, base.profile);
  }

 private:
  static claim_verdict judged_by(const stage_description& stage, const claim& claim,
                                 const profile_record& profile, const profile_record& previous) {
    const auto figure = claimed_figure(claim, profile, previous);
    if (figure) return judged(stage, claim, *figure, profile.modelled);
    if (!profile.modelled) return failed(stage, claim, "there is no such figure");
    if (is_modelled(claim.metric) && (claim.per.empty() || is_modelled(claim.per)))
      return failed(stage, claim, "there is no such figure: it is a quotient, and what it is of is 0");
    return not_tested(stage, claim, "the emulator does not model it");
  }

  const stage_profile& profile_of_stage(const stage_description& stage, const parameter_values& values) {
    const auto found = known_.find({stage.path, values});
    if (found != known_.end()) return found->second;
    return known_.emplace(std::pair(stage.path, values), count_(stage, values)).first->second;
  }

  const track_selection& selection_;
  const device_record& device_;
  const parameter_values& parameters_;
  const counting& count_;
  std::map<std::pair<std::string, parameter_values>, stage_profile> known_;
};

}  // namespace

std::string claim_text(const claim& claim) {
  constexpr const char* signs[] = {"=", "<=", ">="};
  std::string text = claim.metric;
  if (!claim.per.empty()) text += " / " + claim.per;
  if (claim.over_previous) text += ", over the previous stage's,";
  text += fmt::format(" {} {}", signs[static_cast<int>(claim.holds)], claim.value);
  std::string where = claim.at_text;
  if (!claim.device.empty()) where += (where.empty() ? "" : "; ") + claim.device;
  if (!claim.compute_capability.empty())
    where += (where.empty() ? "" : "; ") + ("compute capability " + claim.compute_capability);
  return where.empty() ? text : text + " (" + where + ")";
}

bool holds(const claim& claim, double found, double excess) {
  constexpr double last_digit = 1e-9;
  switch (claim.holds) {
    case relation::equal:
      return found - claim.value <= std::max(excess, last_digit) * std::abs(claim.value) &&
             claim.value - found <= last_digit * std::abs(claim.value);
    case relation::at_most:
      return found <= claim.value;
    case relation::at_least:
      return found >= claim.value;
  }
  return false;
}

std::string verdict_text(const claim_verdict& verdict) {
  constexpr const char* words[] = {"holds", "BROKEN", "not tested here"};
  std::string found = verdict.why;
  if (verdict.figure) {
    // Digits enough to tell a figure from a bound that it just misses.
    found = fmt::format("{:.10g}{}", *verdict.figure, verdict.modelled ? " modelled" : "");
  }
  const char* const status = words[static_cast<int>(verdict.status)];
  if (!verdict.claim) return fmt::format("{}: {}: {}", verdict.stage, status, found);
  if (verdict.status == claim_status::broken && !verdict.claim->because.empty())
    found += fmt::format(" (claimed because: {})", verdict.claim->because);
  return fmt::format("{}: {}: {}: {}", verdict.stage, claim_text(*verdict.claim), status, found);
}

std::string verdicts_summary(const std::vector<claim_verdict>& verdicts) {
  int counts[3] = {};
  for (const claim_verdict& verdict : verdicts) ++counts[static_cast<int>(verdict.status)];
  return fmt::format("{} claims: {} hold, {} BROKEN, {} not tested here", verdicts.size(), counts[0],
                     counts[1], counts[2]);
}

int exit_code(const std::vector<claim_verdict>& verdicts) {
  const bool broken = std::any_of(verdicts.begin(), verdicts.end(), [](const claim_verdict& verdict) {
    return verdict.status == claim_status::broken;
  });
  return broken ? exit_stage_failed : exit_ok;
}

std::string elsewhere(const claim& claim, const device_record& device) {
  const std::string here = is_emulator(device) ? "the emulator" : device.name;
  for (const std::string& metric : {claim.metric, claim.per}) {
    if (is_own(metric) && !is_emulator(device))
      return fmt::format("{} is the emulator's own counter, and this is {}", metric, here);
  }
  if (is_emulator(device) && is_about_time(claim)) return "the emulator's times are the host's";
  if (!claim.device.empty() && (is_emulator(device) || device.name.find(claim.device) == std::string::npos)) {
    return fmt::format("it is claimed of {}, and this is {}", claim.device, here);
  }
  if (!claim.compute_capability.empty() && device.compute_capability != claim.compute_capability) {
    return fmt::format("it is claimed of compute capability {}, and this is {}{}", claim.compute_capability,
                       here, device.compute_capability.empty() ? "" : ", " + device.compute_capability);
  }
  return "";
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

std::vector<std::string> claimed_counters(const stage_claims& stage) {
  std::vector<std::string> names;
  for (const claim& claim : stage.claims) {
    if (is_about_time(claim)) continue;
    for (const std::string& name : {claim.metric, claim.per}) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

const stage_description* previous_stage(const track_description& track, const stage_description& stage) {
  const stage_description* previous = nullptr;
  for (const auto& other : track.stages) {
    if (other.path == stage.path) return previous;
    if (is_ranked(other)) previous = &other;
  }
  return nullptr;
}

void check_counter_claims(const track_selection& selection, const claims_by_stage& claims,
                          const device_record& device, const parameter_values& parameters,
                          const counting& count, const telling& tell) {
  counter_claims checks(selection, device, parameters, count);
  for (const stage_description* stage : selection.stages) {
    if (!stage->expected_failure.empty()) tell(checks.check_expected_failure(*stage));
    const stage_claims& own = claims.at(stage->path);
    if (!own.problem.empty()) tell(unreadable(*stage, own));
    for (const claim& claim : own.claims) {
      if (!is_about_time(claim)) tell(checks.check(*stage, claim));
    }
  }
}

std::vector<claim_verdict> check_time_claims(const std::vector<track_selection>& selections,
                                             const claims_by_stage& claims, const run_results& results) {
  std::vector<claim_verdict> verdicts;
  const auto check = [&](const track_selection& selection, const stage_description& stage,
                         const claim& claim) {
    const std::string why_not = elsewhere(claim, *results.device);
    if (!why_not.empty()) {
      verdicts.push_back(not_tested(stage, claim, why_not));
      return;
    }
    bool warm_alone = false;
    bool tested = false;
    for (const result_group& group : results.groups) {
      if (group.track != selection.track->name || !has_parameters(group, *selection.track, claim)) continue;
      warm_alone = true;
      if (group.l2 != cache_state::cold) continue;
      verdicts.push_back(check_in_group(*selection.track, stage, claim, group));
      tested = true;
    }
    if (tested) return;
    verdicts.push_back(not_tested(
        stage, claim,
        warm_alone ? "it is claimed of a cold L2 cache"
                   : "this run has no " + claim.at_text + " with the defaults of the other parameters"));
  };
  for (const track_selection& selection : selections) {
    for (const stage_description* stage : selection.stages) {
      const stage_claims& own = claims.at(stage->path);
      if (!own.problem.empty()) verdicts.push_back(unreadable(*stage, own));
      for (const claim& claim : own.claims) {
        if (is_about_time(claim)) check(selection, *stage, claim);
      }
    }
  }
  return verdicts;
}

}  // namespace lab::front
