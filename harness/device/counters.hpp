// What a stage's kernels did: counters, and the accesses of one block. Both functions are null in workers
// whose kernels are not observed.
#pragma once

#include <cstdint>

#include "harness/accesses.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/records.hpp"

namespace lab {

struct counted {
  check_result check;
  profile_record profile;
};

// Runs the workload once, checks it, and tells what its kernels did. A fault that only an observed kernel
// shows fails the check.
extern counted (*count_kernels)(workload& work, const launch_setup& setup, cudaStream_t stream);

struct seen_accesses {
  check_result check;
  accesses_record accesses;
};

// Runs the workload once, checks it, and tells what the block that `choice` names asked of memory.
extern seen_accesses (*see_accesses)(workload& work, const launch_setup& setup, const access_choice& choice,
                                     cudaStream_t stream);

}  // namespace lab
