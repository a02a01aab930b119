// Tables of counters, and claims about them.
#include <string>

#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "tests/catch.hpp"

namespace {

lab::profile_record profile(bool modelled, double requests, double sectors) {
  lab::profile_record record{.modelled = modelled};
  record.kernels.push_back(
      {.name = "kernel", .launches = 1, .metrics = {{"requests.sum", requests}, {"sectors.sum", sectors}}});
  return record;
}

}  // namespace

TEST_CASE("stages are columns, metrics are rows, and what is modelled says so") {
  const std::string text =
      lab::front::counters_table({{.stage = "track/01_first", .profile = profile(true, 32, 128)},
                                  {.stage = "track/02_second", .profile = profile(true, 16, 128)},
                                  {.stage = "track/03_third", .skipped = "needs a GPU"}},
                                 {});
  CHECK(text ==
        "                  01_first     02_second\n"
        "requests.sum   32 modelled   16 modelled\n"
        "sectors.sum   128 modelled  128 modelled\n"
        "01_first: kernel, launched once\n"
        "02_second: kernel, launched once\n"
        "track/03_third: skipped: needs a GPU\n");
}

TEST_CASE("an expected failure's failure is told apart from a stage's") {
  const std::string text =
      lab::front::counters_table({{.stage = "track/01_broken", .failure = "wrong at 3"},
                                  {.stage = "track/02_wrong", .expected_failure = "race: here"}},
                                 {});
  CHECK(text ==
        "  01_broken  02_wrong\n"
        "track/01_broken: FAIL: wrong at 3\n"
        "track/02_wrong: expected failure, fails as expected: race: here\n");
}

TEST_CASE("an expected failure keeps its claim by failing as expected") {
  lab::stage_description stage;
  stage.path = "track/01_wrong";
  stage.expected_failure = "race";
  const lab::front::track_selection selection{nullptr, {&stage}};
  const auto verdict_on = [&](const lab::front::stage_profile& found) {
    std::vector<lab::front::claim_verdict> verdicts;
    lab::front::check_counter_claims(
        selection, {{stage.path, {}}}, {}, {}, [&](const auto&, const auto&) { return found; },
        [&](const lab::front::claim_verdict& verdict) { verdicts.push_back(verdict); });
    REQUIRE(verdicts.size() == 1);
    return verdicts[0].status;
  };
  CHECK(verdict_on({.expected_failure = "race: here"}) == lab::front::claim_status::holds);
  CHECK(verdict_on({.skipped = "hidden here"}) == lab::front::claim_status::not_tested);
  CHECK(verdict_on({.failure = "right on every input"}) == lab::front::claim_status::broken);
  CHECK(verdict_on({}) == lab::front::claim_status::broken);
}

TEST_CASE("launches of one kernel are added up, ratios averaged") {
  const lab::profile_record record = lab::front::profile_of({{"0", "a", "x.sum", "", "3"},
                                                             {"1", "a", "x.sum", "", "4"},
                                                             {"0", "a", "y.ratio", "", "32"},
                                                             {"1", "a", "y.ratio", "", "16"},
                                                             {"2", "b", "x.sum", "", "n/a"}});
  REQUIRE(record.kernels.size() == 1);
  CHECK(record.kernels[0].launches == 2);
  CHECK(record.kernels[0].metrics.at("x.sum") == 7);
  CHECK(record.kernels[0].metrics.at("y.ratio") == 24);
  CHECK_FALSE(record.modelled);
}

TEST_CASE("a GPU counts a few wavefronts more than a claim of equality names, the emulator none") {
  lab::stage_description stage;
  stage.path = "track/01_first";
  const lab::track_description track{.name = "track", .stages = {stage}};
  const lab::front::track_selection selection{&track, {&stage}};
  const auto verdict_on = [&](const std::string& metric, double found, bool modelled) {
    const lab::front::stage_claims own{.claims = {{.metric = metric, .value = 1025}}};
    lab::front::stage_profile counted{.profile = {.modelled = modelled}};
    counted.profile.kernels.push_back({.name = "kernel", .launches = 1, .metrics = {{metric, found}}});
    lab::front::claim_status status = lab::front::claim_status::not_tested;
    lab::front::check_counter_claims(
        selection, {{stage.path, own}}, {}, {}, [&](const auto&, const auto&) { return counted; },
        [&](const lab::front::claim_verdict& verdict) { status = verdict.status; });
    return status;
  };
  CHECK(verdict_on("wavefronts.sum", 1035, false) == lab::front::claim_status::holds);
  CHECK(verdict_on("wavefronts.sum", 1100, false) == lab::front::claim_status::broken);
  CHECK(verdict_on("wavefronts.sum", 1024, false) == lab::front::claim_status::broken);
  CHECK(verdict_on("wavefronts.sum", 1035, true) == lab::front::claim_status::broken);
  CHECK(verdict_on("requests.sum", 1035, false) == lab::front::claim_status::broken);
}

TEST_CASE("claims compare a counter, a ratio of two, or the stage with the one before") {
  const lab::profile_record now = profile(true, 16, 128), before = profile(true, 32, 128);
  const lab::front::claim exact{.metric = "requests.sum", .value = 16};
  CHECK(lab::front::holds(exact, *lab::front::claimed_figure(exact, now, {})));
  CHECK_FALSE(lab::front::holds(exact, 17));
  const lab::front::claim ratio{
      .metric = "sectors.sum", .per = "requests.sum", .holds = lab::front::relation::at_most, .value = 8};
  CHECK(*lab::front::claimed_figure(ratio, now, {}) == 8);
  const lab::front::claim half{.metric = "requests.sum", .over_previous = true, .value = 0.5};
  CHECK(*lab::front::claimed_figure(half, now, before) == 0.5);
  CHECK_FALSE(lab::front::claimed_figure({.metric = "absent"}, now, before));
  CHECK(lab::front::claim_text(ratio) == "sectors.sum / requests.sum <= 8");
}
