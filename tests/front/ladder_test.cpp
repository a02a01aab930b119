// The ladder's arithmetic, and its text for fixed records.
#include <string>

#include "harness/failure_message.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/run/results.hpp"
#include "tests/catch.hpp"

namespace {

lab::timing_record timing(double median) {
  lab::timing_record record;
  record.median = median;
  record.spread = 0.0012;
  record.lower_quartile = median * 0.9994;
  record.upper_quartile = median * 1.0006;
  return record;
}

lab::front::result_row row(const std::string& name, double median) {
  lab::front::result_row result;
  result.stage = "moving_average/" + name;
  result.library = name.find("library") != std::string::npos;
  result.verification = lab::verification_record{};
  result.verification->passed = true;
  result.verification->cases = 12;
  result.verification->compared = 34567;
  result.verification->largest_error = 0.125;
  result.timing = timing(median);
  return result;
}

lab::front::result_row row_without_time(const std::string& name, lab::front::row_status status,
                                        const std::string& message) {
  lab::front::result_row result = row(name, 1);
  result.timing.reset();
  result.status = status;
  result.message = message;
  return result;
}

lab::ceiling_record ceiling(double median) {
  lab::ceiling_record result;
  result.bytes = 8'000'000'000;
  result.timing = timing(median);
  return result;
}

lab::front::run_results finished_run(bool emulator = false) {
  lab::front::run_results results;
  results.verb = "run";
  results.seed = 7;
  results.trial_seed = 8837261;
  results.device = lab::device_record{};
  results.device->id = emulator ? "emulator" : "cuda:0";
  results.device->name = emulator ? "Some CPU" : "NVIDIA H200";
  if (!emulator) {
    results.device->compute_capability = "9.0";
    results.device->driver = "580.65.06 (CUDA 13.0)";
    results.device->toolkit = "13.0";
    results.device->multiprocessors = 132;
    results.device->memory_bytes = 150'000'000'000;
    results.floor = timing(2100);
  }
  lab::front::result_group group;
  group.track = "moving_average";
  group.title = "Moving average of a series";
  group.parameters = {{"n", 1'000'000'000}, {"window", 300}};
  group.l2 = emulator ? lab::cache_state::none : lab::cache_state::cold;
  group.rows = {row("01_naive", 16e6),
                row_without_time("02_wrong", lab::front::row_status::failed, "wrong at index 17"),
                row("03_tiled", 4e6),
                row_without_time("04_large", lab::front::row_status::skipped, "needs 16.0 GB, 9.30 GB free"),
                row("05_library", 2.5e6)};
  group.rows[2].timing->unstable = true;
  results.groups.push_back(group);
  return results;
}

}  // namespace

TEST_CASE("rows are compared with the timed row before, the first, light, and the fastest library") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.ceilings = {ceiling(2.2e6), ceiling(2e6)};
  lab::front::compare_rows(group);
  CHECK(lab::front::speed_of_light(group)->timing.median == 2e6);
  const auto& rows = group.rows;
  CHECK(!rows[0].over_previous);
  CHECK(*rows[0].over_first == 1);
  CHECK(*rows[0].speed_of_light == 0.125);
  CHECK(!rows[1].over_first);
  CHECK(*rows[2].over_previous == 4);
  CHECK(*rows[2].over_library == 0.625);
  CHECK(!rows[4].over_previous);
  CHECK(*rows[4].over_library == 1);
}

TEST_CASE(
    "the speed of light is the longer of two times, the fastest of bytes and the fastest of operations") {
  auto results = finished_run();
  auto& group = results.groups[0];
  lab::ceiling_record operations = ceiling(2.1e6);
  operations.kind = "fp32";
  operations.bytes = 0;
  operations.operations = 1e11;
  lab::ceiling_record slower = operations;
  slower.timing.median = 2.2e6;
  group.ceilings = {ceiling(2e6), slower, operations};
  lab::front::compare_rows(group);
  CHECK(lab::front::speed_of_light(group)->kind == "fp32");
  CHECK(*group.rows[2].speed_of_light == 2.1 / 4);
  CHECK(lab::front::ladder_text(results, group, {})
            .find("  speed of light: fp32, 1e+11 operations in 2.100 ms (47.6 TFLOP/s); the bytes take 2.000 "
                  "ms\n") != std::string::npos);
  CHECK(nlohmann::json(group).at("fewest_bytes") == ceiling(2e6).bytes);
  CHECK(nlohmann::json(group).at("ceilings").at(2).get<lab::ceiling_record>().operations == 1e11);
  group.ceilings = {ceiling(2.5e6), operations};
  CHECK(lab::front::speed_of_light(group)->kind == "copy");
}

TEST_CASE("a ladder of several GPUs says what the link between them does") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.ceilings = {ceiling(2e6)};
  group.ceilings[0].link = lab::link_record{
      .direct = true, .bytes = 268'435'456, .timing = timing(676e3), .of_8_bytes = timing(9e3)};
  CHECK(lab::front::ladder_text(results, group, {})
            .find("  link: 268 MB from one GPU to another in 676.0 us (397.1 GB/s), 8 bytes in 9.000 us\n") !=
        std::string::npos);
  group.ceilings[0].link->direct = false;
  CHECK(lab::front::ladder_text(results, group, {}).find("another, through the host's memory, in") !=
        std::string::npos);
  const auto record = nlohmann::json(group.ceilings[0]);
  CHECK(record.at("link").at("bytes") == 268'435'456);
}

TEST_CASE("nothing is faster than light, but for noise") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.ceilings = {ceiling(2.54e6), ceiling(4.2e6)};
  lab::front::compare_rows(group);
  lab::front::reject_faster_than_light(group);
  CHECK(group.rows[4].status == lab::front::row_status::ok);  // 101.6 %

  group.ceilings = {ceiling(4.2e6)};
  lab::front::compare_rows(group);
  lab::front::reject_faster_than_light(group);
  CHECK(group.rows[2].status == lab::front::row_status::failed);
  CHECK(group.rows[2].message == "over the speed of light (105.0 %): wrong byte model or a cache");
  CHECK(!group.rows[2].timing);
  CHECK(!group.rows[0].over_library);
  CHECK(lab::front::exit_code(results) == 1);
}

TEST_CASE("the exit code follows the rows") {
  auto results = finished_run();
  auto& rows = results.groups[0].rows;
  CHECK(lab::front::exit_code(results) == 1);
  rows.erase(rows.begin() + 1);
  CHECK(lab::front::exit_code(results) == 0);
  rows = {rows[2]};
  CHECK(lab::front::exit_code(results) == 2);
  rows.clear();
  CHECK(lab::front::exit_code(results) == 2);
}

TEST_CASE("the header names what the times depend on") {
  CHECK(lab::front::header_text(finished_run()) ==
        "device   cuda:0: NVIDIA H200, compute capability 9.0, 132 SMs, 150 GB\n"
        "driver   580.65.06 (CUDA 13.0)\n"
        "toolkit  13.0\n"
        "floor    2.100 us for an empty kernel\n"
        "seed     7; proofs made now draw trials from 8837261 (--trial-seed 8837261 repeats them)\n");
}

TEST_CASE("the ladder on a GPU") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.ceilings = {ceiling(2e6)};
  lab::front::compare_rows(group);
  CHECK("\n" + lab::front::ladder_text(results, group, {}) == R"(
moving_average: Moving average of a series
  n = 1000000000, window = 300, L2 cold
  speed of light: copy of 8.00 GB in 2.000 ms (4000 GB/s)
  stage                 verified    median           spread  x previous  x first  % of speed of light  % of library
  01_naive              ✓         16.00 ms           0.12 %           -    1.00x               12.5 %        15.6 %
  02_wrong              FAIL
      wrong at index 17
  03_tiled              ✓         4.000 ms  0.12 % unstable       4.00x    4.00x               50.0 %        62.5 %
      unstable: half of the samples lie between 3.998 ms and 4.002 ms
  04_large              skipped
      needs 16.0 GB, 9.30 GB free
  05_library (library)  ✓         2.500 ms           0.12 %           -    6.40x               80.0 %       100.0 %
)");
}

TEST_CASE("the ladder on the emulator has no bandwidth and says whose times they are") {
  auto results = finished_run(true);
  auto& group = results.groups[0];
  group.rows = {group.rows[0], group.rows[2]};
  lab::front::compare_rows(group);
  CHECK("\n" + lab::front::ladder_text(results, group, {}) == R"(
moving_average: Moving average of a series
  n = 1000000000, window = 300
  times are this host's, not a GPU's
  stage     verified    median           spread  x previous  x first
  01_naive  ✓         16.00 ms           0.12 %           -    1.00x
  03_tiled  ✓         4.000 ms  0.12 % unstable       4.00x    4.00x
      unstable: half of the samples lie between 3.998 ms and 4.002 ms
)");
}

TEST_CASE("a ladder of verifications has no times") {
  auto results = finished_run();
  results.verb = "verify";
  auto& group = results.groups[0];
  group.parameters.clear();
  group.l2 = lab::cache_state::none;
  group.rows = {row_without_time("01_naive", lab::front::row_status::ok, ""), group.rows[1]};
  CHECK("\n" + lab::front::ladder_text(results, group, {}) == R"(
moving_average: Moving average of a series
  stage     verified  cases  compared  largest error / bound
  01_naive  ✓            12     34567                 12.5 %
  02_wrong  FAIL
      wrong at index 17
)");
}

TEST_CASE("a ratio that noise decides is left out") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.rows = {row("01_naive", 117e3), row("02_tiled", 116e3), row("03_ring", 60e3),
                row("04_library", 60e3)};
  for (auto& one : group.rows) {
    one.timing->lower_quartile = one.timing->median * 0.98;
    one.timing->upper_quartile = one.timing->median * 1.02;
  }
  lab::front::compare_rows(group);
  const auto& rows = group.rows;
  CHECK(rows[0].over_first == 1);  // a row is as fast as itself
  CHECK_FALSE(rows[1].over_previous);
  CHECK_FALSE(rows[1].over_first);
  CHECK(rows[1].undecided == std::vector<std::string>{"over_previous", "over_first"});
  CHECK(rows[2].over_previous == 116. / 60);
  CHECK_FALSE(rows[2].over_library);
  CHECK(rows[3].over_library == 1);
  CHECK(rows[3].undecided.empty());
  const auto recorded = nlohmann::json(rows[1]);
  CHECK(recorded.at("over_previous").is_null());
  CHECK(recorded.at("undecided") == nlohmann::json{"over_previous", "over_first"});
  const std::string text = lab::front::ladder_text(results, group, {});
  INFO(text);
  CHECK(text.find("116.0 us  0.12 %           ~        ~ ") != std::string::npos);
  // Quartiles that just do not meet decide.
  group.rows[1].timing->upper_quartile = group.rows[0].timing->lower_quartile - 1;
  lab::front::compare_rows(group);
  CHECK(rows[1].over_previous == 117. / 116);
  // A record without quartiles is taken to lie evenly about its median.
  group.rows[1].timing->upper_quartile = 0;
  group.rows[1].timing->spread = 0.04;
  lab::front::compare_rows(group);
  CHECK_FALSE(rows[1].over_previous);
}

TEST_CASE("what a tick does not say is remarked below it") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.rows = {row("01_naive", 16e6), row("02_tiled", 8e6)};
  auto& record = *group.rows[1].verification;
  record.declared_bound = 2e-4;
  record.kept_bytes = 1'200'000;
  record.trials = 189;
  record.skipped = 137;
  group.rows[0].timing->preparation = 12e6;
  const std::string timed = lab::front::ladder_text(results, group, {});
  INFO(timed);
  CHECK(timed.find(
            "\n      52 of 189 trials, the others skipped; bound 2e-04 of the scale, declared by the stage; "
            "keeps 1.20 MB of device memory\n") != std::string::npos);
  CHECK(timed.find("\n      prepared once, in 12.00 ms\n") != std::string::npos);
  results.verb = "verify";
  record.declared_bound = 1.5e-4;
  record.kept_bytes = 0;
  group.rows[0].verification->trials = 189;
  for (auto& one : group.rows) one.timing.reset();
  CHECK("\n" + lab::front::ladder_text(results, group, {}) == R"(
moving_average: Moving average of a series
  n = 1000000000, window = 300, L2 cold
  stage     verified     trials  cases  compared  largest error / bound
  01_naive  ✓               189     12     34567                 12.5 %
  02_tiled  ✓         52 of 189     12     34567                 12.5 %
      bound 1.5e-04 of the scale, declared by the stage
)");
}

TEST_CASE("an expected failure is nobody's previous or first, and counts by itself") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.rows = {row_without_time("01_broken", lab::front::row_status::expected_failure, "wrong at 0"),
                row("02_first", 8'000'000),
                row_without_time("03_broken", lab::front::row_status::expected_failure, "race"),
                row("04_second", 4'000'000)};
  lab::front::compare_rows(group);
  CHECK_FALSE(group.rows[0].over_first);
  CHECK_FALSE(group.rows[1].over_previous);
  CHECK(group.rows[3].over_previous == 2);
  CHECK(group.rows[3].over_first == 2);
  const std::string text = lab::front::ladder_text(results, group, {});
  CHECK(text.find("01_broken  expected failure\n      fails as expected: wrong at 0\n") != std::string::npos);
  CHECK(lab::front::summary_text(results) == "2 ok, 0 failed, 0 skipped, 2 expected failures\n");
  CHECK(lab::front::exit_code(results) == 0);
  group.rows = {group.rows[0]};
  CHECK(lab::front::summary_text(results) == "0 ok, 0 failed, 0 skipped, 1 expected failure\n");
  CHECK(lab::front::exit_code(results) == 0);
}

TEST_CASE("words and real numbers are shown and recorded as they are") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.parameters = {{"n", 1000}, {"scale", 0.1}, {"type", "float32"}};
  CHECK(lab::front::ladder_text(results, group, {})
            .find("\n  n = 1000, scale = 0.1, type = float32, L2 cold\n") != std::string::npos);
  const auto recorded = nlohmann::json(group).at("parameters");
  CHECK(recorded.dump() == R"({"n":1000,"scale":0.1,"type":"float32"})");
}

TEST_CASE("colour marks verdicts alone") {
  auto results = finished_run();
  auto& group = results.groups[0];
  group.rows = {group.rows[1]};
  const std::string text = lab::front::ladder_text(results, group, {true});
  CHECK(text.find("\033[31mFAIL") != std::string::npos);
  CHECK(lab::front::ladder_text(results, group, {false}).find('\033') == std::string::npos);
}

TEST_CASE("a failure without words is worded") {
  lab::failure_record failure;
  failure.index = 17;
  failure.expected = "3.5";
  failure.found = "nan";
  failure.block = "0";
  failure.thread = "17";
  failure.test_case = "n = 1000";
  CHECK(lab::failure_message(failure) ==
        "wrong at index 17: expected 3.5, found nan, block 0, thread 17 (n = 1000)");
  failure = {};
  failure.kind = lab::failure_kind::out_of_bounds;
  CHECK(lab::failure_message(failure) == "out of bounds");
}
