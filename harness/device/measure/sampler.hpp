// The sampler: how a launch is timed, and when there are enough samples.
#pragma once

#include <cstdint>
#include <functional>

#include "common/cuda.hpp"
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

// Times what `enqueue` puts on `stream`. On a GPU: warm-up (one of more than 0.3 s is the first sample); CUDA
// events, or for short launches a captured graph (warm, below 1 ms: of a batch of launches; cold, below 20
// us: of one, behind the flush); for cold samples the L2 cache is filled with other, clean data and
// persisting lines are reset; the SM clock is read beside each sample, a throttled one is taken again, and a
// row that stays throttled is marked unstable. On the emulator: the host's clock. Sampling stops when the
// median is as certain as that of ten samples whose inter-quartile range / median is spread_target, after
// time_limit_seconds or at 1000 samples, but not before minimum_samples. Half of them will do where launches
// alone take the limit, and three where they take twice the limit.
//
// In one of several processes all call this alike. They meet before each sample, its time is the longest that
// one of them took (on the emulator until all have ended), and they go by the same clock.
//
// `enqueue` is given the launch's index in its batch, from 0.
timing_record measure(const std::function<void(std::int64_t index)>& enqueue,
                      const sampling_options& sampling, cudaStream_t stream, const sample_hooks& hooks = {});

// Times an empty kernel.
timing_record measure_floor(const sampling_options& sampling, cudaStream_t stream);

// Seconds since then, by the clock of the process that began first: several must not come to different ends.
double agreed_seconds_since(std::int64_t start_nanoseconds);

// Of the current device.
int device_attribute(cudaDeviceAttr which);

}  // namespace lab
