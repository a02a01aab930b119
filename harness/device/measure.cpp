#include "harness/device/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/verify.hpp"

namespace lab {
namespace {

// By the clock of the process that began first: several must not come to different ends.
double agreed_seconds_since(std::int64_t start) {
  return processes::largest(host_seconds_since(start));
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
  timing.lower_quartile = quantile(sorted, 0.25);
  timing.upper_quartile = quantile(sorted, 0.75);
  timing.interquartile_range = timing.upper_quartile - timing.lower_quartile;
  timing.spread = timing.median > 0 ? timing.interquartile_range / timing.median : 0;
  timing.unstable = uncertainty_of_median(timing.spread, timing.samples.size()) > unstable_spread;
}

// Times of a few microseconds come in steps of the clock's resolution, and the spread target may never be
// met: by then the median has long settled.
constexpr std::size_t max_samples = 1000;

// Launches of a second show in few samples what they cost: after so many time limits half of the fewest
// samples will do, and after twice as many three.
constexpr double slow_after = 4;

// Why one sample more is enough; empty when it is not.
std::string nearly_enough(const timing_record& timing, const measure_plan& plan, std::int64_t start) {
  const std::size_t with_one_more = timing.samples.size() + 1;
  const auto taken = static_cast<std::int64_t>(with_one_more);
  const double seconds = agreed_seconds_since(start);
  if (taken < plan.minimum_samples) {
    const double limits = seconds / plan.time_limit_seconds;
    const bool slow = limits >= 2 * slow_after || (limits >= slow_after && 2 * taken >= plan.minimum_samples);
    return slow && taken >= 3 ? "time limit" : "";
  }
  if (timing.spread <= plan.spread_target) return "spread";
  if (seconds >= plan.time_limit_seconds) return "time limit";
  return with_one_more >= max_samples ? "sample limit" : "";
}

// Takes samples from `sample` (nanoseconds a launch) until the plan is met.
void collect(timing_record& timing, const measure_plan& plan,
             const std::function<double(launch_kind)>& sample) {
  const std::int64_t start = host_nanoseconds();
  while ((timing.stopped_by = nearly_enough(timing, plan, start)).empty()) {
    timing.samples.push_back(sample(launch_kind::sample));
    summarise(timing);
  }
  timing.samples.push_back(sample(launch_kind::last_sample));
  summarise(timing);
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
void let_the_front_watch(const std::function<void(std::int64_t)>& enqueue, const timing_record& timing,
                         const sample_hooks& hooks) {
  const double one = std::max(1.0, timing.median);
  const auto launches = static_cast<std::int64_t>(std::clamp(std::ceil(watched_nanoseconds / one), 1.0, 1e5));
  const std::int64_t at_once = hooks.capturable ? launches : 1;
  for (std::int64_t done = 0; done < launches; done += at_once) {
    hooks.before(launch_kind::warm_up);
    processes::meet();
    hooks.begins();
    const std::int64_t start = host_nanoseconds();
    for (std::int64_t i = 0; i < at_once; ++i) enqueue(0);
    processes::meet();
    hooks.ended(at_once, host_nanoseconds() - start);
  }
}

timing_record measure_on_host(const std::function<void(std::int64_t)>& enqueue, const measure_plan& plan,
                              const sample_hooks& hooks) {
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
  collect(timing, plan, once);
  timing.unstable = false;  // a host may have other work, and its time is not what is measured
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
constexpr std::int64_t max_retries = 20;
// Warming up a kernel of seconds with several launches teaches nothing.
constexpr double longest_warmup_seconds = 0.3;

class gpu_sampler {
 public:
  gpu_sampler(const std::function<void(std::int64_t)>& enqueue, const measure_plan& plan, cudaStream_t stream,
              const sample_hooks& hooks)
      : enqueue_(enqueue),
        hooks_(hooks),
        plan_(plan),
        stream_(stream),
        highest_clock_mhz_(processes::smallest(attribute(cudaDevAttrClockRate) / 1e3)),
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
      return [&, take](launch_kind kind) {
        for (;;) {
          hooks_.before(kind);
          const double time = processes::largest(take());
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
    const bool warm = plan_.l2 == cache_state::warm;
    if (!hooks_.capturable || estimate >= (warm ? short_warm_kernel_nanoseconds : short_kernel_nanoseconds)) {
      collect(timing, plan_, watched([this] { return sample_with_events(); }));
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
        for (std::int64_t place = 0; place < timing.launches_per_sample; ++place) enqueue_(place);
        stop.record_in_graph(stream_);
      });
      one.replay(stream_);
      const auto launches = static_cast<double>(timing.launches_per_sample);
      collect(timing, plan_, watched([&] {
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
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, plan_.warmups); ++i) {
      hooks_.before(launch_kind::warm_up);
      last = processes::largest(sample_with_events());
      if (agreed_seconds_since(start) > longest_warmup_seconds) break;
    }
    return last;
  }

  // Several processes begin when all of them are ready: the flush then gives each host the time to be ahead
  // of its device.
  double sample_with_events() {
    if (processes::are_several()) {
      CUDA_CHECK(cudaStreamSynchronize(stream_));
      processes::meet();
    }
    if (plan_.l2 == cache_state::cold) {
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

timing_record measure(const std::function<void(std::int64_t)>& enqueue, const measure_plan& plan,
                      [[maybe_unused]] cudaStream_t stream, const sample_hooks& hooks) {
#if LAB_EMULATED
  return measure_on_host(enqueue, plan, hooks);
#else
  return gpu_sampler(enqueue, plan, stream, hooks).run();
#endif
}

namespace {

// Below this many times the L2 cache's size, part of what a launch reads or writes never goes to memory.
constexpr std::int64_t min_cache_multiple = 4;

bool is_cached(const ceiling_need& need) {
  return need.bytes / need.gpus < min_cache_multiple * attribute(cudaDevAttrL2CacheSize);
}

// One of the plain operations that a ceiling is the fastest of.
struct plain_operation {
  std::string name;
  std::function<void()> enqueue;
};

// The fastest of them. All are measured as a stage would be, the first to find out how the others compare.
ceiling_record fastest_of(const ceiling_need& need, const std::vector<plain_operation>& operations,
                          const measure_plan& plan, cudaStream_t stream) {
  ceiling_record best{.kind = need.kind, .bytes = need.bytes, .cached = is_cached(need)};
  for (const plain_operation& one : operations) {
    timing_record timing =
        measure([&](std::int64_t) { one.enqueue(); }, plan, stream, {.capturable = need.gpus == 1});
    if (!best.operation.empty() && timing.median >= best.timing.median) continue;
    best.operation = one.name;
    best.timing = std::move(timing);
  }
  return best;
}

// Whole 16-byte words, of which plain kernels move one or more at a time.
constexpr std::size_t word_bytes = 16;
std::size_t in_words(std::size_t bytes) {
  return (bytes + word_bytes - 1) / word_bytes * word_bytes;
}

std::string kernel_name(const char* does, int words) {
  return std::string(does) + " kernel, " + std::to_string(words) + " x 16 bytes a thread";
}

void require_free(std::size_t bytes) {
  if (const std::size_t free_bytes = processes::smallest(memory::available()); bytes > free_bytes)
    throw memory_error(bytes, free_bytes);
}

ceiling_record measure_read(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const std::size_t bytes = in_words(static_cast<std::size_t>(need.bytes));
  require_free(bytes);
  const device_buffer<double> from(bytes / sizeof(double), stream);
  generate(from.data(), static_cast<std::int64_t>(from.size()), pattern::random, 1, stream);
  std::vector<plain_operation> operations;
  for (const int words : plain_kernel_words) {
    operations.push_back(
        {kernel_name("read", words), [&, words] { read_all(from.data(), bytes, words, stream); }});
  }
  return fastest_of(need, operations, plan, stream);
}

ceiling_record measure_write(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const std::size_t bytes = in_words(static_cast<std::size_t>(need.bytes));
  require_free(bytes);
  const device_buffer<unsigned char> to(bytes, stream);
  std::vector<plain_operation> operations;
  operations.push_back({"memset", [&] {
                          if (bytes > 0) CUDA_CHECK(cudaMemsetAsync(to.data(), 0x5a, bytes, stream));
                        }});
  for (const int words : plain_kernel_words) {
    operations.push_back(
        {kernel_name("write", words), [&, words] { write_all(to.data(), bytes, words, stream); }});
  }
  return fastest_of(need, operations, plan, stream);
}

// As many bytes read and written as the need says: no single operation of the runtime does that.
ceiling_record measure_uneven_copy(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const std::size_t written = in_words(static_cast<std::size_t>(*need.written_bytes));
  const std::size_t read = in_words(static_cast<std::size_t>(need.bytes - *need.written_bytes));
  require_free(read + written);
  const device_buffer<double> from(read / sizeof(double), stream);
  const device_buffer<double> to(written / sizeof(double), stream);
  generate(from.data(), static_cast<std::int64_t>(from.size()), pattern::random, 1, stream);
  std::vector<plain_operation> operations;
  for (const int words : plain_kernel_words) {
    operations.push_back({kernel_name("uneven copy", words),
                          [&, words] { copy_uneven(to.data(), written, from.data(), read, words, stream); }});
  }
  return fastest_of(need, operations, plan, stream);
}

// Half of the bytes read, half written.
ceiling_record measure_copy(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const std::size_t half = in_words(static_cast<std::size_t>(need.bytes) / 2);
  require_free(2 * half);
  const device_buffer<double> from(half / sizeof(double), stream);
  const device_buffer<double> to(half / sizeof(double), stream);
  generate(from.data(), static_cast<std::int64_t>(from.size()), pattern::random, 1, stream);
  poison(to.data(), static_cast<std::int64_t>(to.size()), stream);
  std::vector<plain_operation> operations;
  operations.push_back(
      {"memcpy", [&] {
         if (half == 0) return;
         CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), half, cudaMemcpyDeviceToDevice, stream));
       }});
  for (const int words : plain_kernel_words) {
    operations.push_back(
        {kernel_name("copy", words), [&, words] { copy_all(to.data(), from.data(), half, words, stream); }});
  }
  return fastest_of(need, operations, plan, stream);
}

// What one GPU moves while the others do the same.
struct busy_gpu {
  busy_gpu(int its_device, cudaStream_t given, std::size_t read, std::size_t written)
      : device(its_device),
        work(given == nullptr ? own.emplace().get() : given),
        from(read / sizeof(double), work),
        to(written / sizeof(double), work) {
    generate(from.data(), static_cast<std::int64_t>(from.size()), pattern::random, 1, work);
  }

  int device;
  std::optional<lab::stream> own;  // of all but the first, whose stream is the caller's
  cudaStream_t work;
  untimed_event begin, end;
  device_buffer<double> from, to;
};

// What crosses from the second GPU of a group to the first, alone.
link_record measure_link(const std::vector<int>& devices, const measure_plan& plan, cudaStream_t stream) {
  constexpr std::size_t bytes = (emulated ? std::size_t{1} : std::size_t{256}) << 20;
  const std::vector<int> two(devices.begin(), devices.begin() + 2);
  share_memory(two);
  std::optional<busy_gpu> sender;
  {
    const gpu_scope scope(two[1]);
    require_free(bytes);
    sender.emplace(two[1], nullptr, bytes, 0);
    CUDA_CHECK(cudaStreamSynchronize(sender->work));
  }
  require_free(bytes);
  const device_buffer<unsigned char> to(bytes, stream);
  const auto time_of = [&](std::size_t count) {
    return measure(
        [&](std::int64_t) {
          CUDA_CHECK(cudaMemcpyPeerAsync(to.data(), two[0], sender->from.data(), two[1], count, stream));
        },
        plan, stream, {.capturable = false});
  };
  link_record record{.direct = why_no_peer_access(two).empty(), .bytes = static_cast<std::int64_t>(bytes)};
  record.timing = time_of(bytes);
  record.of_8_bytes = time_of(8);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const gpu_scope scope(two[1]);
  sender.reset();
  return record;
}

// All GPUs of a group at once, from a common start to the last one's end.
ceiling_record measure_on_all(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  const bool reads = need.kind != "write";
  const bool writes = need.kind != "read";
  const auto each_bytes = static_cast<std::size_t>(need.bytes / need.gpus);
  const std::size_t bytes = in_words(reads && writes ? each_bytes / 2 : each_bytes);
  require_free((reads ? bytes : 0) + (writes ? bytes : 0));
  std::vector<std::unique_ptr<busy_gpu>> gpus;
  for (const int device : group_devices(need.gpus)) {
    if (device < 0) continue;  // of another process
    const gpu_scope scope(device);
    gpus.push_back(std::make_unique<busy_gpu>(device, gpus.empty() ? stream : nullptr, reads ? bytes : 0,
                                              writes ? bytes : 0));
  }
  std::vector<plain_operation> operations;
  for (const int words : plain_kernel_words) {
    operations.push_back(
        {std::to_string(need.gpus) + " GPUs, each with a " + kernel_name(need.kind.c_str(), words),
         [&, words] {
           CUDA_CHECK(cudaEventRecord(gpus.front()->begin.get(), stream));
           for (const auto& gpu : gpus) {
             const gpu_scope scope(gpu->device);
             CUDA_CHECK(cudaStreamWaitEvent(gpu->work, gpus.front()->begin.get(), 0));
             if (reads && writes) {
               copy_all(gpu->to.data(), gpu->from.data(), bytes, words, gpu->work);
             } else if (reads) {
               read_all(gpu->from.data(), bytes, words, gpu->work);
             } else {
               write_all(gpu->to.data(), bytes, words, gpu->work);
             }
             CUDA_CHECK(cudaEventRecord(gpu->end.get(), gpu->work));
             CUDA_CHECK(cudaStreamWaitEvent(stream, gpu->end.get(), 0));
           }
         }});
  }
  ceiling_record record = fastest_of(need, operations, plan, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (auto& gpu : gpus) {
    const gpu_scope scope(gpu->device);
    CUDA_CHECK(cudaStreamSynchronize(gpu->work));
    gpu.reset();
  }
  // No process can name another's memory.
  if (!processes::are_several()) record.link = measure_link(group_devices(need.gpus), plan, stream);
  return record;
}

}  // namespace

ceiling_record measure_ceiling(const ceiling_need& need, const measure_plan& plan, cudaStream_t stream) {
  if (need.gpus > 1) return measure_on_all(need, plan, stream);
  if (need.kind == "read") return measure_read(need, plan, stream);
  if (need.kind == "write") return measure_write(need, plan, stream);
  if (need.written_bytes && 2 * *need.written_bytes != need.bytes)
    return measure_uneven_copy(need, plan, stream);
  if (need.kind == "copy") return measure_copy(need, plan, stream);
  throw usage_error("no ceiling is called " + need.kind);
}

timing_record measure_floor(const measure_plan& plan, cudaStream_t stream) {
  return measure([stream](std::int64_t) { empty(stream); }, plan, stream);
}

namespace {

// A timed launch did not leave what it must.
class wrong_sample : public std::exception {
 public:
  explicit wrong_sample(failure_record failure) : failure_(std::move(failure)) {}
  [[nodiscard]] const failure_record& failure() const { return failure_; }

 private:
  failure_record failure_;
};

// The launches that are timed: their inputs, and what came of them.
class timed_launches {
 public:
  timed_launches(const stage_entry& stage, const parameter_values& parameters, std::uint64_t seed,
                 const measure_plan& plan, cudaStream_t stream, std::function<void()> tell)
      : stage_(stage),
        stream_(stream),
        tell_(std::move(tell)),
        first_seed_(seed ^ 0x71aed),
        next_seed_(first_seed_) {
    const std::size_t before = memory::in_use();
    add_workload(parameters);
    capturable_ = workloads_[0]->capturable() && !stage.traits.synchronises;
    // Some of the first samples are looked at closely, and which ones only this knows.
    // Those that no repetition can stand for must come, however few samples a slow stage takes.
    const std::int64_t fewest =
        stage.traits.nondeterministic ? plan.minimum_samples / 2 : plan.minimum_samples;
    const auto minimum = static_cast<std::uint64_t>(std::max<std::int64_t>(1, fewest - 1));
    // Where no repetition can tell, more of them.
    const std::uint64_t wanted = stage.traits.nondeterministic ? 4 : 1;
    for (std::uint64_t k = 0; k < wanted; ++k) checked_.insert(drawn_number(k) % minimum);
    if (plan.l2 != cache_state::warm || !capturable_) return;
    // Warm, several launches make a sample, and what all of them touch must stay in the cache.
    const std::size_t footprint = std::max<std::size_t>(1, memory::in_use() - before);
    const std::size_t room = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize)) / 2;
    for (std::size_t k = 1; k < std::min<std::size_t>(room / footprint, max_workloads); ++k)
      add_workload(parameters);
  }

  [[nodiscard]] sample_hooks hooks(const sample_hooks& announce) {
    return {.before = [this](launch_kind kind) { before(kind); },
            .after = [this] { after(); },
            .begins = announce.begins,
            .ended = announce.ended,
            .capturable = capturable_,
            .max_batch = static_cast<std::int64_t>(workloads_.size())};
  }

  [[nodiscard]] double preparation_nanoseconds() const { return workloads_[0]->preparation_nanoseconds(); }

  void launch(std::int64_t place) {
    const auto which = static_cast<std::size_t>(place);
    launched_ = std::max(launched_, which + 1);
    workloads_[which]->launch();
  }

  // The last launch in full; and some of those that were not, once more, on the same input.
  void recheck() {
    check_all();
    if (stage_.traits.nondeterministic) return;
    workload& work = *workloads_[0];
    const std::int64_t start = host_nanoseconds();
    const auto never_taken =
        static_cast<std::size_t>(std::distance(checked_.lower_bound(taken_), checked_.end()));
    // None twice: whoever gains a time by wrong launches is wrong in half of them, and is met among the
    // first.
    for (std::size_t k = 0; k < std::min(left_.size(), max_repeated); ++k) {
      if (k >= min_repeated && agreed_seconds_since(start) > repetition_seconds) break;
      tell_();
      std::swap(left_[k], left_[k + drawn_number(100 + k) % (left_.size() - k)]);
      const auto& [seed, digest] = left_[k];
      work.vary(seed);
      work.poison();
      work.launch();
      if (work.digest() != digest) {
        throw wrong_sample({.kind = failure_kind::wrong,
                            .expected = "the same bits from a timed launch and its repetition",
                            .found = "other bits"});
      }
      if (k >= never_taken) continue;
      if (const check_result result = work.check(); result.failure) throw wrong_sample(*result.failure);
    }
  }

 private:
  static constexpr std::size_t min_repeated = emulated ? 6 : 4;
  static constexpr std::size_t max_repeated = 64;
  static constexpr double repetition_seconds = 0.2;
  static constexpr std::size_t max_workloads = 64;

  // What no stage can know beforehand.
  static std::uint64_t drawn_number(std::uint64_t k) {
    static const std::uint64_t secret =
        processes::of_rank_0(random_bits(static_cast<std::uint64_t>(host_nanoseconds()), 0));
    return random_bits(secret, k);
  }

  void add_workload(const parameter_values& parameters) {
    workloads_.push_back(track_of(stage_).make(stage_, parameters, stream_));
    last_seeds_.push_back(random_bits(next_seed_++, 0));
    workloads_.back()->prepare(pattern::random, last_seeds_.back());
  }

  // New inputs. Those of the samples that are checked in full are the same for every stage, so that their
  // references are worked out once; this stage meets each of them once.
  void before(launch_kind kind) {
    const auto found = kind == launch_kind::sample ? checked_.find(taken_) : checked_.end();
    const auto which = static_cast<std::uint64_t>(std::distance(checked_.begin(), found));
    const bool is_checked = found != checked_.end() || kind == launch_kind::last_sample;
    for (std::size_t k = 0; k < workloads_.size(); ++k) {
      last_seeds_[k] = is_checked ? random_bits(first_seed_ + k, 1 + which) : random_bits(next_seed_++, 0);
      workloads_[k]->vary(last_seeds_[k]);
      workloads_[k]->poison();
    }
    tell_();
    prepared_at_ = host_nanoseconds();
  }

  // A launch that takes longer than all repetitions may is checked in full instead of being made again.
  void after() {
    const bool is_slow = agreed_seconds_since(prepared_at_) > repetition_seconds;
    const bool is_chosen = checked_.contains(taken_++);
    if (is_chosen || (is_slow && is_quickly_checked_)) {
      const std::int64_t start = host_nanoseconds();
      check_all();
      is_quickly_checked_ = agreed_seconds_since(start) < repetition_seconds;
      if (is_slow) return;
    }
    for (std::size_t k = 0; k < launched_; ++k) {
      if (const auto failure = workloads_[k]->damage()) throw wrong_sample(*failure);
    }
    if (stage_.traits.nondeterministic) return;
    for (std::size_t k = 0; k < launched_; ++k) left_.emplace_back(last_seeds_[k], workloads_[k]->digest());
  }

  void check_all() {
    tell_();
    for (std::size_t k = 0; k < launched_; ++k) {
      const check_result result = workloads_[k]->check();
      if (result.failure) throw wrong_sample(*result.failure);
    }
  }

  const stage_entry& stage_;
  cudaStream_t stream_;
  std::function<void()> tell_;
  std::vector<std::unique_ptr<workload>> workloads_;
  bool capturable_ = true;
  std::size_t launched_ = 0;  // of the workloads, in each sample
  std::uint64_t first_seed_;
  std::uint64_t next_seed_;
  std::vector<std::uint64_t> last_seeds_;
  std::uint64_t taken_ = 0;
  std::int64_t prepared_at_ = 0;
  bool is_quickly_checked_ = true;  // as far as is known
  std::set<std::uint64_t> checked_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> left_;  // the seed of each sample, and its digest
};

// The verifier with the stage's proof behind it: made here, or `proved` before, and then with the checks of
// the measured size alone (all of them with `whole`).
verifier proved_at(const stage_entry& stage, const parameter_values& parameters, trial_seeds seeds,
                   const proof_to_time& proof, cudaStream_t stream, const progress_sink& progress) {
  verifier checks(stage, seeds, stream, progress);
  if (!proof.made) {
    if (checks.trials(true)) checks.at(parameters);
    return checks;
  }
  checks.record() = *proof.made;
  checks.record().declared_bound = checks.record().relative_error = checks.record().relative_bound = 0;
  if (proof.whole) {
    checks.at(parameters);
  } else {
    checks.exact_at(parameters);
  }
  return checks;
}

}  // namespace

measured verify_and_measure(const stage_entry& stage, const parameter_values& parameters, trial_seeds seeds,
                            const proof_to_time& proof, const measure_plan& plan, cudaStream_t stream,
                            const sample_hooks& announce, const progress_sink& progress) {
  verifier checks = proved_at(stage, parameters, seeds, proof, stream, progress);
  // An expected failure never passes, so it never gets a time.
  if (!checks.record().passed) return {checks.record(), std::nullopt};
  timing_record timing;
  const launch_setup timed{pattern::random, seeds.fixed};
  try {
    checks.set_phase("timed");
    timed_launches launches(stage, parameters, seeds.fixed, plan, stream, [&] { checks.tell(); });
    timing =
        measure([&](std::int64_t place) { launches.launch(place); }, plan, stream, launches.hooks(announce));
    timing.preparation = launches.preparation_nanoseconds();
    launches.recheck();
  } catch (const wrong_sample& wrong) {
    checks.fail(wrong.failure(), parameters, timed, ", while timed");
  } catch (const stage_error& error) {
    checks.fail({.kind = error.kind(), .found = error.what()}, parameters, timed, ", while timed");
  } catch (const cuda_error& error) {
    checks.fail(launch_failure(error, failure_kind::crash), parameters, timed, ", while timed");
  }
  if (!checks.record().passed) return {checks.record(), std::nullopt};
  return {checks.record(), std::move(timing)};
}

}  // namespace lab
