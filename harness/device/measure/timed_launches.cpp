#include "harness/device/measure/timed_launches.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/memory.hpp"
#include "common/random.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/protocol.hpp"
#include "harness/turns.hpp"

namespace lab {
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
  // `checks` hears of each sample, and of each launch that was compared in full.
  timed_launches(const stage_entry& stage, const parameter_values& parameters, std::uint64_t seed,
                 const sampling_options& sampling, cudaStream_t stream, verifier& checks)
      : stage_(stage),
        stream_(stream),
        checks_(checks),
        first_seed_(seed ^ 0x71aed),
        next_seed_(first_seed_) {
    const std::size_t before = memory::in_use();
    add_workload(parameters);
    capturable_ = workloads_[0]->capturable() && !stage.traits.synchronises;
    // One sample is compared in full besides the last one, and where no repetition can tell, up to two: among
    // the first, which come however few samples a slow stage takes.
    const auto minimum =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(sampling.minimum_samples - 1, 1, 2));
    const std::uint64_t wanted = stage.traits.nondeterministic ? 4 : 1;
    for (std::uint64_t k = 0; k < wanted; ++k) checked_.insert(drawn_number(k) % minimum);
    if (sampling.l2 != cache_state::warm || !capturable_) return;
    // Warm, several launches make a sample, and what all of them touch must stay in the cache.
    const std::size_t footprint = std::max<std::size_t>(1, memory::in_use() - before);
    const std::size_t room = static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize)) / 2;
    for (std::size_t k = 1; k < std::min<std::size_t>(room / footprint, max_workloads); ++k)
      add_workload(parameters);
  }

  [[nodiscard]] sample_hooks hooks() {
    return {.before = [this](launch_kind kind) { before(kind); },
            .after = [this] { after(); },
            .capturable = capturable_,
            .max_batch = static_cast<std::int64_t>(workloads_.size())};
  }

  [[nodiscard]] double preparation_nanoseconds() const { return workloads_[0]->preparation_nanoseconds(); }

  void launch(std::int64_t index) {
    const auto which = static_cast<std::size_t>(index);
    launched_ = std::max(launched_, which + 1);
    workloads_[which]->launch();
  }

  // The last launch in full; and some of those that were not, once more, on the same input.
  void recheck() {
    check_all();
    if (stage_.traits.nondeterministic) return;
    workload& work = *workloads_[0];
    const std::int64_t start = host_nanoseconds();
    for (std::size_t k = 0; k < std::min(left_.size(), max_repeated); ++k) {
      if (k >= min_repeated && agreed_seconds_since(start) > repetition_seconds) break;
      checks_.tell();
      std::swap(left_[k], left_[k + drawn_number(100 + k) % (left_.size() - k)]);
      const auto& [seed, digest] = left_[k];
      work.vary(seed);
      work.poison();
      work.launch();
      if (work.digest() == digest) continue;
      throw wrong_sample({.kind = failure_kind::wrong,
                          .expected = "the same bits from a timed launch and its repetition",
                          .found = "other bits"});
    }
  }

 private:
  static constexpr std::size_t min_repeated = emulated ? 6 : 1;
  static constexpr std::size_t max_repeated = 64;
  static constexpr double repetition_seconds = 0.05;
  static constexpr std::size_t max_workloads = 64;

  [[nodiscard]] std::uint64_t drawn_number(std::uint64_t k) const { return random_bits(~first_seed_, k); }

  void add_workload(const parameter_values& parameters) {
    workloads_.push_back(track_of(stage_).make(stage_, parameters, stream_));
    last_seeds_.push_back(random_bits(next_seed_++, 0));
    workloads_.back()->prepare(pattern::random, last_seeds_.back());
  }

  // New inputs. Those of the samples that are compared in full are the same for every stage, so that their
  // references are worked out once; this stage meets each of them once. (A long warm-up that counts as the
  // first sample has inputs of its own.)
  void before(launch_kind kind) {
    const auto found = kind == launch_kind::sample ? checked_.find(taken_) : checked_.end();
    const auto which = static_cast<std::uint64_t>(std::distance(checked_.begin(), found));
    is_last_ = kind == launch_kind::last_sample;
    const bool is_checked = found != checked_.end() || is_last_;
    for (std::size_t k = 0; k < workloads_.size(); ++k) {
      last_seeds_[k] = is_checked ? random_bits(first_seed_ + k, 1 + which) : random_bits(next_seed_++, 0);
      workloads_[k]->vary(last_seeds_[k]);
      workloads_[k]->poison();
    }
    checks_.tell();
  }

  void after() {
    if (checked_.contains(taken_++)) return check_all();
    if (is_last_) return;  // recheck() compares it
    for (std::size_t k = 0; k < launched_; ++k) {
      if (const auto failure = workloads_[k]->damage()) throw wrong_sample(*failure);
    }
    if (stage_.traits.nondeterministic) return;
    for (std::size_t k = 0; k < launched_; ++k) left_.emplace_back(last_seeds_[k], workloads_[k]->digest());
  }

  void check_all() {
    checks_.tell();
    for (std::size_t k = 0; k < launched_; ++k) {
      const check_result result = workloads_[k]->check();
      if (result.failure) throw wrong_sample(*result.failure);
      checks_.note_errors(result);
    }
  }

  const stage_entry& stage_;
  cudaStream_t stream_;
  verifier& checks_;
  std::vector<std::unique_ptr<workload>> workloads_;
  bool capturable_ = true;
  std::size_t launched_ = 0;  // of the workloads, in each sample
  std::uint64_t first_seed_;
  std::uint64_t next_seed_;
  std::vector<std::uint64_t> last_seeds_;
  std::uint64_t taken_ = 0;
  bool is_last_ = false;
  std::set<std::uint64_t> checked_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> left_;  // the seed of each sample, and its digest
};

// The verifier with the stage's proof behind it: made here, or `proved` before, and then with the checks of
// the measured size alone (all of them with `whole`).
verifier proved_at(const stage_entry& stage, const parameter_values& parameters, trial_seeds seeds,
                   const proof_to_time& proof, cudaStream_t stream, const progress_sink& progress) {
  verifier checks(stage, seeds, stream, progress);
  if (!proof.record) {
    if (checks.trials(true)) checks.at(parameters);
    return checks;
  }
  checks.record() = *proof.record;
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
                            const proof_to_time& proof, const sampling_options& sampling, cudaStream_t stream,
                            const progress_sink& progress) {
  verifier checks = proved_at(stage, parameters, seeds, proof, stream, progress);
  // An expected failure never passes, so it never gets a time.
  if (!checks.record().passed) return {checks.record(), std::nullopt};
  timing_record timing;
  const launch_setup timed{pattern::random, seeds.fixed};
  try {
    checks.set_phase("timed");
    { const turn row(row_turn); }
    std::optional<turn> device(device_turn);
    timed_launches launches(stage, parameters, seeds.fixed, sampling, stream, checks);
    timing = measure([&](std::int64_t index) { launches.launch(index); }, sampling, stream, launches.hooks());
    device.reset();
    timing.preparation = launches.preparation_nanoseconds();
    if (progress && memory::available() > bytes_of_a_context) progress(timing_is_over);
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
