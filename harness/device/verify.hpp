// The gate: no stage is timed before it has passed, and none keeps its time when it fails afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "harness/device/track.hpp"

namespace lab {

// Runs the stage once on fresh inputs into poisoned outputs and checks everything. CUDA errors become
// failures of kind `launch` or `crash`, with what the emulator says about them. Throws memory_error when it
// does not fit.
check_result run_and_check(workload& work, pattern kind, std::uint64_t seed, cudaStream_t stream);

// "n=1000 window=7, random": names a trial in messages.
std::string trial_name(const parameter_values& parameters, pattern kind, std::uint64_t seed);

// One line for a person: what is wrong, where, what was expected and found, and which block and thread did
// it.
std::string failure_message(const failure_record& failure);

// Tries the stage on its track's trials: a few small and hostile ones, or all (`thorough`), each in fresh
// memory. Traits are held to their word: without `drifts` or `leaks_nonfinite` the stage must pass the inputs
// that show them; with them (thorough) it must fail at least one. Likewise results must be the same bits
// twice, unless the stage is `nondeterministic`: then (thorough, on a GPU) they must differ at least once. On
// a GPU a launch must be captured in a graph and be right when replayed; one that `synchronises` must be
// refused.
verification_record verify(const stage_entry& stage, std::uint64_t seed, bool thorough, cudaStream_t stream);

// Throws unsupported_error when the device cannot run the stage at all.
void require_runnable(const stage_entry& stage);

// Why the device cannot run the stage; empty when it can.
std::string why_not_runnable(const stage_entry& stage);

// True when the device is lost to this process: the error stays whatever is called.
bool device_lost() noexcept;

}  // namespace lab
