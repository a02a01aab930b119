// The launches that are timed, and the checks of what each of them leaves.
#pragma once

#include <optional>

#include "common/cuda.hpp"
#include "harness/device/measure/sampler.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/records.hpp"

namespace lab {

// What is left of a verification and a timing; the timing is absent when the stage did not pass.
struct measured {
  verification_record verification;
  std::optional<timing_record> timing;
};

// What stands behind a stage that is to be timed.
struct proof_to_time {
  std::optional<verification_record> record = {};  // by verify(), before; nothing: it is made here
  // Ask all of verifier::at() at the measured size as well: who times a stage that a stranger has written
  // does.
  bool whole = false;
};

// Times a stage that is proved, and checks what is timed: an input whose results are exact, before; then
// every timed launch has an input that no launch before it has seen, and finds its outputs poisoned; some of
// them, and the last, are checked in full; and the bits of others must come out again when their input does.
// No input is drawn: seeds.fixed settles all of them. `progress` hears of the proof and of the samples.
measured verify_and_measure(const stage_entry& stage, const parameter_values& parameters, trial_seeds seeds,
                            const proof_to_time& proof, const sampling_options& sampling, cudaStream_t stream,
                            const progress_sink& progress = {});

}  // namespace lab
