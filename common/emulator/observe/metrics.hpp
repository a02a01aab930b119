// Counters under Nsight Compute's names. Internal.
#pragma once

#include "common/emulator/observe/observation.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

// All that is not zero, and a whole kernel's requests, sectors and wavefronts even if they are.
metric_values metrics_of(const site_counters& counters);

}  // namespace lab::emulator
