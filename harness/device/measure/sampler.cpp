#include "harness/device/measure/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/memory.hpp"
#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/kernels.hpp"

namespace lab {

double agreed_seconds_since(std::int64_t start_nanoseconds) {
  return processes::largest(host_seconds_since(start_nanoseconds));
}

int device_attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

namespace {

// The value below which a fraction `part` of the sorted samples lies, by linear interpolation.
double quantile(const std::vector<double>& sorted, double part) {
  const double index = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(index);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], index - static_cast<double>(below));
}

void summarise(timing_record& timing) {
  std::vector<double> sorted = timing.samples;
  std::sort(sorted.begin(), sorted.end());
  timing.median = quantile(sorted, 0.5);
  timing.minimum = sorted.front();
  timing.maximum = sorted.back();
  timing.lower_quartile = quantile(sorted, 0.25);
  timing.upper_quartile = quantile(sorted, 0.75);
  timing.interquartile_range = timing.upper_quartile - timing.lower_quartile;
  timing.spread = timing.median > 0 ? timing.interquartile_range / timing.median : 0;
  timing.unstable = uncertainty_of_median(timing.spread, timing.samples.size()) > unstable_spread;
}

// Times of a few microseconds come in steps of the clock's resolution, and the spread target may never be
// met: by then the median has long settled.
constexpr std::size_t max_samples = 1000;

// Launches of a second show in few samples what they cost: when launches alone have taken the time limit,
// half of the fewest samples will do, and when they have taken twice as long, three.
std::int64_t enough_samples(const timing_record& timing, const sampling_options& sampling) {
  const double launches = std::accumulate(timing.samples.begin(), timing.samples.end(), 0.0) *
                          static_cast<double>(timing.launches_per_sample) * 1e-9;
  const std::int64_t three = std::min<std::int64_t>(3, sampling.minimum_samples);
  if (launches >= 2 * sampling.time_limit_seconds) return three;
  if (launches >= sampling.time_limit_seconds) return std::max(three, (sampling.minimum_samples + 1) / 2);
  return sampling.minimum_samples;
}

// Whether the median is as certain as that of ten samples with the target's spread.
bool is_certain(const timing_record& timing, const sampling_options& sampling) {
  return uncertainty_of_median(timing.spread, timing.samples.size()) <=
         uncertainty_of_median(sampling.spread_target, 10);
}

// Why one sample more is enough; empty when it is not.
std::string nearly_enough(const timing_record& timing, const sampling_options& sampling, std::int64_t start) {
  const std::size_t with_one_more = timing.samples.size() + 1;
  const auto taken = static_cast<std::int64_t>(with_one_more);
  if (taken < enough_samples(timing, sampling)) return "";
  if (taken < sampling.minimum_samples) return "time limit";
  if (is_certain(timing, sampling)) return "spread";
  if (agreed_seconds_since(start) >= sampling.time_limit_seconds) return "time limit";
  return with_one_more >= max_samples ? "sample limit" : "";
}

// Takes samples from `sample` (nanoseconds a launch) until `sampling` is satisfied.
void collect(timing_record& timing, const sampling_options& sampling,
             const std::function<double(launch_kind)>& sample) {
  const std::int64_t start = host_nanoseconds();
  while ((timing.stopped_by = nearly_enough(timing, sampling, start)).empty()) {
    timing.samples.push_back(sample(launch_kind::sample));
    summarise(timing);
  }
  timing.samples.push_back(sample(launch_kind::last_sample));
  summarise(timing);
}

#if LAB_EMULATED

timing_record measure_on_host(const std::function<void(std::int64_t)>& enqueue,
                              const sampling_options& sampling, const sample_hooks& hooks) {
  timing_record timing{.method = "host clock", .l2 = cache_state::none};
  const auto once = [&](launch_kind kind) {
    hooks.before(kind);
    processes::meet();
    const std::int64_t start = host_nanoseconds();
    enqueue(0);
    processes::meet();
    const double nanoseconds = processes::largest(static_cast<double>(host_nanoseconds() - start));
    hooks.after();
    return nanoseconds;
  };
  collect(timing, sampling, once);
  timing.unstable = false;  // a busy host makes samples spread, and its time is not what is measured
  return timing;
}

#else

// Below this, launching costs as much as running, and a graph is replayed instead.
constexpr double short_kernel_nanoseconds = 20'000;
// Warm, the device is idle when a sample begins and waits some microseconds for the launch: more is batched.
constexpr double short_warm_kernel_nanoseconds = 1'000'000;
// A warm batch of short launches lasts about this long.
constexpr double batch_nanoseconds = 1'000'000;
// A sample below this fraction of the highest SM clock was throttled.
constexpr double throttled_below = 0.95;
constexpr std::int64_t max_retries = 20;
// Warming up a kernel of seconds with several launches teaches nothing, and its one is as good as a sample.
constexpr double longest_warmup_seconds = 0.3;

class gpu_sampler {
 public:
  gpu_sampler(const std::function<void(std::int64_t)>& enqueue, const sampling_options& sampling,
              cudaStream_t stream, const sample_hooks& hooks)
      : enqueue_(enqueue),
        hooks_(hooks),
        sampling_(sampling),
        stream_(stream),
        highest_clock_mhz_(processes::smallest(device_attribute(cudaDevAttrClockRate) / 1e3)),
        clock_words_(2, stream),
        flush_bytes_(sampling.l2 == cache_state::cold
                         ? 2 * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize)) / 16 * 16
                         : 0),
        flush_(flush_bytes_, stream) {
    if (flush_bytes_ > 0) CUDA_CHECK(cudaMemsetAsync(flush_.data(), 0x5a, flush_bytes_, stream));
  }

  timing_record run() {
    timing_record timing{.method = "events", .l2 = sampling_.l2};
    const double estimate = warm_up();
    std::vector<double> clocks;
    const auto watched = [&](const std::function<double()>& take) {
      return [&, take](launch_kind kind) {
        for (;;) {
          const auto warm_up =
              kind == launch_kind::sample ? std::exchange(long_warm_up_, std::nullopt) : std::nullopt;
          if (!warm_up) hooks_.before(kind);
          const double time = warm_up ? *warm_up : processes::largest(take());
          const double mhz = processes::smallest(read_clock());
          hooks_.after();
          if (mhz < throttled_below * highest_clock_mhz_ && timing.retried < max_retries) {
            ++timing.retried;
            continue;
          }
          clocks.push_back(mhz);
          return time;
        }
      };
    };
    const bool warm = sampling_.l2 == cache_state::warm;
    if (!hooks_.capturable || estimate >= (warm ? short_warm_kernel_nanoseconds : short_kernel_nanoseconds)) {
      collect(timing, sampling_, watched([this] { return sample_with_events(); }));
    } else {
      // One graph of flush (cold), event, launches, event: nothing of the launches' own cost lies between the
      // events.
      timing.method = "graph";
      if (warm) {
        timing.launches_per_sample =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(batch_nanoseconds / estimate), 1,
                                     std::max<std::int64_t>(1, hooks_.max_batch));
      }
      const event start;
      const event stop;
      const graph one(stream_, [&] {
        if (!warm) flush_cache(flush_.data(), flush_bytes_, stream_);
        start.record_in_graph(stream_);
        for (std::int64_t index = 0; index < timing.launches_per_sample; ++index) enqueue_(index);
        stop.record_in_graph(stream_);
      });
      one.replay(stream_);
      const auto launches = static_cast<double>(timing.launches_per_sample);
      collect(timing, sampling_, watched([&] {
                if (!warm) CUDA_CHECK(cudaCtxResetPersistingL2Cache());
                one.replay(stream_);
                probe_clock(clock_words_.data(), stream_);
                CUDA_CHECK(cudaStreamSynchronize(stream_));
                return stop.nanoseconds_since(start) / launches;
              }));
    }
    std::sort(clocks.begin(), clocks.end());
    timing.sm_clock_mhz =
        clock_record{.median = quantile(clocks, 0.5), .minimum = clocks.front(), .maximum = clocks.back()};
    timing.unstable = timing.unstable || clocks.front() < throttled_below * highest_clock_mhz_;
    return timing;
  }

 private:
  // Returns the nanoseconds of the last warm-up launch.
  double warm_up() {
    const std::int64_t start = host_nanoseconds();
    double last = 0;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, sampling_.warmups); ++i) {
      hooks_.before(launch_kind::warm_up);
      last = processes::largest(sample_with_events());
      if (agreed_seconds_since(start) > longest_warmup_seconds) break;
    }
    if (last > 1e9 * longest_warmup_seconds) long_warm_up_ = last;
    return last;
  }

  // Several processes begin when all of them are ready: the flush then gives each host the time to be ahead
  // of its device.
  double sample_with_events() {
    if (processes::are_several()) {
      CUDA_CHECK(cudaStreamSynchronize(stream_));
      processes::meet();
    }
    if (sampling_.l2 == cache_state::cold) {
      CUDA_CHECK(cudaCtxResetPersistingL2Cache());
      flush_cache(flush_.data(), flush_bytes_, stream_);
    }
    start_.record(stream_);
    enqueue_(0);
    stop_.record(stream_);
    probe_clock(clock_words_.data(), stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return stop_.nanoseconds_since(start_);
  }

  // MHz during the spin right after the last sample.
  double read_clock() {
    std::uint64_t words[2] = {0, 1};
    CUDA_CHECK(cudaMemcpyAsync(words, clock_words_.data(), sizeof words, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return 1e3 * static_cast<double>(words[0]) / static_cast<double>(words[1]);
  }

  const std::function<void(std::int64_t)>& enqueue_;
  const sample_hooks& hooks_;
  sampling_options sampling_;
  cudaStream_t stream_;
  double highest_clock_mhz_;
  device_buffer<std::uint64_t> clock_words_;
  std::size_t flush_bytes_;
  device_buffer<unsigned char> flush_;
  event start_;
  event stop_;
  std::optional<double> long_warm_up_;
};

#endif

}  // namespace

timing_record measure(const std::function<void(std::int64_t)>& enqueue, const sampling_options& sampling,
                      [[maybe_unused]] cudaStream_t stream, const sample_hooks& hooks) {
#if LAB_EMULATED
  return measure_on_host(enqueue, sampling, hooks);
#else
  return gpu_sampler(enqueue, sampling, stream, hooks).run();
#endif
}

timing_record measure_floor(const sampling_options& sampling, cudaStream_t stream) {
  return measure([stream](std::int64_t) { empty(stream); }, sampling, stream);
}

}  // namespace lab
