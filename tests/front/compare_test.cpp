// lab compare: its statistics against simulated runs, and its files against odd ones.
#include <cmath>
#include <filesystem>
#include <random>
#include <string>

#include "harness/front/compare/comparison.hpp"
#include "harness/front/run/results.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/front/program.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace lab::test;
using lab::front::process_samples;
using lab::front::row_verdict;
using nlohmann::json;

// Runs as an H200 gives them: a process has a level of its own, and its samples lie around it, a few of them
// far above.
struct simulated_device {
  std::mt19937_64 random;
  double between = 0.003;   // standard deviation of the processes' levels
  double within = 0.004;    // of the samples in a process
  bool two_levels = false;  // half of the processes take more than twice as long

  process_samples process(double time) {
    std::normal_distribution<double> normal;
    double level = time * std::exp(between * normal(random));
    if (two_levels && random() % 2 == 0) level *= 2.12;
    process_samples samples(20);
    for (double& sample : samples) {
      sample = level * std::exp(within * normal(random));
      if (random() % 20 == 0) sample *= 1.05;
    }
    return samples;
  }

  std::vector<process_samples> run(double time, int processes) {
    std::vector<process_samples> all;
    for (int i = 0; i < processes; ++i) all.push_back(process(time));
    return all;
  }
};

// The part of `trials` comparisons of a kernel with one that takes `factor` as long which end in a verdict.
double part_with(simulated_device device, double factor, row_verdict verdict, int processes = 5,
                 int trials = 2000) {
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    const auto difference = lab::front::compare_times(
        device.run(1e6, processes), device.run(1e6 * factor, processes), lab::front::comparison_confidence);
    if (lab::front::verdict_of(difference, 0.01) == verdict) ++found;
  }
  return static_cast<double>(found) / trials;
}

double false_verdicts(const simulated_device& device, int processes = 5) {
  return part_with(device, 1, row_verdict::slower, processes) +
         part_with(device, 1, row_verdict::faster, processes);
}

json timing_json(const process_samples& samples) {
  lab::timing_record timing;
  timing.median = lab::front::median_of(samples);
  timing.minimum = timing.maximum = timing.median;
  timing.samples = samples;
  timing.sm_clock_mhz = lab::clock_record{1980, 1980, 1980};
  return timing;
}

struct stage_times {
  std::string stage;
  std::vector<process_samples> processes;
};

// A result file of these stages.
json results_of(const std::vector<stage_times>& stages) {
  lab::front::run_results results;
  results.verb = "run";
  results.created = "2026-01-01T00:00:00Z";
  results.device = lab::device_record{.id = "cuda:0", .name = "Fake GPU", .compute_capability = "9.0"};
  results.device->driver = "580.1";
  lab::front::result_group group;
  group.track = "ladder";
  group.parameters = {{"n", 1000}};
  group.l2 = lab::cache_state::cold;
  for (const stage_times& one : stages) {
    lab::front::result_row row;
    row.stage = one.stage;
    row.sources = std::string(40, 'a');
    row.timing = timing_json(one.processes.front()).get<lab::timing_record>();
    if (one.processes.size() > 1) {
      for (const auto& samples : one.processes)
        row.processes.push_back(timing_json(samples).get<lab::timing_record>());
    }
    group.rows.push_back(row);
  }
  results.groups = {group};
  return results;
}

const fs::path& put_json(const fs::path& path, const json& document) {
  put(path, document.dump());
  return path;
}

outcome compare(const fs::path& older, const fs::path& newer, const strings& more = {}) {
  strings all{"compare", older.string(), newer.string()};
  all.insert(all.end(), more.begin(), more.end());
  return lab_with(all);
}

}  // namespace

TEST_CASE("the error of a median is the bootstrap's") {
  CHECK(lab::front::median_error({7}) == 0);
  CHECK(lab::front::median_error({7, 7, 7, 7}) < 1e-12);
  // Of three samples a resample has the median x1 with probability 7/27, x2 with 13/27, x3 with 7/27.
  CHECK(lab::front::median_error({1, 0, 2}) == Approx(std::sqrt(14.0 / 27)));
  CHECK(lab::front::median_of({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("Welch's interval is that of a worked example") {
  // Medians e^0.00, e^0.01, e^0.02 against e^0.04, e^0.05, e^0.06: a difference of 0.04, a standard error of
  // 0.01 sqrt(2/3), four degrees of freedom, whose t at 99 % is 4.604.
  const auto side = [](double first) {
    std::vector<process_samples> processes;
    for (int i = 0; i < 3; ++i) processes.push_back({std::exp(first + 0.01 * i)});
    return processes;
  };
  const auto found = lab::front::compare_times(side(0), side(0.04), 0.99);
  REQUIRE(found.has_interval);
  CHECK(std::log1p(found.estimate) == Approx(0.04));
  CHECK(std::log1p(found.upper) == Approx(0.04 + 4.60409 * 0.01 * std::sqrt(2.0 / 3)));
  CHECK(std::log1p(found.lower) == Approx(0.04 - 4.60409 * 0.01 * std::sqrt(2.0 / 3)).margin(1e-6));
  CHECK(!lab::front::compare_times({{1, 2}}, {{5, 6}}, 0.99).has_interval);
  CHECK(lab::front::compare_times({{1, 1}}, side(0), 0.99).has_interval);
}

TEST_CASE("a verdict follows from the interval and the threshold") {
  const auto verdict = [](double estimate, double lower, double upper) {
    return lab::front::verdict_of({estimate, true, lower, upper}, 0.01);
  };
  CHECK(verdict(0.03, 0.02, 0.04) == row_verdict::slower);
  CHECK(verdict(-0.03, -0.04, -0.02) == row_verdict::faster);
  CHECK(verdict(0.001, -0.004, 0.006) == row_verdict::same);
  CHECK(verdict(0.005, 0.002, 0.008) == row_verdict::same);  // real, and below the threshold
  CHECK(verdict(0.03, -0.01, 0.07) == row_verdict::inconclusive);
  CHECK(verdict(0.008, 0.002, 0.014) == row_verdict::inconclusive);
  CHECK(lab::front::verdict_of({0.5, false, 0, 0}, 0.01) == row_verdict::inconclusive);
}

TEST_CASE("of simulated runs of one kernel, at most a percent is called faster or slower") {
  CHECK(false_verdicts({.random = std::mt19937_64(1)}) <= 0.01);
  CHECK(false_verdicts({.random = std::mt19937_64(2), .between = 0.0003}) <= 0.01);
  CHECK(false_verdicts({.random = std::mt19937_64(3), .between = 0.05, .within = 0.05}) <= 0.01);
  CHECK(false_verdicts({.random = std::mt19937_64(4), .two_levels = true}) <= 0.01);
  CHECK(false_verdicts({.random = std::mt19937_64(5)}, 3) <= 0.01);
  // Steady kernels are known to be the same; nothing is known of one that has two levels.
  CHECK(part_with({.random = std::mt19937_64(6), .between = 0.001}, 1, row_verdict::same) >= 0.95);
  CHECK(part_with({.random = std::mt19937_64(7), .two_levels = true}, 1, row_verdict::inconclusive) >= 0.95);
}

TEST_CASE("a simulated kernel that is slower or faster by 3 % is found") {
  CHECK(part_with({.random = std::mt19937_64(8)}, 1.03, row_verdict::slower) >= 0.95);
  CHECK(part_with({.random = std::mt19937_64(9)}, 1 / 1.03, row_verdict::faster) >= 0.95);
  // With the noise of its samples alone, a process's median would be believed too much: what the medians of
  // several say is needed.
  CHECK(part_with({.random = std::mt19937_64(10), .between = 0.05}, 1.03, row_verdict::slower) <= 0.05);
}

TEST_CASE("lab compare names what became slower, in a table, in JSON and in Markdown") {
  const temporary_directory directory;
  simulated_device device{.random = std::mt19937_64(11)};
  const auto older = put_json(directory / "old.json", results_of({{"ladder/01_same", device.run(1e6, 5)},
                                                                  {"ladder/02_slow", device.run(2e6, 5)},
                                                                  {"ladder/03_fast", device.run(3e6, 5)},
                                                                  {"ladder/04_once", device.run(4e6, 1)},
                                                                  {"ladder/05_gone", device.run(5e6, 5)}}));
  const auto newer = put_json(directory / "new.json", results_of({{"ladder/01_same", device.run(1e6, 5)},
                                                                  {"ladder/02_slow", device.run(2.1e6, 5)},
                                                                  {"ladder/03_fast", device.run(2.7e6, 5)},
                                                                  {"ladder/04_once", device.run(9e6, 1)},
                                                                  {"ladder/06_new", device.run(6e6, 5)}}));
  const fs::path out = directory / "comparison.json";
  expect(compare(older, newer, {"--json", out.string()}), 1,
         {"ladder (n = 1000, L2 cold)", "SLOWER", "FASTER", "SAME", "between processes",
          "INCONCLUSIVE  not measured: one process on each side", "lab run --repeat 5",
          "ladder/05_gone (n = 1000, L2 cold): only in the old results",
          "ladder/06_new (n = 1000, L2 cold): only in the new results",
          "ladder/02_slow: the stage's sources are the same: something else changed",
          "1 FASTER, 1 SLOWER, 1 SAME, 1 INCONCLUSIVE, 2 not compared"});
  const json found = document(out);
  CHECK(found.at("regression") == true);
  CHECK(found.at("rows")[1].at("verdict") == "SLOWER");
  CHECK(found.at("rows")[1].at("difference").get<double>() == Approx(0.05).margin(0.01));
  CHECK(found.at("rows")[1].at("interval")[0] < found.at("rows")[1].at("difference"));
  CHECK(found.at("rows")[3].at("interval").is_null());
  expect(compare(older, newer, {"--markdown"}), 1,
         {"| row | old |", "| ladder/02\\_slow (n = 1000, L2 cold) |", "**SLOWER**", "Not compared:"});
  // A threshold above both differences leaves nothing to complain of.
  expect(compare(older, newer, {"--threshold", "20%"}), 0, {"threshold 20.00 %"});
  for (const char* threshold : {"0", "-1", "nan", "1 %", "x", "101"})
    expect(compare(older, newer, {"--threshold", threshold}), 2, {"--threshold needs a percentage"});
  expect(compare(older, newer, {"--json", older.string()}), 2, {"OLD and --json are one file"});
}

TEST_CASE("a stage that was right and fails is a regression") {
  const temporary_directory directory;
  simulated_device device{.random = std::mt19937_64(12)};
  const json older = results_of({{"ladder/01", device.run(1e6, 5)}});
  json newer = older;
  json& row = newer["groups"][0]["rows"][0];
  row["status"] = "failed";
  row["message"] = "wrong at index 17 | <b>";
  row["timing"] = nullptr;
  put_json(directory / "old.json", older);
  newer["groups"][0]["rows"].push_back(
      results_of({{"ladder/02", device.run(1e6, 5)}})["groups"][0]["rows"][0]);
  put_json(directory / "new.json", newer);
  expect(compare(directory / "old.json", directory / "new.json"), 1,
         {"REGRESSION: old: timed; new: failed (wrong at index 17 | <b>)"});
  expect(compare(directory / "old.json", directory / "new.json", {"--markdown"}), 1,
         {"wrong at index 17 \\| &lt;b\\>"});
}

TEST_CASE("rows that do not belong together are named and not compared") {
  const temporary_directory directory;
  simulated_device device{.random = std::mt19937_64(13)};
  const auto older = put_json(directory / "old.json", results_of({{"ladder/01", device.run(1e6, 5)}}));
  const json same = results_of({{"ladder/01", device.run(1e6, 5)}});
  const auto refused = [&](const std::string& pointer, const json& value, const std::string& words) {
    json other = same;
    other[json::json_pointer(pointer)] = value;
    INFO(pointer);
    expect(compare(older, put_json(directory / "new.json", other)), 2, {"no row of", words});
  };
  refused("/device/name", "Other GPU", "device: Fake GPU and Other GPU");
  refused("/device/driver", "590.1", "driver: 580.1 and 590.1");
  refused("/device/sm_clock_mhz", 1000, "highest SM clock (MHz): unknown and 1000");
  refused("/kernels/flags", "-O0", "flags of the kernels:");
  refused("/seed", 9, "seed: 0 and 9");
  refused("/options/processes", 2, "processes at once: 1 and 2");
  refused("/groups/0/rows/0/timing/method", "graph", "method: events and graph");
  refused("/groups/0/rows/0/timing/sm_clock_mhz/median", 1500,
          "SM clock during the samples: 1980 and 1500 MHz");
  refused("/groups/0/parameters/n", 2000, "only in the old results");
  refused("/groups/0/l2", "warm", "only in the old results");
  expect(compare(older, put_json(directory / "new.json", same)), 0, {"1 SAME"});

  // Of another track, which has a stage of the same name.
  json other = same;
  other["groups"][0]["track"] = "other";
  other["groups"][0]["rows"][0]["stage"] = "other/01";
  expect(compare(older, put_json(directory / "new.json", other)), 2,
         {"are of different tracks, ladder and other: times are compared within one"});
  // Beside one that both have, a track is named whose rows only one has.
  other["groups"].push_back(same["groups"][0]);
  expect(compare(older, put_json(directory / "new.json", other)), 0,
         {"1 SAME", "other/01", "only in the new results, and nothing of other in the old ones"});
}

TEST_CASE("what is no result file is refused, and the file named") {
  const temporary_directory directory;
  simulated_device device{.random = std::mt19937_64(14)};
  const json good = results_of({{"ladder/01", device.run(1e6, 5)}});
  const auto older = put_json(directory / "old.json", good);
  const fs::path bad = directory / "bad.json";
  const auto refused = [&](const std::string& text, const std::string& words) {
    put(bad, text);
    expect(compare(older, bad), 2, {"bad.json: " + words});
    expect(compare(bad, older), 2, {"bad.json: " + words});
  };
  const auto changed = [&](const std::string& pointer, const json& value) {
    json other = good;
    other[json::json_pointer(pointer)] = value;
    return other.dump();
  };
  refused("", "is no JSON, or was cut short");
  refused(good.dump().substr(0, 500), "is no JSON, or was cut short");
  refused("{\"median\": NaN}", "is no JSON");
  refused(std::string(100'000, '['), "is no JSON");
  refused("[1, 2]", "is no result file: it has no \"schema\"");
  refused("{\"schema\": \"<script>\"}", "is no result file but \"<script>\"");
  refused(changed("/version", 2), "is of version 2, and this program reads version 1");
  refused(changed("/groups", 3), "the head is broken");
  refused(changed("/groups/0/rows/0/timing", "fast"), "row 1 is broken");
  refused(changed("/groups/0/rows/0/processes/2/samples/1", -5),
          "row 1 is broken: a time that is not positive");
  refused(changed("/groups/0/rows/0/processes/2/samples", json::array()),
          "row 1 is broken: a timing without samples");
  refused(changed("/groups/0/rows", json::array()), "holds no timed row");
  std::string infinite = good.dump();
  infinite.replace(infinite.find("\"median\":") + 9, 1, "1e999");
  refused(infinite, "is no JSON");

  expect(compare(older, directory / "missing.json"), 2, {"missing.json"});
  expect(compare(older, "/dev/zero"), 2, {"/dev/zero"});
  expect(compare(older, older), 2, {"OLD and NEW are one file"});
  fs::create_symlink("old.json", directory / "link.json");
  expect(compare(older, directory / "link.json"), 2, {"OLD and NEW are one file"});
  expect(compare(older, put_json(directory / "copy.json", good)), 2, {"hold the same samples"});
  fs::resize_file(directory / "copy.json", 300 << 20);  // a hole
  expect(compare(older, directory / "copy.json"), 2, {"are too many for a result file"});

  json hostile = results_of({{"ladder/01", device.run(1e6, 5)}});
  hostile["groups"][0]["track"] = "\x1b[31mladder";
  expect(compare(older, put_json(bad, hostile)), 2, {"of different tracks, ladder and "});
  put_json(directory / "old2.json", hostile);
  hostile["groups"][0]["rows"][0]["processes"][0]["samples"][0] = 1e6;
  const outcome shown = compare(directory / "old2.json", put_json(bad, hostile));
  CHECK(shown.code == 0);
  CHECK(!contains(shown.text, "\x1b"));
}

TEST_CASE("the files of a folder are so many processes, and a copy is none") {
  const temporary_directory directory;
  simulated_device device{.random = std::mt19937_64(15)};
  for (const char* side : {"old", "new"}) {
    fs::create_directory(directory / side);
    for (const char* name : {"1.json", "2.json", "3.json", "4.json"})
      put_json(directory / side / name, results_of({{"ladder/01", device.run(1e6, 1)}}));
  }
  fs::copy(directory / "old" / "1.json", directory / "old" / "copy.json");
  put(directory / "old" / "other.json", R"({"schema": "kernel-lab-counters"})");
  json past = results_of({{"ladder/01", device.run(9e6, 1)}});
  past["created"] = "2020-01-01T00:00:00Z";
  past["groups"][0]["rows"][0]["sources"] = std::string(40, 'b');
  put_json(directory / "new" / "past.json", past);
  const fs::path out = directory / "comparison.json";
  expect(compare(directory / "old", directory / "new", {"--json", out.string()}), 0,
         {"1 SAME", "the same samples lie in two files, and count once", "other.json is left out",
          "the record of 2020-01-01T00:00:00Z is left out"});
  CHECK(document(out).at("rows")[0].at("old").at("processes") == 4);
  CHECK(document(out).at("rows")[0].at("new").at("processes") == 4);
  // The same in one file, a line each.
  std::string lines;
  for (const char* name : {"1.json", "2.json", "3.json", "4.json"})
    lines += document(directory / "old" / name).dump() + "\n";
  fs::create_directory(directory / "records");
  put(directory / "records" / "ladder.jsonl", lines);
  expect(compare(directory / "records", directory / "new", {"--json", out.string()}), 0, {"1 SAME"});
  CHECK(document(out).at("rows")[0].at("old").at("processes") == 4);
  put(directory / "records" / "ladder.jsonl", lines + "{");
  expect(compare(directory / "records", directory / "new"), 2, {"ladder.jsonl: is no JSON"});
  fs::create_directory(directory / "empty");
  expect(compare(directory / "old", directory / "empty"), 2, {"holds no .json or .jsonl file"});
  put(directory / "empty" / "broken.json", "{");
  expect(compare(directory / "old", directory / "empty"), 2, {"broken.json: is no JSON"});
}

TEST_CASE("lab run --repeat keeps the samples of every process") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const json schema = document(LAB_RESULTS_SCHEMA);
  expect(lab_with({"run", "ladder", "faults", "--repeat", "3", "--json", path}), 1,
         {"medians of 3 processes within"});
  const json results = document(path);
  CHECK(results.at("options").at("repeat") == 3);
  std::size_t repeated = 0;
  for (const json& group : results.at("groups")) {
    for (const json& row : group.at("rows")) {
      CHECK(row.contains("processes") == !row.at("timing").is_null());
      if (!row.contains("processes")) continue;
      ++repeated;
      CHECK(row.at("processes").size() == 3);
      CHECK(row.at("processes")[1].at("samples").size() >= 1);
    }
  }
  CHECK(repeated > 2);
  expect(lab_with({"run", "ladder", "--json", path}), 0, {"ok"});
  CHECK(!contains(get(path), "processes"));
  for (const char* repeat : {"0", "-1", "1.5", "1001", "many"})
    expect(lab_with({"run", "ladder", "--repeat", repeat}), 2, {"--repeat"});
}

TEST_CASE("the middle process stands for a row, which is unstable where the processes differ") {
  const auto row_with = [](double median) {
    lab::front::result_row row;
    row.timing = lab::timing_record{.median = median};
    return row;
  };
  const auto repeated = [&](std::vector<double> medians) {
    lab::front::result_row row = row_with(medians[0]);
    for (std::size_t i = 1; i < medians.size(); ++i) {
      lab::front::result_row next = row_with(medians[i]);
      lab::front::add_process(row, next);
      row = next;
    }
    return row;
  };
  const auto steady = repeated({101, 100, 102, 99.5});
  CHECK(steady.timing->median == 100);
  CHECK(steady.processes.size() == 4);
  CHECK(!steady.timing->unstable);
  CHECK(repeated({117, 248}).timing->unstable);
  lab::front::result_row failed = row_with(1);
  failed.status = lab::front::row_status::failed;
  failed.timing.reset();
  lab::front::add_process(steady, failed);
  CHECK(failed.processes.empty());
}
