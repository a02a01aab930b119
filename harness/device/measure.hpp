// The sampler: how a launch is timed, and when there are enough samples.
#pragma once

#include <functional>

#include "common/cuda.hpp"
#include "harness/device/track.hpp"
#include "harness/protocol.hpp"

namespace lab {

// What happens around each sample, untimed: `before` puts work on the stream (before a launch to warm up as
// well), `after` may look at what came out. What is not `capturable` is launched for each sample, and never
// through a graph.
struct sample_hooks {
  std::function<void()> before = [] {};
  std::function<void()> after = [] {};
  bool capturable = true;
};

// Times what `enqueue` puts on `stream`. On a GPU: warm-up; CUDA events, or for short launches a captured
// graph (warm, below 1 ms: of a batch of launches; cold, below 20 us: of one, behind the flush); for cold
// samples the L2 cache is filled with other, clean data and persisting lines are reset; the SM clock is read
// beside each sample, a throttled one is taken again, and a row that stays throttled is marked unstable. On
// the emulator: the host's clock. Sampling stops when inter-quartile range / median <= spread_target, after
// time_limit_seconds or at 1000 samples, but not before minimum_samples.
timing_record measure(const std::function<void()>& enqueue, const measure_plan& plan, cudaStream_t stream,
                      const sample_hooks& hooks = {});

// Times the plain operation that moves `need.bytes`. Throws memory_error, before allocating, when it does not
// fit.
ceiling_record measure_ceiling(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream);

// Times an empty kernel.
timing_record measure_floor(const measure_plan& plan, cudaStream_t stream);

// Verified, timed, and verified again on other inputs. The timing is absent when either verification failed.
struct measured {
  verification_record verification;
  std::optional<timing_record> timing;
};
measured verify_and_measure(const stage_entry& stage, const parameter_values& parameters, std::uint64_t seed,
                            const measure_plan& plan, cudaStream_t stream);

}  // namespace lab
