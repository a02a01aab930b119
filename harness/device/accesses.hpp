// The accesses of one block, in the worker that can see them: the one whose kernels are observed.
#pragma once

#include "harness/accesses.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"

namespace lab {

struct seen_accesses {
  check_result check;
  accesses_record accesses;
};

// Runs the workload once, checks it, and tells what the block that `choice` names asked of memory. Null in
// workers whose kernels are not observed.
extern seen_accesses (*see_accesses)(workload& work, const launch_setup& setup, const access_choice& choice,
                                     cudaStream_t stream);

}  // namespace lab
