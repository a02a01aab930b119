// Tracks over several GPUs beyond their stages' contract: the same bits on any number of devices, and wrong
// kernels that are rejected for their reasons.
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/emulator/core/emulator.hpp"
#include "common/gpu_group.hpp"
#include "common/stream.hpp"
#include "harness/device/measure/ceilings.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "stages/moving_average_gpus/tiles.hpp"
#include "tests/catch.hpp"

namespace {

namespace moving_average_gpus = lab::moving_average_gpus;
using moving_average_gpus::tile;

lab::verification_record verify(const std::string& path, bool thorough) {
  lab::emulator::reset();
  lab::available_gpus();  // four devices
  const lab::stream stream;
  return lab::verify(lab::find_stage(path), {1, 2}, thorough, stream.get());
}

bool is_wrong_one(const std::string& name) {
  return name[0] < '0' || name[0] > '9';
}

}  // namespace

TEST_CASE("a moving average has the same bits on any number of GPUs") {
  lab::emulator::reset();
  lab::available_gpus();
  const lab::stream stream;
  for (const lab::stage_entry* stage : lab::stages_of("moving_average_gpus")) {
    if (is_wrong_one(stage->name)) continue;
    INFO(stage->path);
    for (const std::int64_t window : {5, 300, 4000}) {
      std::optional<std::uint64_t> on_one;
      for (std::int64_t gpus = 1; gpus <= 4; ++gpus) {
        const auto work = lab::track_of(*stage).make(
            *stage, {{"n", 50'007}, {"window", window}, {"gpus", gpus}, {"scaling", "strong"}}, stream.get());
        work->prepare(lab::pattern::random, 7);
        work->launch();
        const std::uint64_t digest = work->digest();
        CHECK(digest == on_one.value_or(digest));
        on_one = digest;
      }
    }
  }
}

// What the fast kernel does with an array of chunks (common/windows/pipeline.hpp, load_tiles and
// compute_tiles), in whole-array indices: empty when it stays in part k and makes every tile of the interior
// once.
std::string fault_of(const moving_average_gpus::input& in, std::int64_t k,
                     const moving_average_gpus::interior_array& all) {
  const lab::part own = in.part(k);
  const std::int64_t window = moving_average_gpus::window_of_sums(in);
  const int halo = moving_average_gpus::pipeline_ring.halo_tiles(window);
  const auto inside = [&](std::int64_t first, std::int64_t end) {
    return all.begin + first >= own.first && all.begin + end <= own.first + own.count;
  };
  std::set<std::int64_t> chosen;
  for (std::int64_t begin = all.lead * all.chunk(); begin < all.n; begin += all.chunk()) {
    for (std::int64_t step = -halo; step < all.chunk_tiles; ++step) {
      const std::int64_t start = begin + step * tile;
      if (start >= all.n) break;
      const std::int64_t from = std::max(start, std::max<std::int64_t>(begin - (window - 1), 0) / 2 * 2);
      const std::int64_t count = std::min(start + tile, all.n) / 2 * 2 - from;
      if (count > 0 && !inside(from, from + count)) return "reads beside the part";
      if (step < 0) continue;
      if (!inside(start, std::min(start + tile, all.n))) return "writes beside the part";
      if (all.begin > 0 && start < window - 1) return "takes whole windows for incomplete ones";
      if (!chosen.insert((all.begin + start) / tile).second) return "makes a tile twice";
    }
  }
  const moving_average_gpus::tiles_of_part tiles = moving_average_gpus::tiles_of(in, k);
  const bool is_all = std::ssize(chosen) == tiles.end - tiles.interior && *chosen.begin() == tiles.interior;
  return is_all ? "" : "leaves tiles out";
}

TEST_CASE("the fast kernel stays in its part and makes every tile of the interior") {
  std::int64_t tried = 0;
  const std::vector<const double*> parts(4);
  for (std::int64_t gpus = 1; gpus <= 4; ++gpus) {
    for (const std::int64_t n :
         {std::int64_t{8}, std::int64_t{4 * tile}, std::int64_t{60'000}, std::int64_t{299'998}}) {
      for (const std::int64_t window : {1, 2, 7, 8, 300, 1793, 1794, 3000, 15'000, 17'921}) {
        const moving_average_gpus::input in{{parts.begin(), parts.begin() + gpus}, n, window};
        for (std::int64_t k = 0; k < gpus; ++k) {
          const moving_average_gpus::tiles_of_part tiles = moving_average_gpus::tiles_of(in, k);
          if (tiles.interior >= tiles.end) continue;
          moving_average_gpus::interior_array all = moving_average_gpus::interior_of(in, k, 8);
          if ((all.begin - in.part(k).first) % 2 != 0) continue;  // no bulk copies begin there
          CAPTURE(gpus, n, window, k);
          CHECK(fault_of(in, k, all) == "");
          ++tried;
          // Without chunks before it, or a tile later, it is not right.
          if (all.lead > 0) {
            all.begin += all.lead * all.chunk();
            all.n -= all.lead * all.chunk();
            all.lead = 0;
            CHECK(fault_of(in, k, all) == "takes whole windows for incomplete ones");
            continue;
          }
          all.begin += tile;
          CHECK(fault_of(in, k, all) != "");
        }
      }
    }
  }
  CHECK(tried > 100);
}

TEST_CASE("a wrong kernel over several GPUs is rejected, in words that say what is wrong") {
  using lab::failure_kind;
  // What is too early may find nothing at all.
  const std::set<failure_kind> early{failure_kind::wrong, failure_kind::unwritten};
  const auto require = [](const std::string& path, const std::set<failure_kind>& kinds,
                          const std::string& words) {
    const lab::verification_record record = verify(path, true);
    INFO(path);
    REQUIRE_FALSE(record.passed);
    const std::string message = lab::failure_message(*record.failure);
    INFO(message);
    CHECK(kinds.contains(record.failure->kind));
    CHECK(message.find(words) != std::string::npos);
    CHECK(message.find("gpus=1 ") == std::string::npos);  // on one GPU all of them are right
  };
  require("moving_average_gpus/halo_of_wrong_end", {failure_kind::wrong}, " on GPU 1");
  require("moving_average_gpus/incomplete_in_every_part", {failure_kind::wrong}, "found inf on GPU 1");
  require("moving_average_gpus/border_too_early", early, "gpus=2");
  require("moving_average_gpus/late_wait", early, "gpus=");
  require("moving_average_gpus/drops_nan_of_halo", {failure_kind::wrong}, "input=gaps");
  require("reduction_gpus/drops_nan_of_third", {failure_kind::wrong}, "input=lone NaN");
  require("reduction_gpus/own_first", {failure_kind::wrong}, "bit for bit as on the first GPU");
  require("reduction_gpus/reads_too_early", early, "gpus=");
}

TEST_CASE("groups of GPUs that there are not are refused by name") {
  lab::emulator::reset();
  CHECK(lab::available_gpus() == 4);
  CHECK(lab::why_no_group(4).empty());
  CHECK(lab::why_no_group(5) == "needs 5 GPUs, and there are 4 (LAB_EMULATOR_DEVICES)");
  CHECK_THROWS_AS(lab::group_devices(5), std::invalid_argument);
  CHECK_THROWS_AS(lab::group_devices(0), std::invalid_argument);
  CHECK_THROWS_WITH(lab::choose_gpus({1, 0, 1}), "device 1 is named twice");
  lab::choose_gpus({2, 0});
  CHECK(lab::group_devices(2) == std::vector<int>{2, 0});
  CHECK_FALSE(lab::why_no_group(3).empty());
  lab::choose_gpus({9});
  CHECK_THROWS_WITH(lab::available_gpus(), "there is no device 9: 4 found");
  lab::choose_gpus({});
  const lab::stage_entry& stage = lab::find_stage("reduction_gpus/04_peer_loads");
  const lab::parameter_values five{{"n", 100}, {"type", "float64"}, {"gpus", 5}, {"scaling", "weak"}};
  CHECK(lab::track_of(stage).unsupported(stage, five).find("needs 5 GPUs") == 0);
  CHECK(lab::track_of(stage).ceiling(five, 1).gpus == 5);
  CHECK(lab::track_of(stage).ceiling(five, 1).bytes == (5 * 100 + 5) * 8);
}

TEST_CASE("the ceiling of several GPUs comes with the link's") {
  lab::emulator::reset();
  lab::available_gpus();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 3, .time_limit_seconds = 0.02};
  const auto ceiling = [&](std::int64_t gpus) {
    const lab::track& track = lab::track_of(lab::find_stage("moving_average_gpus/02_peer_copy"));
    const lab::ceiling_need need =
        track.ceiling({{"n", 10'000}, {"window", 300}, {"gpus", gpus}, {"scaling", "strong"}}, 1);
    return lab::measure_ceiling(need, sampling, stream.get());
  };
  CHECK_FALSE(ceiling(1).link);
  const lab::ceiling_record on_two = ceiling(2);
  REQUIRE(on_two.link);
  CHECK(on_two.link->direct);
  CHECK(on_two.link->timing.median > on_two.link->of_8_bytes.median);
  const auto again = nlohmann::json(on_two).get<lab::ceiling_record>();
  REQUIRE(again.link);
  CHECK(again.link->bytes == on_two.link->bytes);
  CHECK(again.link->of_8_bytes.median == on_two.link->of_8_bytes.median);
}

TEST_CASE("a timeline of several GPUs has a lane for each") {
  lab::emulator::reset();
  lab::available_gpus();
  const lab::answer_record answer =
      lab::worker(0).answer({{"op", "trace"},
                             {"stage", "moving_average_gpus/05_overlap"},
                             {"parameters", {{"n", 20'000}, {"window", 300}, {"gpus", 3}}}});
  REQUIRE(answer.end == lab::answer_end::ok);
  std::set<std::string> lanes;
  for (const auto& event : answer.content.at("trace").at("events")) lanes.insert(event.at("lane"));
  CHECK(lanes == std::set<std::string>{"host", "device 0", "device 1", "device 2"});
}

TEST_CASE("a worker refuses devices that are named twice, or that there are not") {
  lab::emulator::reset();
  CHECK_THROWS_AS(lab::worker({0, 1, 0}), std::invalid_argument);
  const lab::answer_record answer = lab::worker({0, 9}).answer({{"op", "floor"}});
  CHECK(answer.end == lab::answer_end::error);
  CHECK(answer.message.find("there is no device 9") == 0);
  lab::choose_gpus({});
}

TEST_CASE("the speed of light of more GPUs than there are is unsupported, and no error of the program",
          "[group]") {
  const lab::answer_record answer =
      lab::worker(0).answer({{"op", "ceiling"},
                             {"track", "moving_average_gpus"},
                             {"parameters", {{"n", 1000}, {"window", 4}, {"gpus", 99}}},
                             {"plan", lab::sampling_options{}}});
  CHECK(answer.error == lab::error_kind::unsupported);
  CHECK(answer.message.find("needs 99 GPUs") != std::string::npos);
}
