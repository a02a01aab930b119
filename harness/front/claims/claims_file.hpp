// What a stage claims, read from the file beside its page: stages/TRACK/STAGE/claims.json (docs/claims.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/front/output/located_json.hpp"
#include "harness/front/run/claim.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

struct stage_claims {
  std::vector<std::string>
      metrics;  // Nsight Compute's names, of the counters that the stage's page speaks of
  std::vector<claim> claims;
  std::string problem;  // why the file cannot be used: "stages/track/02_tree/claims.json:12: ..."; else empty
};

// Reads claims from a text; `file` stands before what is said of it. The words and names in a claim's
// parameters are those of `track`. Never throws: what is wrong is the result's `problem`, with the line.
[[nodiscard]] stage_claims parse_claims(const std::string& text, const std::string& file,
                                        const track_description& track);

// The claims of a stage. One without a file claims nothing. The file is looked for below the directory that
// LAB_STAGES names, or below stages/ of the sources that this program was built from. Never throws.
[[nodiscard]] stage_claims read_claims(const track_description& track, const stage_description& stage);

// Refuses a word that is no relation.
[[nodiscard]] relation relation_of(const json_node& holds);

using claims_by_stage = std::map<std::string, stage_claims>;  // by the stage's path

// Those of every selected stage.
[[nodiscard]] claims_by_stage read_claims(const std::vector<track_selection>& selections);

}  // namespace lab::front
