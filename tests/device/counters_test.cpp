// Observed, every stage is right and does nothing that it is told off for; an expected failure fails as it
// says.
#include <algorithm>
#include <string>

#include "common/emulator/core/emulator.hpp"
#include "common/memory.hpp"
#include "common/stream.hpp"
#include "harness/device/counters.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/protocol.hpp"
#include "tests/catch.hpp"

namespace {

// The metric's sum over the kernels.
double sum_of(const lab::profile_record& profile, const std::string& metric) {
  double sum = 0;
  for (const lab::kernel_record& kernel : profile.kernels) {
    const auto found = kernel.metrics.find(metric);
    if (found != kernel.metrics.end()) sum += found->second;
  }
  return sum;
}

// Stages with bulk copies or clusters in twenty orders of these, in another trial each.
void count_in_other_orders(const lab::stage_entry& stage, std::vector<lab::trial> trials,
                           cudaStream_t stream) {
  std::erase_if(trials, [&](const lab::trial& one) {
    return !lab::track_of(stage).unsupported(stage, one.parameters).empty();
  });
  for (unsigned seed = 1; seed < 20; ++seed) {
    lab::emulator::configure({.threads = 2, .reverse = seed % 2 != 0, .seed = seed});
    const lab::trial& trial = trials[seed % trials.size()];
    INFO("order " << seed << ", " << lab::trial_name(trial.parameters, {.input = trial.input, .seed = seed}));
    const auto work = lab::track_of(stage).make(stage, trial.parameters, stream);
    const lab::counted found = lab::count_kernels(*work, {.input = trial.input, .seed = seed}, stream);
    INFO((found.check.failure ? lab::failure_message(*found.check.failure) : std::string("no failure")));
    CHECK(!found.check.failure);
    CHECK(found.profile.diagnostics.empty());
  }
  lab::emulator::configure({.threads = 2});
}

// The number of the only line that holds `words`.
std::size_t line_of(const std::string& source, const std::string& words) {
  const std::size_t offset = source.find(words);
  REQUIRE(offset != std::string::npos);
  REQUIRE(source.find(words, offset + 1) == std::string::npos);
  return 1 + static_cast<std::size_t>(
                 std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

}  // namespace

TEST_CASE("a missing barrier is a race between the two lines that it should part") {
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("shared_tile/02_missing_barrier");
  for (const bool reverse : {false, true}) {
    INFO("last thread first: " << reverse);
    lab::emulator::configure({.threads = 2, .reverse = reverse});
    const auto work = lab::track_of(stage).make(stage, {{"width", 64}, {"height", 64}}, stream.get());
    const lab::counted found = lab::count_kernels(*work, {.seed = 7}, stream.get());
    lab::emulator::reset();
    REQUIRE(found.check.failure);
    CHECK(found.check.failure->kind == lab::failure_kind::race);
    const std::string file = "stages/shared_tile/02_missing_barrier/stage.cu";
    const std::string& source = found.profile.sources.at(file);
    for (const char* words : {"values[threadIdx.y][threadIdx.x] =", "image[y * width + x] ="}) {
      const std::string line = file + ":" + std::to_string(line_of(source, words));
      INFO(found.check.failure->found << " should name " << line);
      CHECK(found.check.failure->found.find(line) != std::string::npos);
    }
  }
}

// The proofs observe each stage in both orders of its threads, on more trials.
TEST_CASE(
    "every portable stage is observed in silence, in twenty orders of bulk copies, expected failures aside") {
  lab::emulator::configure({.threads = 2});
  const lab::stream stream;
  std::size_t counted = 0, in_orders = 0;
  for (const std::string& name : lab::track_names()) {
    const lab::track& track = lab::find_track(name);
    for (const lab::stage_entry* stage : lab::stages_of(name)) {
      if (!lab::why_not_runnable(*stage).empty()) continue;
      INFO(stage->path);
      bool has_orders = stage->traits.minimum_compute_capability >= 90;
      const std::vector<lab::trial> trials = track.trials(*stage, false, 7);
      bool told_off = false;  // for a barrier that not all threads reach, observation warns and goes on
      for (const lab::trial& trial : trials) {
        if (!track.unsupported(*stage, trial.parameters).empty()) continue;
        INFO(lab::trial_name(trial.parameters, {.seed = 7}));
        const auto work = track.make(*stage, trial.parameters, stream.get());
        const lab::counted found = lab::count_kernels(*work, {.seed = 7}, stream.get());
        INFO((found.check.failure ? lab::failure_message(*found.check.failure) : std::string("no failure")));
        lab::emulator::reset();
        has_orders = has_orders || sum_of(found.profile, "lab__bulk_copies.sum") > 0;
        told_off = told_off || found.check.failure || !found.profile.diagnostics.empty();
        if (stage->traits.expected_failure) {
          CHECK((!found.check.failure || lab::is_expected(*stage, *found.check.failure)));
        } else {
          CHECK(!found.check.failure);
          CHECK(found.profile.diagnostics.empty());
        }
        // Without outputs there may be nothing to launch, nor without inputs but to fill the outputs.
        const auto n = trial.parameters.find("n");
        const bool may_launch_nothing = found.check.compared == 0 ||
                                        (n != trial.parameters.end() && n->second == lab::parameter_value(0));
        CHECK((!found.profile.kernels.empty() || may_launch_nothing));
        CHECK((!found.profile.sources.empty() || may_launch_nothing));
        ++counted;
      }
      if (has_orders) count_in_other_orders(*stage, trials, stream.get());
      in_orders += has_orders;
      CHECK(told_off == static_cast<bool>(stage->traits.expected_failure));
    }
  }
  CHECK(counted > 0);
  CHECK(in_orders > 10);
}

TEST_CASE("counters do not depend on the order of the threads") {
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("moving_average/03_thread_tiled");
  nlohmann::json counters[2];
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.threads = 2, .reverse = reverse});
    const auto work = lab::track_of(stage).make(stage, {{"n", 20'011}, {"window", 300}}, stream.get());
    counters[reverse] = lab::count_kernels(*work, {.seed = 7}, stream.get()).profile.kernels;
  }
  CHECK(counters[0] == counters[1]);
}
