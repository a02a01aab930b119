#include "harness/device/verify/verifier.hpp"

#include <algorithm>
#include <ctime>
#include <memory>
#include <numeric>

#include "common/memory.hpp"
#include "common/random.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/protocol.hpp"

namespace lab {
namespace {

// Launches on one input after which a nondeterministic stage must have shown that it is.
constexpr int max_repetitions = 20;

// On a GPU code that is loaded at its first launch, and local memory, are not told from what the stage keeps.
constexpr std::size_t kept_by_the_driver = emulated ? 0 : std::size_t{64} << 20;

// What launch() finds, or what a function of the stage's has done that it must not.
template <class Launch>
check_result result_of(const Launch& launch) {
  try {
    return launch();
  } catch (const stage_error& error) {
    return {.failure = failure_record{.kind = error.kind(), .found = error.what()}};
  }
}

}  // namespace

verifier::verifier(const stage_entry& stage, trial_seeds seeds, cudaStream_t stream, progress_sink progress)
    : stage_(stage),
      track_(track_of(stage)),
      seeds_(seeds),
      stream_(stream),
      progress_(std::move(progress)),
      kept_before_(memory::foreign()) {
  record_ = {
      .passed = true, .reproducible = !stage.traits.nondeterministic, .seeds = {seeds.fixed, seeds.drawn}};
}

void verifier::tell(const char* remark) {
  const auto now = std::chrono::steady_clock::now();
  if (!progress_ || now - told_ < std::chrono::seconds(1)) return;
  told_ = now;
  progress_(phase_ + remark);
}

void verifier::add(const check_result& result) {
  record_.compared += result.compared;
  record_.largest_error = std::max(record_.largest_error, result.largest_error);
}

void verifier::note_errors(const check_result& result) {
  // Where a trait excuses some errors, those of the others say nothing.
  if (result.drifted || result.leaked) return;
  add(result);
  record_.relative_error = std::max(record_.relative_error, result.relative_error);
  if (result.relative_bound > 0) record_.relative_bound = result.relative_bound;
}

bool verifier::fail(failure_record failure, const parameter_values& parameters, const launch_setup& setup,
                    const char* remark) {
  failure.test_case = trial_name(parameters, setup) + remark;
  record_.passed = false;
  record_.failed_as_expected = is_expected(stage_, failure);
  if (stage_.traits.expected_failure && !record_.failed_as_expected) {
    failure = {.kind = failure_kind::wrong,
               .expected = "a stage that fails as it says (" + expected_failure_text(stage_) + ")",
               .found = "another failure: " + failure_message(failure)};
  }
  record_.failure = std::move(failure);
  return false;
}

bool verifier::check(workload& work, const parameter_values& parameters, const launch_setup& setup,
                     const char* remark) {
  tell(remark);
  check_result result = result_of([&] { return run_and_check(work, setup, stream_, &order_); });
  note_traits(result, parameters, setup.input);
  note_errors(result);
  if (!result.failure) return true;
  tell_unwritten(work, *result.failure, setup);
  return fail(std::move(*result.failure), parameters, setup, remark);
}

// An output that is never written holds what memory held, whatever that was. One that is made of what it
// held, and so of the poison, is written.
void verifier::tell_unwritten(workload& work, failure_record& failure, const launch_setup& setup) const {
  const bool seems_unwritten = failure.kind == failure_kind::unwritten;
  if (!failure.index || !(seems_unwritten || failure.kind == failure_kind::wrong)) return;
  std::optional<bool> is_written;
  try {
    const thread_order order(setup.reversed, order_);
    is_written = work.writes_what_it_finds(*failure.index);
  } catch (const std::exception&) {
    return;  // what was found first counts
  }
  if (!is_written || *is_written != seems_unwritten) return;
  if (seems_unwritten) {
    failure.kind = failure_kind::wrong;
    failure.expected = "an output computed from the input alone";
    failure.found =
        "nan, computed from memory that was never written (of the output, of scratch memory, or beyond the "
        "end of an array)";
  } else {
    failure.kind = failure_kind::unwritten;
    failure.expected = failure.found = "";
  }
}

void verifier::note_traits(const check_result& result, const parameter_values& parameters, pattern input) {
  const bool running = track_.has_running_sums(parameters);
  drift_.tried |= stage_.traits.drifts && running && shows_drift(input);
  leaks_.tried |= stage_.traits.leaks_nonfinite && running && shows_leaks(input);
  drift_.shown |= result.drifted;
  forgot_ |= result.forgot;
  leaks_.shown |= result.leaked;
}

// Once more on the input of the launch before, in another order where there is one.
void verifier::check_same_bits(workload& work, const trial& one, launch_setup setup) {
  if (!stage_.traits.nondeterministic) {
    setup.reversed = !setup.reversed;
    const char* const remark = ", launched once more";
    try {
      const thread_order order(setup.reversed, order_);
      std::optional<failure_record> failure;
      if (other_bits(work, 1)) {
        failure = {.kind = failure_kind::wrong,
                   .expected = "the same bits as the run before",
                   .found = "other bits, and the stage is not declared nondeterministic"};
      } else if (emulated) {
        failure = work.check_repetitions();
      }
      if (failure) fail(std::move(*failure), one.parameters, setup, remark);
    } catch (const cuda_error& error) {
      fail(launch_failure(error, failure_kind::crash), one.parameters, setup, remark);
    }
    return;
  }
  // The emulator runs blocks in an order of its own, the same every time.
  if (emulated || !thorough_) return;
  other_bits_.tried = true;
  if (!other_bits_.shown) other_bits_.shown = other_bits(work, max_repetitions);
}

check_result verifier::launch_renewed(workload& work, std::uint64_t seed, bool reversed) const {
  return launch_and_check([&] { work.renew(seed); }, [&] { work.launch(); }, work, reversed, stream_, order_);
}

// Inputs that differ little, in memory that nobody has filled in between: what a stage has kept of the launch
// before, in its scratch memory or elsewhere, is no answer to the next.
void verifier::check_one_after_another(workload& work, const trial& one) {
  launch_setup setup{one.input, one.seed.value_or(seeds_.drawn)};
  if (!check(work, one.parameters, setup)) return;
  for (const std::uint64_t seed : one.then) {
    setup.seed = seed;
    tell();
    check_result result = result_of([&] { return launch_renewed(work, seed, false); });
    add(result);
    if (result.failure) {
      fail(std::move(*result.failure), one.parameters, setup, ", after a launch on nearly the same input");
      return;
    }
  }
}

// Blocks that start last to first, in scratch memory as a launch on another input has left it: flags that
// are mistaken for new ones show (docs/measuring.md, left over).
void verifier::check_left_over([[maybe_unused]] workload& work, [[maybe_unused]] const trial& one) {
#if LAB_EMULATED
  constexpr int enough = 2;  // a launch that waits takes half a second
  if (!order_.blocks_wait || one.seed || waits_for_cleared_ == enough) return;
  const launch_setup setup{.input = one.input, .seed = random_bits(seeds_.drawn, 5), .reversed = true};
  const char* const remark = ", in scratch memory as another launch has left it";
  order_.blocks_wait = false;
  check_result result = result_of([&] { return launch_renewed(work, setup.seed, true); });
  order_.blocks_wait = true;
  if (waits_for_ever(result.failure)) {
    ++waits_for_cleared_;
    emulator::reset();
  } else if (result.failure) {
    fail(std::move(*result.failure), one.parameters, setup, remark);
  }
#endif
}

// Two launches on different data, the second at once behind the first: what is skipped or kept since there
// was one just now shows. Where there is no memory for two, they come one by one anyway.
void verifier::check_in_a_row(workload& work, const trial& one) {
  const std::unique_ptr<workload> other = workload_if_it_fits(one.parameters);
  if (other == nullptr) return;
  const launch_setup setups[] = {{one.input, random_bits(seeds_.drawn, 3)},
                                 {one.input, random_bits(seeds_.drawn, 4)}};
  const auto prepare_both = [&] {
    other->prepare(setups[0].input, setups[0].seed);
    work.prepare(setups[1].input, setups[1].seed);
  };
  const auto launch_both = [&] {
    other->launch();
    work.launch();
  };
  const char* const remark = ", one of two launches in a row";
  tell(remark);
  check_result result = launch_and_check(prepare_both, launch_both, work, false, stream_, order_);
  add(result);
  if (!result.failure) {
    result = other->check();
    add(result);
  }
  if (result.failure) fail(std::move(*result.failure), one.parameters, setups[1], remark);
}

// A trial beyond this device's memory is no fault of the stage.
std::unique_ptr<workload> verifier::workload_if_it_fits(const parameter_values& parameters) const {
  try {
    return track_.make(stage_, parameters, stream_);
  } catch (const memory_error&) {
    return nullptr;
  }
}

void verifier::try_one(const trial& one, std::size_t index) {
  const std::unique_ptr<workload> work = workload_if_it_fits(one.parameters);
  if (work == nullptr) {
    // It counts for nothing.
    ++too_large_;
    --record_.trials;
    return;
  }
  ++record_.cases;
  // What is declared for other sizes than those that are measured is worth a word where it bounds nothing.
  constexpr double loose = 0.01;
  const double declared = track_.declared_bound(stage_, one.parameters);
  if (declared > loose) record_.declared_bound = std::max(record_.declared_bound, declared);
  constexpr memory_fill fills[] = {memory_fill::ones, memory_fill::zeros, memory_fill::random};
  // The emulator's time is short: there the first trials are made in full.
  constexpr std::size_t full_trials_there = 16;
  if (!one.then.empty()) {
    check_one_after_another(*work, one);
    return;
  }
  if (one.brief || (emulated && index >= full_trials_there)) {
    check(*work, one.parameters,
          {one.input, one.seed.value_or(seeds_.drawn), fills[index % 3], index % 2 == 1});
    return;
  }
  const launch_setup first{one.input, one.seed.value_or(seeds_.fixed)};
  const launch_setup second{one.input, one.seed.value_or(seeds_.drawn), fills[1 + index % 2], true};
  if (!check(*work, one.parameters, first)) return;
  if (!check(*work, one.parameters, second, ", second launch")) return;
  try {
    check_same_bits(*work, one, second);
    if (record_.passed) check_left_over(*work, one);
    if (!record_.passed || tried_capture_ || !work->capturable()) return;
    tried_capture_ = true;
    if (auto failure = check_capture(*work, stage_.traits.synchronises, stream_))
      fail(std::move(*failure), one.parameters, second);
  } catch (const stage_error& error) {
    fail({.kind = error.kind(), .found = error.what()}, one.parameters, second);
  }
}

void verifier::undemonstrated(const char* trait, const std::string& found) {
  if (!record_.passed) return;
  record_.passed = false;
  record_.failure = failure_record{.kind = failure_kind::wrong,
                                   .expected = std::string("a stage that declares ") + trait,
                                   .found = "a stage that " + found};
}

void verifier::judge_traits() {
  const auto right_on = [](pattern kind) {
    return std::string("is right on every input with ") + to_string(kind);
  };
  if (thorough_ && drift_.tried && !drift_.shown)
    undemonstrated("drifts", right_on(pattern::spikes) + ", or wide");
  if (thorough_ && stage_.traits.forgets > 0 && !forgot_)
    undemonstrated("forgets", right_on(pattern::lone_value));
  if (thorough_ && leaks_.tried && !leaks_.shown)
    undemonstrated("leaks_nonfinite", right_on(pattern::nonfinite));
  if (other_bits_.tried && !other_bits_.shown)
    undemonstrated("nondeterministic", "gives the same bits on every input and in every run");
  if (!stage_.traits.expected_failure || record_.cases == 0) return;
  record_.passed = false;
  record_.failure =
      failure_record{.kind = failure_kind::wrong,
                     .expected = "a stage that fails as it says (" + expected_failure_text(stage_) + ")",
                     .found = "a stage that is right on every input"};
}

// Asked in an order that nobody knows beforehand: what a stage refuses are parameters, and no trials.
std::vector<std::string> verifier::refusals(const std::vector<trial>& all) const {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = order.size(); k > 1; --k)
    std::swap(order[k - 1], order[random_bits(seeds_.drawn ^ 0xa5ced, k) % k]);
  std::vector<std::string> why(all.size());
  for (const std::size_t index : order) why[index] = track_.unsupported(stage_, all[index].parameters);
  return why;
}

// Scratch memory that no device has is no lack of this one's, but a mistake in a number.
bool verifier::fail_absurd(const std::vector<trial>& all, const std::vector<std::string>& refused) {
  const auto is_absurd = [](const std::string& why) {
    return why.find(more_than_any_device_has) != std::string::npos;
  };
  const auto first = std::find_if(refused.begin(), refused.end(), is_absurd);
  if (first == refused.end()) return false;
  const auto count = std::count_if(refused.begin(), refused.end(), is_absurd);
  const trial& one = all[static_cast<std::size_t>(first - refused.begin())];
  fail({.kind = failure_kind::unsupported,
        .found = "it " + *first + ", in " + std::to_string(count) + " of " + std::to_string(all.size()) +
                 " trials"},
       one.parameters, {one.input, one.seed.value_or(seeds_.fixed)});
  return true;
}

// Of those that are more than one of many sizes: whoever is right on its first launches alone, or on those
// that it can count, meets them again.
void verifier::again() {
  phase_ = "trials drawn once more";
  const char* const remark = ", after all others";
  constexpr std::size_t wanted = 6;
  std::vector<trial> full = track_.trials(stage_, true, seeds_.drawn);
  std::erase_if(full, [](const trial& one) { return one.brief || !one.then.empty(); });
  for (std::size_t k = 0; k < std::min(wanted, full.size()); ++k) {
    const trial& one = full[random_bits(seeds_.drawn ^ 0xa6a19, k) % full.size()];
    const launch_setup setup{one.input, one.seed.value_or(random_bits(seeds_.drawn, 2)),
                             k % 2 == 0 ? memory_fill::zeros : memory_fill::random, k % 2 == 1};
    try {
      if (!track_.unsupported(stage_, one.parameters).empty()) continue;
      const auto work = workload_if_it_fits(one.parameters);
      if (work != nullptr && !check(*work, one.parameters, setup, remark)) return;
    } catch (const stage_error& error) {
      fail({.kind = error.kind(), .found = error.what()}, one.parameters, setup, remark);
      return;
    }
  }
}

// A sum in the order in which blocks end may have the same bits again while few blocks run: so it is tried at
// the measured size too.
void verifier::look_for_other_bits() {
  if (!other_bits_.tried || other_bits_.shown) return;
  for (const parameter_values& measured : default_parameters(track_.describe())) {
    if (!track_.unsupported(stage_, measured).empty()) continue;
    const std::unique_ptr<workload> work = workload_if_it_fits(measured);
    if (work == nullptr || !check(*work, measured, {.seed = seeds_.drawn})) return;
    check_same_bits(*work, {.parameters = measured}, {.seed = seeds_.drawn});
    if (other_bits_.shown) return;
  }
}

void verifier::note_kept_memory() {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  const std::size_t now = memory::foreign();
  const std::size_t kept = now > kept_before_ + kept_by_the_driver ? now - kept_before_ : 0;
  // On a GPU the memory of other processes counts, too: what comes and goes is theirs.
  kept_ = emulated ? std::max(kept_.value_or(kept), kept) : std::min(kept_.value_or(kept), kept);
  record_.kept_bytes = static_cast<std::int64_t>(*kept_);
}

// What a proof tries before the measured sizes, in this order. docs/measuring.md says what each step finds.
bool verifier::trials(bool thorough) {
  struct step {
    bool is_thorough;  // left out of a first look
    void (verifier::*run)();
  };
  constexpr step steps[] = {
      {false, &verifier::try_track_trials},    {true, &verifier::again},
      {false, &verifier::look_for_other_bits}, {false, &verifier::require_enough_trials},
      {false, &verifier::note_kept_memory},    {false, &verifier::judge_traits},
  };
  thorough_ = thorough;
  try {
    for (const step& one : steps) {
      if (one.is_thorough && !thorough) continue;
      (this->*one.run)();
      if (!record_.passed) break;
    }
  } catch (const stage_error& error) {
    fail({.kind = error.kind(), .found = error.what()}, {}, {});
  }
  return record_.passed;
}

void verifier::try_track_trials() {
  std::vector<trial> all = track_.trials(stage_, thorough_, seeds_.drawn);
  if (thorough_) {
    const std::vector<trial> larger = track_.larger_trials(stage_, seeds_.drawn);
    all.insert(all.end(), larger.begin(), larger.end());
  }
  const std::vector<std::string> refused = refusals(all);
  if (fail_absurd(all, refused)) return;
  for (std::size_t index = 0; index < all.size() && record_.passed; ++index) {
    phase_ = "trial " + std::to_string(index + 1) + " of " + std::to_string(all.size());
    ++record_.trials;
    if (refused[index].empty()) {
      const std::clock_t begun = std::clock();
      try_one(all[index], index);
      const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
      record_.longest_trial = std::max(record_.longest_trial, seconds);
    } else {
      if (first_refusal_.empty()) first_refusal_ = refused[index];
      ++record_.skipped;
    }
  }
}

// A stage must run at least half of what its track tries.
void verifier::require_enough_trials() {
  if (record_.cases == 0 && record_.skipped == 0)
    throw unsupported_error(stage_.path + ": none of the trials could be run: too little memory");
  const auto too_large = static_cast<std::int64_t>(too_large_);
  if (too_large > record_.trials) {
    throw unsupported_error(stage_.path + ": only " + std::to_string(record_.trials) + " of " +
                            std::to_string(record_.trials + too_large) +
                            " trials fit this device's memory, whose sizes are those of the stage's tile");
  }
  if (2 * record_.skipped <= record_.trials) return;
  record_.passed = false;
  record_.failure = failure_record{.kind = failure_kind::unsupported,
                                   .found = "it runs " + std::to_string(record_.cases) + " of " +
                                            std::to_string(record_.trials) +
                                            " trials, and must run at least half of what its track tries" +
                                            (first_refusal_.empty() ? "" : ": " + first_refusal_)};
}

bool verifier::at(const parameter_values& parameters) {
  if (!record_.passed) return false;
  try {
    launch_at(parameters);
    if (record_.passed) note_kept_memory();
  } catch (const stage_error& error) {
    fail({.kind = error.kind(), .found = error.what()}, parameters, {});
  }
  return record_.passed;
}

bool verifier::exact_at(const parameter_values& parameters) {
  try {
    phase_ = "at the measured size";
    record_.declared_bound = std::max(record_.declared_bound, track_.declared_bound(stage_, parameters));
    const std::vector<trial> exact = track_.exact_trials(stage_, parameters, seeds_.fixed);
    launch_setup setup{.seed = seeds_.fixed};
    if (!exact.empty()) setup = {exact.front().input, exact.front().seed.value_or(seeds_.fixed)};
    ++record_.cases;
    const auto work = track_.make(stage_, parameters, stream_);
    // As much again is for what the stage itself asks for.
    if (progress_ && memory::available() > memory::in_use() + bytes_of_a_context) progress_(next_may_begin);
    check(*work, parameters, setup);
  } catch (const stage_error& error) {
    fail({.kind = error.kind(), .found = error.what()}, parameters, {});
  }
  return record_.passed;
}

void verifier::launch_at(const parameter_values& parameters) {
  phase_ = "at the measured size";
  record_.declared_bound = std::max(record_.declared_bound, track_.declared_bound(stage_, parameters));
  // On the emulator first in the other order, which tells whether blocks wait for earlier ones.
  const launch_setup random{.seed = seeds_.drawn, .reversed = emulated};
  {
    const auto work = track_.make(stage_, parameters, stream_);
    ++record_.cases;
    ++record_.trials;
    const std::clock_t begun = std::clock();
    if (!check(*work, parameters, random)) return;
    const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    // On a GPU launches are repeated while they are timed.
    if (emulated && !stage_.traits.nondeterministic)
      check_same_bits(*work, {.parameters = parameters}, random);
    if (!record_.passed || !try_all(*work, track_.exact_trials(stage_, parameters, seeds_.drawn))) return;
    try_beyond(parameters, seconds);
    if (!record_.passed) return;
  }
  phase_ = "near the measured size";
  parameter_values nearly = track_.nearly(parameters);
  if (!track_.unsupported(stage_, nearly).empty()) nearly = parameters;
  const auto work = track_.make(stage_, nearly, stream_);
  check_in_a_row(*work, {.parameters = nearly});
  if (record_.passed) try_all(*work, track_.other_inputs(stage_, nearly, seeds_.drawn));
}

// The first of the exact trials, of more values than are measured, where a launch and its check took so many
// seconds of processor time at those: it may take a few.
void verifier::try_beyond(const parameter_values& measured, double seconds) {
  constexpr double most_seconds = 3;
  const parameter_values beyond = track_.beyond(measured, most_seconds / seconds);
  if (beyond == measured || !track_.unsupported(stage_, beyond).empty()) return;
  std::vector<trial> exact = track_.exact_trials(stage_, beyond, seeds_.drawn);
  if (exact.empty()) return;
  exact.resize(1);
  phase_ = "beyond the measured size";
  if (const auto work = workload_if_it_fits(beyond)) try_all(*work, exact);
}

// Trials of one size, one after the other.
bool verifier::try_all(workload& work, const std::vector<trial>& all) {
  bool turn = false;
  for (const trial& one : all) {
    ++record_.cases;
    ++record_.trials;
    turn = !turn;
    const launch_setup setup{one.input, one.seed.value_or(seeds_.drawn),
                             turn ? memory_fill::zeros : memory_fill::random, turn};
    if (one.then.empty()) {
      check(work, one.parameters, setup);
    } else {
      check_one_after_another(work, one);
    }
    if (!record_.passed) return false;
  }
  return true;
}

verification_record verify(const stage_entry& stage, trial_seeds seeds, bool thorough, cudaStream_t stream,
                           const std::vector<parameter_values>& measured, progress_sink progress) {
  verifier checks(stage, seeds, stream, std::move(progress));
  if (!checks.trials(thorough)) return checks.record();
  std::string refused;
  std::size_t asked = 0;
  for (const parameter_values& parameters : measured) {
    if (std::string why = track_of(stage).unsupported(stage, parameters); !why.empty()) {
      refused = std::move(why);
      continue;
    }
    ++asked;
    if (!checks.at(parameters)) break;
  }
  if (asked == 0 && !measured.empty()) {
    checks.fail({.kind = failure_kind::unsupported,
                 .found = "it runs nothing of what is measured, and is not proved there: " + refused},
                measured.front(), {});
  }
  return checks.record();
}

std::vector<parameter_values> default_parameters(const track_description& track) {
  std::vector<parameter_values> all{{}};
  for (const parameter_description& parameter : track.parameters) {
    std::vector<parameter_values> longer;
    for (const parameter_values& begun : all) {
      for (const parameter_value& value : parameter.bench_defaults) {
        longer.push_back(begun);
        longer.back()[parameter.name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace lab
