// Counters of a stage's kernels, in the worker that can count them: the one whose kernels are observed.
#pragma once

#include <cstdint>

#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/records.hpp"

namespace lab {

struct counted {
  check_result check;
  profile_record profile;
};

// Runs the workload once, checks it, and tells what its kernels did. A fault that only an observed kernel
// shows fails the check. Null in workers whose kernels are not observed.
extern counted (*count_kernels)(workload& work, const launch_setup& setup, cudaStream_t stream);

}  // namespace lab
