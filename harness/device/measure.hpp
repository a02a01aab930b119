// The sampler: how a launch is timed, and when there are enough samples.
#pragma once

#include <functional>

#include "common/cuda.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify.hpp"
#include "harness/records.hpp"

namespace lab {

// What a launch is for. The last sample is taken like every other, once it is known that it will be enough.
enum class launch_kind { warm_up, sample, last_sample };

// What happens around each sample, untimed: `before` puts work on the stream (before a launch to warm up as
// well), `after` may look at what came out. What is not `capturable` is launched for each sample, and never
// through a graph. Up to `max_batch` launches may make one sample: each of them must have outputs of its own,
// or one that did nothing would go unnoticed.
struct sample_hooks {
  std::function<void(launch_kind)> before = [](launch_kind) {};
  std::function<void()> after = [] {};
  bool capturable = true;
  std::int64_t max_batch = 500;
};

// Times what `enqueue` puts on `stream`. On a GPU: warm-up; CUDA events, or for short launches a captured
// graph (warm, below 1 ms: of a batch of launches; cold, below 20 us: of one, behind the flush); for cold
// samples the L2 cache is filled with other, clean data and persisting lines are reset; the SM clock is read
// beside each sample, a throttled one is taken again, and a row that stays throttled is marked unstable. On
// the emulator: the host's clock. Sampling stops when inter-quartile range / median <= spread_target, after
// time_limit_seconds or at 1000 samples, but not before minimum_samples; half of them will do, three at
// least, where they take four times as long, and three where they take eight times as long.
//
// In one of several processes all call this alike. They meet before each sample, its time is the longest that
// one of them took (on the emulator until all have ended), and they go by the same clock.
//
// `enqueue` is given the launch's place in its batch, from 0.
timing_record measure(const std::function<void(std::int64_t place)>& enqueue, const measure_plan& plan,
                      cudaStream_t stream, const sample_hooks& hooks = {});

// Times the plain operations that move `need.bytes` (the runtime's own, and kernels of several shapes), and
// returns the fastest. Throws memory_error, before allocating, when it does not fit.
ceiling_record measure_ceiling(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream);

// Times an empty kernel.
timing_record measure_floor(const measure_plan& plan, cudaStream_t stream);

// What is left of a verification and a timing; the timing is absent when the stage did not pass.
struct measured {
  verification_record verification;
  std::optional<timing_record> timing;
};

// What stands behind a stage that is to be timed.
struct proof_to_time {
  std::optional<verification_record> made = {};  // by verify(), before; nothing: it is made here
  // Ask all of verifier::at() at the measured size as well: who times a stage that a stranger has written
  // does.
  bool whole = false;
};

// Times a stage that is proved, and checks what is timed: an input whose results are exact, before; then
// every timed launch has an input that no launch before it has seen, and finds its outputs poisoned; some of
// them, and the last, are checked in full; and the bits of others must come out again when their input does.
// No input is drawn: seeds.fixed settles all of them. `progress` hears of the proof and of the samples.
measured verify_and_measure(const stage_entry& stage, const parameter_values& parameters, trial_seeds seeds,
                            const proof_to_time& proof, const measure_plan& plan, cudaStream_t stream,
                            const progress_sink& progress = {});

}  // namespace lab
