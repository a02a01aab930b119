// Testing what stages' pages claim (docs/claims.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/claims/claims_file.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/run/results.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// "l1tex__... / l1tex__... = 8 (n = 1000)"
[[nodiscard]] std::string claim_text(const claim& claim);

// `excess`: by what part a count may be above the one that is claimed to be equal.
[[nodiscard]] bool holds(const claim& claim, double found, double excess = 0);

// "track/02_tree: speedup >= 1.03 (n = 1000): BROKEN: 0.9"
[[nodiscard]] std::string verdict_text(const claim_verdict& verdict);

// "12 claims: 9 hold, 1 BROKEN, 2 not tested here"
[[nodiscard]] std::string verdicts_summary(const std::vector<claim_verdict>& verdicts);

// exit_ok, or exit_stage_failed when a claim is broken. What was not tested is nobody's fault.
[[nodiscard]] int exit_code(const std::vector<claim_verdict>& verdicts);

// Why a claim does not speak of this device; empty when it does.
[[nodiscard]] std::string elsewhere(const claim& claim, const device_record& device);

// The figure that a claim about counters is about; nothing where a profile lacks it. `previous` is only
// looked at for claims about it.
[[nodiscard]] std::optional<double> claimed_figure(const claim& claim, const profile_record& profile,
                                                   const profile_record& previous);

// The counters that a stage's claims are about.
[[nodiscard]] std::vector<std::string> claimed_counters(const stage_claims& stage);

// The stage before this one on the track's ladder, libraries aside; null for the first.
[[nodiscard]] const stage_description* previous_stage(const track_description& track,
                                                      const stage_description& stage);

using counting =
    std::function<stage_profile(const stage_description& stage, const parameter_values& parameters)>;
using telling = std::function<void(const claim_verdict& verdict)>;

// Tests the selected stages' claims about counters: counts what they ask for, and tells of each claim as soon
// as it is known. Parameters that a claim does not name are `parameters`. An expected failure claims that it
// fails in a way that it says. Claims that cannot be read are one broken claim.
void check_counter_claims(const track_selection& selection, const claims_by_stage& claims,
                          const device_record& device, const parameter_values& parameters,
                          const counting& count, const telling& tell);

// Tests their claims about time with the timings of a run that is over.
[[nodiscard]] std::vector<claim_verdict> check_time_claims(const std::vector<track_selection>& selections,
                                                           const claims_by_stage& claims,
                                                           const run_results& results);

}  // namespace lab::front
