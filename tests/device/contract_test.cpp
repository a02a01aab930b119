// The contract of every stage: right on every trial of its track, and true to its traits.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "common/file.hpp"
#include "common/stream.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

namespace {

// The stages whose recorded proof was made by this verifier and this emulator: it serves the tests as well.
std::set<std::string> proved_stages() {
  std::set<std::string> proved;
  const std::string recorded = LAB_SOURCE_ROOT "/reports/proofs/emulator.json";
  if (!lab::emulated || !std::filesystem::exists(recorded)) return proved;
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const auto sources = nlohmann::json::parse(lab::read_text(program.parent_path() / "sources.json"));
  const auto record = nlohmann::json::parse(lab::read_text(recorded));
  for (const auto& proof : record.at("proofs")) {
    const std::string stage = proof.at("stage");
    const bool fits = proof.value("judges", "") == sources.at("judges").get<std::string>() &&
                      proof.at("digest") == sources.at("proofs").value(stage, "");
    if (fits) proved.insert(stage);
  }
  return proved;
}

// Every `parts`th stage, beginning with `part`: two cores share the work. All trials of stages that are not
// proved, a few of the others.
void verify_all(std::size_t part = 0, std::size_t parts = 1) {
  const std::set<std::string> proved = proved_stages();
  lab::skip_without_device();
  const lab::stream stream;
  std::size_t verified = 0;
  std::size_t index = 0;
  for (const std::string& track : lab::track_names()) {
    for (const lab::stage_entry* stage : lab::stages_of(track)) {
      if (!lab::why_not_runnable(*stage).empty() || index++ % parts != part) continue;
      INFO(stage->path);
      const lab::verification_record record =
          lab::verify(*stage, {20'261'120, 20'261'122}, !proved.contains(stage->path), stream.get());
      INFO((record.failure ? lab::failure_message(*record.failure) : std::string("no failure")));
      CHECK(record.passed == !stage->traits.expected_failure);
      CHECK(record.failed_as_expected == static_cast<bool>(stage->traits.expected_failure));
      CHECK((record.compared > 0 || record.failed_as_expected));
#if LAB_EMULATED
      // An expected failure may have lost the device, which the stages after it need.
      if (stage->traits.expected_failure) lab::emulator::reset();
#endif
      ++verified;
    }
  }
  CHECK(verified > 0);
}

}  // namespace

TEST_CASE("every stage directory is registered") {
  lab::check_registry();
  CHECK(lab::stage_count() == LAB_STAGE_COUNT);
}

#if LAB_EMULATED

// In both orders of a block's threads, as the verifier has it. On one OS thread they are observed
// (counters_test.cpp).
TEST_CASE("every portable stage keeps its contract, on several OS threads: first half") {
  lab::emulator::configure({.threads = 3});
  verify_all(0, 2);
}

TEST_CASE("every portable stage keeps its contract, on several OS threads: second half") {
  lab::emulator::configure({.threads = 3});
  verify_all(1, 2);
}

#else

TEST_CASE("every stage keeps its contract") {
  verify_all();
}

#endif

TEST_CASE("parameters are checked before anything runs") {
  const lab::track& track = lab::find_track("moving_average");
  CHECK_THROWS_WITH(track.complete({{"window", 0}}), "window must be at least 1, not 0");
  CHECK_THROWS_WITH(track.complete({{"n", -5}}), "n must be at least 0, not -5");
  CHECK_THROWS_WITH(track.complete({{"n", std::int64_t{1} << 60}}),
                    "n must be at most 281474976710656, not 1152921504606846976");
  CHECK_THROWS_WITH(track.complete({{"with", 3}}), "no parameter is called with");
  const lab::track& reduction = lab::find_track("reduction");
  CHECK_THROWS_WITH(reduction.complete({{"type", 16}}), "type cannot be 16: it is one of float32, float64");
  CHECK_THROWS_WITH(reduction.complete({{"n", 0.5}}), "n must be a whole number, not 0.5");
  CHECK_THROWS_WITH(reduction.complete({{"n", "many"}}), "n must be a whole number, not many");
  CHECK(reduction.complete({{"type", 64}}).at("type") == "float64");
  const lab::track& two = lab::find_track("reduction_2d");
  CHECK_THROWS_WITH(two.complete({{"columns", 10}, {"pitch", 9}}),
                    "pitch must be 0 or at least columns, which is 10");
  CHECK_THROWS_WITH(two.complete({{"rows", 1 << 30}, {"columns", 1 << 30}}),
                    "rows x pitch must be at most 2^48");
}
