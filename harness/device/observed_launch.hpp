// A launch whose kernels are observed, in the worker that can observe them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "common/emulator/observe/observation.hpp"
#include "harness/device/verify/checked_launch.hpp"

namespace lab {

// Runs the workload once and checks it. The stage's own launches are observed, not those with which the
// harness prepares and checks; `look` is called behind each. Of `block` all accesses are kept
// (observation::keep_block). A fault that only an observed kernel shows fails the check.
check_result run_observed(workload& work, const launch_setup& setup, cudaStream_t stream,
                          const std::function<void(const emulator::observation&)>& look,
                          std::optional<std::uint64_t> block = {});

}  // namespace lab
