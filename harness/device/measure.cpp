#include "harness/device/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "common/memory.hpp"
#include "common/stream.hpp"
#include "harness/device/conversation.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/verify.hpp"

namespace lab {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

// The value below which a fraction `part` of the sorted samples lies, by linear interpolation.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

void summarise(timing_record& timing) {
  std::vector<double> sorted = timing.samples;
  std::sort(sorted.begin(), sorted.end());
  timing.median = quantile(sorted, 0.5);
  timing.minimum = sorted.front();
  timing.maximum = sorted.back();
  timing.interquartile_range = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  timing.spread = timing.median > 0 ? timing.interquartile_range / timing.median : 0;
}

// Times of a few microseconds come in steps of the clock's resolution, and the spread target may never be
// met: by then the median has long settled.
constexpr std::size_t most_samples = 1000;

// Takes samples from `sample` (nanoseconds a launch) until the plan is met.
void collect(timing_record& timing, const measure_plan& plan, const std::function<double()>& sample) {
  const auto start = clock::now();
  for (;;) {
    timing.samples.push_back(sample());
    if (static_cast<std::int64_t>(timing.samples.size()) < plan.minimum_samples) continue;
    summarise(timing);
    if (timing.spread <= plan.spread_target) {
      timing.stopped_by = "spread";
      return;
    }
    if (seconds_since(start) >= plan.time_limit_seconds) {
      timing.stopped_by = "time limit";
      return;
    }
    if (timing.samples.size() >= most_samples) {
      timing.stopped_by = "sample limit";
      return;
    }
  }
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

#if LAB_EMULATED

// So much is watched that the delay of a message counts for little.
constexpr double watched_nanoseconds = 150e6;

// Launches the stage again and again, and says when that begins and ends: the front, whose clock the stage's
// code cannot reach, sees what a launch costs. What cannot be launched twice in a row is prepared each time,
// unseen.
void let_the_front_watch(const std::function<void()>& enqueue, const timing_record& timing,
                         const sample_hooks& hooks) {
  const double one = std::max(1.0, timing.median);
  const auto launches = static_cast<std::int64_t>(std::clamp(std::ceil(watched_nanoseconds / one), 1.0, 1e5));
  const std::int64_t at_once = hooks.capturable ? launches : 1;
  for (std::int64_t done = 0; done < launches; done += at_once) {
    hooks.before();
    conversation::say_sampling_begins();
    const std::int64_t start = host_nanoseconds();
    for (std::int64_t i = 0; i < at_once; ++i) enqueue();
    conversation::say_sampling_ended(at_once, host_nanoseconds() - start);
  }
}

timing_record measure_on_host(const std::function<void()>& enqueue, const measure_plan& plan,
                              const sample_hooks& hooks) {
  timing_record timing{.method = "host clock", .l2 = cache_state::none};
  const auto once = [&] {
    hooks.before();
    const std::int64_t start = host_nanoseconds();
    enqueue();
    const auto nanoseconds = static_cast<double>(host_nanoseconds() - start);
    hooks.after();
    return nanoseconds;
  };
  collect(timing, plan, once);
  let_the_front_watch(enqueue, timing, hooks);
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
constexpr std::int64_t most_retries = 20;
// Warming up a kernel of seconds with several launches teaches nothing.
constexpr double longest_warmup_seconds = 0.3;

class gpu_sampler {
 public:
  gpu_sampler(const std::function<void()>& enqueue, const measure_plan& plan, cudaStream_t stream,
              const sample_hooks& hooks)
      : enqueue_(enqueue),
        hooks_(hooks),
        plan_(plan),
        stream_(stream),
        highest_clock_mhz_(attribute(cudaDevAttrClockRate) / 1e3),
        clock_words_(2, stream),
        flush_bytes_(plan.l2 == cache_state::cold
                         ? 2 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize)) / 16 * 16
                         : 0),
        flush_(flush_bytes_, stream) {
    if (flush_bytes_ > 0) CUDA_CHECK(cudaMemsetAsync(flush_.data(), 0x5a, flush_bytes_, stream));
  }

  timing_record run() {
    timing_record timing{.method = "events", .l2 = plan_.l2};
    const double estimate = warm_up();
    std::vector<double> clocks;
    const auto watched = [&](const std::function<double()>& take) {
      return [&, take] {
        for (;;) {
          hooks_.before();
          const double time = take();
          const double mhz = read_clock();
          hooks_.after();
          if (mhz < throttled_below * highest_clock_mhz_ && timing.retried < most_retries) {
            ++timing.retried;
            continue;
          }
          clocks.push_back(mhz);
          return time;
        }
      };
    };
    const bool warm = plan_.l2 == cache_state::warm;
    if (!hooks_.capturable || estimate >= (warm ? short_warm_kernel_nanoseconds : short_kernel_nanoseconds)) {
      collect(timing, plan_, watched([this] { return sample_with_events([this] { enqueue_(); }, 1); }));
    } else if (warm) {
      timing.method = "graph";
      timing.launches_per_sample =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(batch_nanoseconds / estimate), 2, 500);
      const graph batch(stream_, [&] {
        for (std::int64_t i = 0; i < timing.launches_per_sample; ++i) enqueue_();
      });
      batch.replay(stream_);
      const auto launches = static_cast<double>(timing.launches_per_sample);
      collect(timing, plan_,
              watched([&] { return sample_with_events([&] { batch.replay(stream_); }, launches); }));
    } else {
      // One graph of flush, event, launch, event: nothing of the launch's own cost lies between the events.
      timing.method = "graph";
      const event start;
      const event stop;
      const graph one(stream_, [&] {
        flush_cache(flush_.data(), flush_bytes_, stream_);
        start.record_in_graph(stream_);
        enqueue_();
        stop.record_in_graph(stream_);
      });
      one.replay(stream_);
      collect(timing, plan_, watched([&] {
                CUDA_CHECK(cudaCtxResetPersistingL2Cache());
                one.replay(stream_);
                probe_clock(clock_words_.data(), stream_);
                CUDA_CHECK(cudaStreamSynchronize(stream_));
                return stop.nanoseconds_since(start);
              }));
    }
    std::sort(clocks.begin(), clocks.end());
    timing.sm_clock_mhz =
        clock_record{.median = quantile(clocks, 0.5), .minimum = clocks.front(), .maximum = clocks.back()};
    timing.unstable = clocks.front() < throttled_below * highest_clock_mhz_;
    return timing;
  }

 private:
  // Returns the nanoseconds of the last warm-up launch.
  double warm_up() {
    const auto start = clock::now();
    double last = 0;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, plan_.warmups); ++i) {
      hooks_.before();
      last = sample_with_events([this] { enqueue_(); }, 1);
      if (seconds_since(start) > longest_warmup_seconds) break;
    }
    return last;
  }

  double sample_with_events(const std::function<void()>& launches, double count) {
    if (plan_.l2 == cache_state::cold) {
      CUDA_CHECK(cudaCtxResetPersistingL2Cache());
      flush_cache(flush_.data(), flush_bytes_, stream_);
    }
    start_.record(stream_);
    launches();
    stop_.record(stream_);
    probe_clock(clock_words_.data(), stream_);
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return stop_.nanoseconds_since(start_) / count;
  }

  // MHz during the spin right after the last sample.
  double read_clock() {
    std::uint64_t words[2] = {0, 1};
    CUDA_CHECK(cudaMemcpyAsync(words, clock_words_.data(), sizeof words, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return 1e3 * static_cast<double>(words[0]) / static_cast<double>(words[1]);
  }

  const std::function<void()>& enqueue_;
  const sample_hooks& hooks_;
  measure_plan plan_;
  cudaStream_t stream_;
  double highest_clock_mhz_;
  device_buffer<std::uint64_t> clock_words_;
  std::size_t flush_bytes_;
  device_buffer<unsigned char> flush_;
  event start_;
  event stop_;
};

#endif

}  // namespace

timing_record measure(const std::function<void()>& enqueue, const measure_plan& plan,
                      [[maybe_unused]] cudaStream_t stream, const sample_hooks& hooks) {
#if LAB_EMULATED
  return measure_on_host(enqueue, plan, hooks);
#else
  return gpu_sampler(enqueue, plan, stream, hooks).run();
#endif
}

namespace {

// Below this many times the L2 cache's size, part of what a launch reads or writes never goes to memory.
constexpr std::int64_t least_cache_multiple = 4;

bool is_cached(const ceiling_need& need) {
  return need.bytes < least_cache_multiple * attribute(cudaDevAttrL2CacheSize);
}

ceiling_record measure_read(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  constexpr std::size_t unit = 16;  // bytes of one load
  const std::size_t bytes = (static_cast<std::size_t>(need.bytes) + unit - 1) / unit * unit;
  if (const std::size_t free_bytes = memory::available(); bytes > free_bytes)
    throw memory_error(bytes, free_bytes);
  const device_buffer<double> from(bytes / sizeof(double), stream);
  generate(from.data(), static_cast<std::int64_t>(from.size()), pattern::random, 1, stream);
  return {.kind = need.kind,
          .bytes = need.bytes,
          .cached = is_cached(need),
          .timing = measure([&] { read_all(from.data(), bytes, stream); }, plan, stream)};
}

ceiling_record measure_write(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(need.bytes);
  if (const std::size_t free_bytes = memory::available(); bytes > free_bytes)
    throw memory_error(bytes, free_bytes);
  const device_buffer<unsigned char> to(bytes, stream);
  const auto write = [&] {
    if (bytes > 0) CUDA_CHECK(cudaMemsetAsync(to.data(), 0x5a, bytes, stream));
  };
  return {.kind = need.kind,
          .bytes = need.bytes,
          .cached = is_cached(need),
          .timing = measure(write, plan, stream)};
}

}  // namespace

ceiling_record measure_ceiling(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  if (need.kind == "read") return measure_read(need, plan, stream);
  if (need.kind == "write") return measure_write(need, plan, stream);
  if (need.kind != "copy") throw usage_error("no ceiling is called " + need.kind);
  const std::size_t half = static_cast<std::size_t>(need.bytes) / 2;
  const std::size_t free_bytes = memory::available();
  if (2 * half > free_bytes) throw memory_error(2 * half, free_bytes);
  const std::size_t words = (half + sizeof(double) - 1) / sizeof(double);
  const device_buffer<double> from(words, stream);
  const device_buffer<double> to(words, stream);
  generate(from.data(), static_cast<std::int64_t>(words), pattern::random, 1, stream);
  poison(to.data(), static_cast<std::int64_t>(words), stream);
  const auto copy = [&] {
    if (half > 0) CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), half, cudaMemcpyDeviceToDevice, stream));
  };
  return {.kind = need.kind,
          .bytes = need.bytes,
          .cached = is_cached(need),
          .timing = measure(copy, plan, stream)};
}

timing_record measure_floor(const measure_plan& plan, cudaStream_t stream) {
  return measure([stream] { empty(stream); }, plan, stream);
}

namespace {

// A timed launch left other bits than the launch that was verified.
class wrong_sample : public std::exception {};

}  // namespace

measured verify_and_measure(const stage_entry& stage, const parameter_values& parameters, std::uint64_t seed,
                            const measure_plan& plan, cudaStream_t stream) {
  measured result{.verification = verify(stage, seed, false, stream)};
  // A specimen never passes, so it never gets a time.
  if (!result.verification.passed) return result;
  const auto work = track_of(stage).make(stage, parameters, stream);
  const auto gate = [&](std::uint64_t with_seed) {
    check_result checked = run_and_check(*work, pattern::random, with_seed, stream);
    verification_record& record = result.verification;
    ++record.cases;
    record.compared += checked.compared;
    record.largest_error = std::max(record.largest_error, checked.largest_error);
    record.relative_error = std::max(record.relative_error, checked.relative_error);
    record.relative_bound = checked.relative_bound;
    if (!checked.failure) return true;
    record.passed = false;
    record.failure = std::move(checked.failure);
    record.failure->test_case = trial_name(parameters, pattern::random, with_seed);
    return false;
  };
  if (!gate(seed)) return result;
  // Every timed launch finds its outputs poisoned, and must leave the bits that were found right: one that
  // skips work because the answer is already there, or is right only when it is looked at, has no time.
  const std::uint64_t right_bits = work->digest();
  const sample_hooks hooks{.before = [&] { work->poison(); },
                           .after =
                               [&] {
                                 if (!stage.traits.nondeterministic && work->digest() != right_bits)
                                   throw wrong_sample();
                               },
                           .capturable = work->capturable() && !stage.traits.synchronises};
  timing_record timing;
  try {
    timing = measure([&] { work->launch(); }, plan, stream, hooks);
  } catch (const wrong_sample&) {
    check_result checked = work->check();
    result.verification.passed = false;
    result.verification.failure =
        checked.failure.value_or(failure_record{.kind = failure_kind::wrong,
                                                .expected = "the same bits from every timed launch",
                                                .found = "other bits"});
    result.verification.failure->test_case = trial_name(parameters, pattern::random, seed) + ", while timed";
    return result;
  }
  // Other inputs: an answer kept from before, or state left behind by the timed launches, is now wrong.
  result.verification.seeds.push_back(seed + 1);
  if (gate(seed + 1)) result.timing = std::move(timing);
  return result;
}

}  // namespace lab
