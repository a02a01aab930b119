// Observed, every stage is right and does nothing that it is told off for.
#include <string>

#include "common/emulator/emulator.hpp"
#include "common/memory.hpp"
#include "common/stream.hpp"
#include "harness/device/counters.hpp"
#include "harness/device/verify.hpp"
#include "tests/catch.hpp"

namespace {

void count_all(bool reverse) {
  lab::emulator::configure({.threads = 2, .reverse = reverse});
  const lab::stream stream;
  std::size_t counted = 0;
  for (const std::string& name : lab::track_names()) {
    const lab::track& track = lab::find_track(name);
    for (const lab::stage_entry* stage : lab::stages_of(name)) {
      if (!lab::why_not_runnable(*stage).empty()) continue;
      for (const lab::trial& trial : track.trials(*stage, false)) {
        if (!track.unsupported(*stage, trial.parameters).empty()) continue;
        INFO(stage->path << " " << lab::trial_name(trial.parameters, lab::pattern::random, 7));
        const auto work = track.make(*stage, trial.parameters, stream.get());
        const lab::counted found = lab::count_kernels(*work, 7, stream.get());
        INFO((found.check.failure ? lab::failure_message(*found.check.failure) : std::string("no failure")));
        CHECK(!found.check.failure);
        lab::emulator::reset();
        CHECK(found.profile.diagnostics.empty());
        // Without outputs there may be nothing to launch.
        CHECK((!found.profile.kernels.empty() || found.check.compared == 0));
        CHECK((!found.profile.sources.empty() || found.check.compared == 0));
        ++counted;
      }
    }
  }
  CHECK(counted > 0);
}

}  // namespace

TEST_CASE("every portable stage is observed in silence") {
  count_all(false);
}
TEST_CASE("every portable stage is observed in silence, last thread first") {
  count_all(true);
}

TEST_CASE("counters do not depend on the order of the threads") {
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("moving_average/03_thread_tiled");
  nlohmann::json counters[2];
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.threads = 2, .reverse = reverse});
    const auto work = lab::track_of(stage).make(stage, {{"n", 20'011}, {"window", 300}}, stream.get());
    counters[reverse] = lab::count_kernels(*work, 7, stream.get()).profile.kernels;
  }
  CHECK(counters[0] == counters[1]);
}
