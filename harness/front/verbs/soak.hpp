// `lab verify --seeds 1:200`: every stage proved with many seeds. A right kernel passes with each of them, so
// the only good result is that nothing failed.
#pragma once

#include "harness/front/run/session.hpp"

namespace lab::front {

// `verify` with each of these seeds, two to a proof, which has two; on the emulator as many calls at once as
// there are processors.
// Returns the exit code.
int soak_stages(const run_options& options, const seed_range& seeds);

}  // namespace lab::front
