// The exponentially weighted moving average: kernels that are wrong in one way each, parameters that exclude
// each other, and what pandas makes of gaps.
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/npy.hpp"
#include "common/stream.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify.hpp"
#include "harness/device/worker.hpp"
#include "stages/ewm/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/temporary_directory.hpp"

namespace {

// Refused as wrong, in a trial whose description holds `words`.
void require_wrong_average(const std::string& path, const std::string& words, bool thorough = false) {
  INFO(path);
  const lab::stream stream;
  const lab::verification_record record = lab::verify(lab::find_stage(path), {1, 2}, thorough, stream.get());
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(record.failure->kind == lab::failure_kind::wrong);
  CHECK(message.find(words) != std::string::npos);
}

constexpr double nothing = std::numeric_limits<double>::infinity();
const std::vector<double> values_with_gaps{NAN, 2, NAN, NAN, 5, 7, nothing, 1};

}  // namespace

TEST_CASE("averages that forget too early, or never, are refused by the quick trials") {
  lab::skip_without_device();
  require_wrong_average("ewm/no_warm_up", "input=random");
  require_wrong_average("ewm/combines_backwards", "input=random");
  require_wrong_average("ewm/nan_sticks", "expected 0.");
  require_wrong_average("ewm/nan_sticks", "input=NaN and Inf");
  require_wrong_average("ewm/forgets_too_early", "input=spikes of 1e16");
  require_wrong_average("ewm/ignores_adjust", "adjust=false");
}

TEST_CASE("averages that mistake gaps, or large values for gaps, are refused") {
  lab::skip_without_device();
  require_wrong_average("ewm/gap_decays_once", "input=gaps", true);
  require_wrong_average("ewm/large_is_missing", "input=wide", true);
  require_wrong_average("ewm/gap_ends_at_200", "input=sparse", true);
  require_wrong_average("ewm/warm_up_of_16384", "span=4096", true);
  require_wrong_average("ewm/gap_at_a_border", "input=lone NaN", true);
}

// A span of 2^60 has an alpha that is nothing beside 1.
TEST_CASE("where weights do not decay, no value is too old") {
  CHECK(lab::ewm::problem::values_to_decay(1, 106) == std::int64_t{1} << 40);
  CHECK(lab::ewm::problem::values_to_decay(0.5, 106) == 106);
  CHECK(lab::ewm::problem::values_to_decay(0, 106) == 1);
}

// Each by itself would take all before it: 10^11 values of 800 000 outputs, minutes.
TEST_CASE("where every value is missing, outputs are compared one after another") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("ewm/04_warm_start");
  const lab::track& track = lab::track_of(stage);
  const auto work = track.make(stage, track.complete({{"n", 400'000}, {"span", 1}}), stream.get());
  const auto began = std::chrono::steady_clock::now();
  for (const lab::pattern kind : {lab::pattern::all_nan, lab::pattern::positive_infinity}) {
    const lab::check_result found = lab::run_and_check(*work, {.input = kind}, stream.get());
    CHECK_FALSE(found.failure);
    CHECK(found.compared == 400'000);
  }
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}

TEST_CASE("of span, alpha and half-life one is used, and what makes no sense is refused") {
  const lab::track& track = lab::find_track("ewm");
  CHECK(track.complete({{"span", 20}}).at("span") == 20.0);
  CHECK_NOTHROW(track.complete({{"alpha", 1}}));
  CHECK_NOTHROW(track.complete({{"span", 0}, {"half-life", 0.5}}));
  CHECK_THROWS_WITH(track.complete({{"alpha", 0.5}, {"half-life", 7}}),
                    "alpha 0.5 and half-life 7 are given together: one will do");
  CHECK_THROWS_WITH(track.complete({{"span", 0.5}}), "span must be at least 1, not 0.5");
  CHECK_THROWS_WITH(track.complete({{"span", 0}}), "a span is needed, or alpha or half-life in its place");
  CHECK_THROWS_WITH(track.complete({{"alpha", 1.5}}),
                    "alpha must be above 0 and at most 1, not 1.5 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"alpha", -0.5}}),
                    "alpha must be above 0 and at most 1, not -0.5 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"half-life", -1}}), "half-life must be above 0, not -1 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"half-life", 1e30}}),
                    "a weight that halves in 1e+30 positions does not decay");
  CHECK_THROWS_WITH(track.complete({{"adjust", "maybe"}}),
                    "adjust cannot be maybe: it is one of true, false");
}

// By pandas 3.1, with alpha 0.3 and min_periods 2.
TEST_CASE("gaps are pandas', with weights that are adjusted and without") {
  lab::skip_without_device();
  const lab::test::temporary_directory directory;
  const std::string x = (directory / "x.npy").string();
  const std::string y = (directory / "y.npy").string();
  lab::write_npy<double>(x, values_with_gaps, std::array<std::int64_t, 1>{8});
  const auto apply = [&](const std::string& stage, const nlohmann::json& parameters) {
    return lab::worker(0).answer(
        {{"op", "apply"}, {"stage", stage}, {"parameters", parameters}, {"inputs", {x}}, {"outputs", {y}}});
  };
  const std::vector<double> adjusted{nothing,          nothing,           nothing,
                                     nothing,          4.233804914370812, 5.65960517499098,
                                     5.65960517499098, 3.270859083310221};
  const std::vector<double> recursive{
      nothing,           nothing,           nothing,          nothing, 3.3996889580093317,
      4.479782270606532, 4.479782270606532, 3.158345965312912};
  for (const char* stage : {"ewm/01_truncated_window", "ewm/03_look_back", "ewm/04_warm_start"}) {
    for (const bool adjust : {true, false}) {
      INFO(stage << ", adjust=" << adjust);
      REQUIRE(apply(stage, {{"alpha", 0.3}, {"adjust", adjust ? "true" : "false"}, {"min-periods", 2}}).end ==
              lab::answer_end::ok);
      const std::vector<double> found = lab::read_npy<double>(y).values;
      const std::vector<double>& expected = adjust ? adjusted : recursive;
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("output " << i);
        CHECK((found[i] == expected[i] || std::abs(found[i] - expected[i]) < 1e-14));
      }
    }
  }
  CHECK(apply("ewm/04_warm_start", nlohmann::json::object()).message ==
        "a span is needed, or alpha or half-life in its place");
}
