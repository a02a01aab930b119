// Testing what stages' pages claim.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/front/counters_table.hpp"
#include "harness/front/patterns.hpp"
#include "harness/protocol.hpp"

namespace lab {

// "l1tex__... / l1tex__... = 8 (n = 1000)"
[[nodiscard]] std::string claim_text(const claim& claim);

[[nodiscard]] bool holds(const claim& claim, double found);

// The figure that a claim about counters is about; nothing where a profile lacks it. `previous` is only
// looked at for claims about it.
[[nodiscard]] std::optional<double> claimed_figure(const claim& claim, const profile_record& profile,
                                                   const profile_record& previous);

// The stage before this one on the track's ladder; null for the first.
[[nodiscard]] const stage_description* previous_stage(const track_description& track,
                                                      const stage_description& stage);

using counting =
    std::function<stage_profile(const stage_description& stage, const parameter_values& parameters)>;

// Counts where the selected stages' claims about counters ask for it, prints each claim with what was found,
// and tells whether all hold. Parameters that a claim does not name are `parameters`. A specimen claims that
// it fails in a way that it announces.
bool check_counter_claims(const track_selection& selection, const parameter_values& parameters,
                          const counting& count);

}  // namespace lab
