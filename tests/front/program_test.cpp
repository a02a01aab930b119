// The program itself, as a person runs it, against a worker that only pretends to have kernels
// (fake_worker.cpp).
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/front/process/child_process.hpp"
#include "harness/protocol.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/front/program.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using nlohmann::json;
using namespace lab::test;

bool is_near(const json& value, double expected) {
  return std::abs(value.get<double>() / expected - 1) < 1e-6;
}

const json& row_of(const json& results, const std::string& stage) {
  for (const auto& group : results.at("groups")) {
    for (const auto& row : group.at("rows")) {
      if (row.at("stage") == stage) return row;
    }
  }
  throw std::runtime_error("no row of " + stage);
}

// Where `value` is not what `schema` describes: "" when it is. Knows the part of JSON Schema that says which
// fields there are; types and ranges are for a real validator.
std::string undescribed(const json& value, const json& schema, const json& root,
                        const std::string& pointer = "") {
  if (schema.contains("$ref")) {
    const std::string name = schema.at("$ref").get<std::string>().substr(std::string("#/$defs/").size());
    return undescribed(value, root.at("$defs").at(name), root, pointer);
  }
  if (schema.contains("anyOf")) {
    return value.is_null() || value.is_string() ? ""
                                                : undescribed(value, schema.at("anyOf")[0], root, pointer);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string bad =
          undescribed(value[i], schema.at("items"), root, pointer + "/" + std::to_string(i));
      if (!bad.empty()) return bad;
    }
  }
  if (!value.is_object() || !schema.contains("properties")) return "";
  for (const auto& [name, member] : value.items()) {
    if (!schema.at("properties").contains(name)) return pointer + "/" + name + " is not described";
    const std::string bad = undescribed(member, schema.at("properties").at(name), root, pointer + "/" + name);
    if (!bad.empty()) return bad;
  }
  for (const auto& name : schema.at("required")) {
    if (!value.contains(name.get<std::string>()))
      return pointer + "/" + name.get<std::string>() + " is missing";
  }
  return "";
}

}  // namespace

TEST_CASE("bad usage ends with 2 and says what is wrong") {
  struct bad_usage {
    strings arguments;
    std::string words;
  };
  const temporary_directory directory;
  const std::string here = directory.path().string();
  lab::test::put(directory / "input.npy", "data");
  const std::string input = (directory / "input.npy").string();
  const std::vector<bad_usage> cases{
      {{}, "Usage: lab"},
      {{"rnu"}, "did you mean run"},
      {{"--nonsense"}, "--nonsense"},
      {{"describe", "--nonsense"}, "--nonsense"},
      {{"list"}, "a verb of the launcher"},
      {{"run", "laddr"}, "did you mean ladder?"},
      {{"run", "ladder", "zzzzzz"}, "no stage matches 'zzzzzz'"},
      {{"run", "--device", "foo"}, "must be emulator or cuda:0"},
      {{"run", "--device", "cuda:7"}, "cuda:7: no such device here: there is only cuda:0"},
      {{"run", "--device"}, "--device"},
      {{"run", "ladder", "--size", "5"}, "the parameters are --n, --window"},
      {{"run", "faults", "--window", "5"}, "the parameters are --n"},
      {{"run", "ladder", "--n", "0"}, "--n must be at least 1"},
      {{"run", "ladder", "--n=-5"}, "must not be negative"},
      {{"run", "ladder", "--n", "-5"}, "must not be negative"},
      {{"run", "ladder", "--n", "1e30"}, "too large"},
      {{"run", "ladder", "--n", "many"}, "whole number"},
      {{"run", "ladder", "--n"}, "--n needs a whole number"},
      {{"run", "ladder", "--window", "4,,5"}, "whole number"},
      {{"run", "ladder", "--n", "1", "--n", "2"}, "given twice"},
      {{"run", "--seed", "x"}, "--seed needs a whole number"},
      {{"run", "--l2", "tepid"}, "cold, warm or both"},
      {{"run", "--min-samples", "0"}, "--min-samples"},
      {{"run", "--time-limit", "0"}, "--time-limit needs a number of seconds"},
      {{"run", "--time-limit", "nan"}, "--time-limit needs a number of seconds"},
      {{"run", "--timeout", "-1"}, "--timeout needs a number of seconds"},
      {{"run", "--json", here}, "is a directory"},
      {{"run", "--json", here + "/no/results.json"}, "there is no directory"},
      {{"run", "refusal"}, "refusal/01_usage: n must be even"},
      {{"run", "faults/06*", "faults/07*"}, "nothing ran"},
      {{"verify", "--quick", "--thorough"}, "exclude each other"},
      {{"apply", "ladder", "--input", input, "--output", here + "/o"}, "more than one stage"},
      {{"apply", "ladder/09", "--input", input, "--output", here + "/o"}, "no stage matches"},
      {{"apply", "ladder/01", "--input", here + "/none.npy", "--output", here + "/o"}, "no such file"},
      {{"apply", "ladder/01", "--input", input + ",", "--output", here + "/o"}, "empty name"},
      {{"apply", "ladder/01", "--input", input, "--output", here}, "is a directory"},
      {{"apply", "ladder/01", "--input", input, "--output", here + "/no/o"}, "cannot be written"},
      {{"apply", "ladder/01", "--input", input, "--output", input}, "--input and --output are one file"},
      {{"apply", "ladder/01", "--input", input, "--output", here + "/o", "--window", "1,2"}, "single value"},
      {{"apply", "ladder/01", "--output", here + "/o"}, "--input is required"},
      {{"apply", "faults/06", "--input", input, "--output", here + "/o"}, "needs 16.0 GB, 9.30 GB free"},
      {{"profile"}, "stage is required"},
      {{"bench", "ladder", "--", "--nonsense"}, "--nonsense"},
      {{"bench", "ladder", "--", "--benchmark_format=xml"}, "benchmark"},
      {{"bench", "ladder", "--", "--benchmark_filter=nothing_like_it"}, "filter"},
      {{"bench", "ladder", "--", "--benchmark_out=/nonexistent/out.json"}, "nonexistent"},
      {{"bench", "refusal"}, "n must be even"},
  };
  for (const auto& one : cases) {
    std::string line = "lab";
    for (const auto& argument : one.arguments) line += " " + argument;
    INFO(line);
    expect(lab_with(one.arguments), 2, {one.words});
  }
}

TEST_CASE("help is an answer, not an error") {
  for (const char* verb : {"describe", "run", "verify", "bench", "apply", "profile", "trace", "compare"}) {
    expect(lab_with({verb, "--help"}), 0, {"Usage: lab " + std::string(verb)});
  }
  const outcome help = lab_with({"--help"});
  expect(help, 0, {"verify, time, and print the ladder"});
  CHECK(!contains(help.text, "describe"));
  expect(lab_with({"--version"}), 0, {"Kernel Lab"});
  expect(lab_with({"-V"}), 0, {"Kernel Lab"});
}

TEST_CASE("a worker that does not start is the machine's fault, with the reason") {
  expect(lab_with({"run", "--device", "cuda:0"}, "dies"), 2, {"libfake.so", "exit code 127"});
  expect(lab_with({"run", "--device", "cuda:0"}, "other protocol"), 2, {"build both again"});
  expect(lab_with({"run", "--device", "cuda:0"}, "no device"), 2, {"no CUDA-capable device"});
  expect(lab_with({"run"}, "no stages"), 2, {"knows no stages"});
  expect(
      run({"/usr/bin/env", "LAB_WORKER_CUDA=/nonexistent/worker", LAB_PROGRAM, "run", "--device", "cuda:0"}),
      2, {"/nonexistent/worker", "No such file"});
}

TEST_CASE("without a GPU the emulator runs, and says so") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const outcome found = run(command_without_gpu({"run", "ladder", "--l2", "both", "--json", path}));
  expect(found, 0,
         {"no CUDA device: ", "running the portable stages on the CPU emulator",
          "times are this host's, not a GPU's", "the emulator has no caches"});
  CHECK(!contains(found.text, "speed of light"));
  CHECK(!contains(found.text, "GB/s"));
  const json results = document(path);
  CHECK(results.at("floor").is_null());
  REQUIRE(results.at("groups").size() == 1);
  CHECK(results.at("groups")[0].at("ceilings").empty());
  CHECK(results.at("groups")[0].at("l2") == "none");
  CHECK(results.at("groups")[0].at("rows")[0].at("speed_of_light").is_null());
}

TEST_CASE("a ladder is measured, shown and kept") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const outcome found =
      lab_with({"run", "ladder", "--n", "1e3,2_000", "--window", "4", "--seed", "9", "--json", path});
  expect(found, 0,
         {"cuda:0: Fake GPU", "1.2.3 (CUDA 13.0)", "seed     9; proofs made now draw trials from ",
          "2.100 us", "n = 1000, window = 4", "n = 2000, window = 4", "03_library (library)", "% of library",
          "6 ok, 0 failed, 0 skipped"});
  const json results = document(path);
  CHECK(results.at("schema") == "kernel-lab-results");
  CHECK(results.at("version") == 1);
  CHECK(results.at("complete") == true);
  CHECK(results.at("seed") == 9);
  CHECK(results.at("kernels").at("compiler") == "fake compiler");
  REQUIRE(results.at("groups").size() == 2);
  const auto& group = results.at("groups")[0];
  CHECK(group.at("fewest_bytes") == 8000);
  CHECK(group.at("ceilings").size() == 2);
  CHECK(group.at("rows")[1].at("over_previous") == 2.0);
  CHECK(group.at("rows")[1].at("speed_of_light") == 0.5);
  CHECK(group.at("rows")[1].at("over_library") == 0.625);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE(
    "a row's process is asked while the one before ends, is timed alone, and is asked again where both lack "
    "memory") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  expect(lab_with({"run", "turns", "--json", path}, "turns"), 0, {"10 ok, 0 failed, 0 skipped"});
  const json results = document(path);
  const auto microseconds = [&](std::size_t group) {
    std::vector<int> all;
    for (const auto& row : results.at("groups").at(group).at("rows"))
      all.push_back(static_cast<int>(std::lround(row.at("timing").at("median").get<double>() / 1000)));
    return all;
  };
  // Not before the stage is proved, nor before a row of its ladder is there: in the second ladder from the
  // third row on.
  CHECK(microseconds(0) == std::vector{400, 400, 400, 400, 400});
  CHECK(microseconds(1) == std::vector{400, 400, 200, 400, 300});
}

TEST_CASE("a stage that fails costs its own row alone") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  expect(lab_with({"run", "faults", "--json", path}), 1,
         {"wrong at index 17: expected 3.5, found nan, block 0, thread 17",
          "killed by signal 11 (Segmentation fault)", "its last words: about to crash",
          "ended with exit code 3", "the worker's answer cannot be understood: this is not JSON",
          "an illegal memory access", "needs 16.0 GB, 9.30 GB free", "window 20000 exceeds 4096",
          "needs compute capability 12.0", "1 ok, 5 failed, 3 skipped"});
  const json results = document(path);
  CHECK(results.at("complete") == true);
  for (const auto& row : results.at("groups")[0].at("rows")) {
    CHECK(row.at("timing").is_null() == (row.at("status") != "ok"));
  }
  const auto& wrong = row_of(results, "faults/01_wrong");
  CHECK(wrong.at("failure").at("found") == "nan");
  CHECK(wrong.at("verification").at("largest_error") == "nan");
  CHECK(row_of(results, "faults/02_crash").at("failure").at("kind") == "crash");
  CHECK(row_of(results, "faults/06_memory").at("status") == "skipped");
  CHECK(row_of(results, "faults/09_good").at("status") == "ok");
}

TEST_CASE("every field of the results file is described") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const json schema = document(LAB_RESULTS_SCHEMA);
  for (const strings& arguments : {strings{"run", "faults", "ladder", "--l2", "both"},
                                   strings{"verify", "ladder", "faults"}, strings{"bench", "ladder"}}) {
    strings all = arguments;
    all.insert(all.end(), {"--json", path});
    lab_with(all);
    CHECK(undescribed(document(path), schema, schema) == "");
  }
}

TEST_CASE("a stage that hangs is stopped, and the next one runs") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  expect(lab_with({"run", "hang", "--timeout", "1", "--json", path}), 1,
         {"no answer within 1 s of processor time; the stage was stopped", "2 ok, 1 failed"});
  const json results = document(path);
  CHECK(row_of(results, "hang/02_hang").at("failure").at("kind") == "hang");
  CHECK(row_of(results, "hang/03_good").at("status") == "ok");
}

TEST_CASE("what a stage's references worked out is handed on as far as a request holds it") {
  expect(lab_with({"run", "references"}), 0, {"02_reads_little  ✓", "2 ok, 0 failed"});
}

TEST_CASE("odd answers are understood or refused") {
  expect(lab_with({"run", "odd/0[1234]*"}), 0, {"4 ok", "unstable"});
  expect(lab_with({"run", "odd/05*"}), 1, {"cannot be understood", "verification"});
}

TEST_CASE("what a worker says and prints cannot reach the terminal's controls") {
  const outcome found = lab_with({"run", "answers/03*"});
  expect(found, 1, {"?[31mred? next line", "?[2Jprinted"});
  CHECK(!contains(found.text, "\x1b[2J"));
  CHECK(!contains(found.text, "\x1b[31m"));
}

TEST_CASE("an emulator's variable that means nothing is refused by name") {
  struct slip {
    const char* setting;
    const char* words;
  };
  for (const slip& one :
       {slip{"LAB_EMULATOR_REVERSE=yes", "LAB_EMULATOR_REVERSE must be"},
        slip{"LAB_EMULATOR_REVERSE=2", "LAB_EMULATOR_REVERSE must be"},
        slip{"LAB_EMULATOR_THREADS=-1", "LAB_EMULATOR_THREADS must be"},
        slip{"LAB_EMULATOR_THREADS=99999999999999999999", "LAB_EMULATOR_THREADS must be"},
        slip{"LAB_EMULATOR_MEMORY=1GB", "LAB_EMULATOR_MEMORY must be"},
        slip{"LAB_EMULATOR_DEVICES=17", "LAB_EMULATOR_DEVICES must be"},
        slip{"LAB_EMULATOR_REVERSED=1", "LAB_EMULATOR_REVERSED: the emulator has no such variable"}}) {
    auto all = command({"describe"});
    all.insert(all.begin() + 1, one.setting);
    INFO(one.setting);
    expect(run(all), 2, {one.words});
  }
  auto right = command({"describe"});
  right.insert(right.begin() + 1, {"LAB_EMULATOR_REVERSE=1", "LAB_EMULATOR_THREADS=2"});
  expect(run(right), 0, {});
}

TEST_CASE("the program says what a call needs built, and nothing for one that makes no sense") {
  const temporary_directory directory;
  std::filesystem::create_directories(directory / "w");
  for (const char* backend : {"emulator", "cuda", "observed"})
    lab::test::put(directory / ("w/" + std::string(backend) + ".stages"), "one/01_a\none/02_b\ntwo/01_c\n");
  const auto targets = [&](const strings& arguments) {
    strings all{"/usr/bin/env", "LAB_WORKERS=" + (directory / "w").string(), LAB_PROGRAM, "build-targets"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const outcome found = run(all);
    INFO(found.text);
    CHECK(found.code == 0);
    return found.text;
  };
  const std::string one = "workers/emulator/one.track\nworkers/emulator/one/01_a\n";
  const std::string observed_one = "workers/observed/one.track\nworkers/observed/one/01_a\n";
  // Counters need observed kernels alone; a stage without a proof needs both.
  CHECK(targets({"run", "one/01*", "--device", "emulator"}) == observed_one + one);
  CHECK(targets({"run", "one/01*", "--n", "7", "--device=emulator"}) == observed_one + one);
  CHECK(targets({"run", "one/01*", "--host-times", "--device", "emulator"}) == one + observed_one);
  CHECK(targets({"verify", "one/01*", "--quick", "--device", "emulator"}) == one);
  CHECK(targets({"apply", "one/01", "--output", "x", "--device", "emulator"}) == one);
  CHECK(targets({"verify", "two", "--device", "cuda:0"}) ==
        "workers/cuda/two.track\nworkers/cuda/two/01_c\n");
  CHECK(targets({"run", "one/01*", "--check", "--device", "emulator"}) ==
        observed_one + "workers/observed/one/02_b\n" + one + "workers/emulator/one/02_b\n");
  CHECK(targets({"profile", "one/01", "--device", "emulator"}) ==
        one + "workers/observed/one.track\nworkers/observed/one/01_a\n");
  const strings graded{"grade", "one/01_a", "--submission", "x", "--key", "y", "--device"};
  const auto graded_on = [&](const char* device) {
    strings all = graded;
    all.emplace_back(device);
    return targets(all);
  };
  const std::string emulated = one + "workers/observed/one.track\nworkers/observed/one/01_a\n";
  CHECK(graded_on("emulator") == emulated);
  CHECK(graded_on("cuda:1") == "workers/cuda/one.track\nworkers/cuda/one/01_a\n" + emulated);
  for (const strings& nonsense :
       {strings{}, strings{"--help"}, strings{"run", "--help"}, strings{"rnu"}, strings{"run", "three"},
        strings{"describe", "--nonsense"}, strings{"run", "--seed", "x"}, strings{"run", "--device", "x"},
        strings{"grade", "one/01_a", "--submission", "x", "--key", "y", "--device", "x"}})
    CHECK(targets(nonsense) == "");
}

TEST_CASE("faster than light is a failure") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  expect(lab_with({"run", "light", "--json", path}), 1,
         {"over the speed of light (200.0 %): wrong byte model or a cache", "1 ok, 1 failed"});
  CHECK(row_of(document(path), "light/02_faster_than_light").at("timing").is_null());
  expect(lab_with({"bench", "light"}), 1, {"over the speed of light"});
}

TEST_CASE("verification alone has no times") {
  const outcome found = lab_with({"verify", "ladder", "faults/01*"});
  expect(found, 1, {"largest error / bound", "25.0 %", "wrong at index 17"});
  CHECK(!contains(found.text, "median"));
  expect(lab_with({"verify", "ladder", "--quick"}), 0, {"3 ok"});
}

TEST_CASE("the description says what is there and what does not run here") {
  const temporary_directory directory;
  const std::string path = (directory / "description.json").string();
  expect(lab_with({"describe", "ladder", "faults/08*"}), 0,
         {"The track ladder", "what window means", "ladder/01_first", "the idea of 01_first",
          "GPU, compute capability 12.0", "needs compute capability 12.0, and this is 9.0"});
  expect(lab_with({"describe", "ladder", "faults/08*", "--json", path}), 0, {});
  CHECK(document(path).at("tracks")[1].at("stages").size() == 1);
}

TEST_CASE("Google Benchmark reports the same measurements") {
  const temporary_directory directory;
  const std::string path = (directory / "benchmark.json").string();
  const std::string own = (directory / "results.json").string();
  expect(lab_with({"bench", "ladder", "--n", "2e3", "--json", own, "--", "--benchmark_out=" + path}), 0,
         {"ladder/01_first/n:2000/window:3"});
  const json benchmarks = document(path).at("benchmarks");
  REQUIRE(benchmarks.size() == 3);
  CHECK(is_near(benchmarks[1].at("real_time"), 200.0));
  CHECK(is_near(benchmarks[1].at("speed_of_light"), 0.5));
  CHECK(is_near(benchmarks[1].at("bytes_per_second"), 16000 / 200e-6));
  CHECK(document(own).at("complete") == true);

  expect(lab_with({"bench", "ladder", "--l2", "both", "--", "--benchmark_filter=second.*warm"}), 0,
         {"/l2:warm"});
  expect(lab_with({"bench", "ladder", "--", "--benchmark_list_tests"}), 0,
         {"ladder/03_library/n:1000/window:3"});
  expect(lab_with({"bench", "ladder", "--", "--help"}), 0, {"benchmark_filter"});
  expect(lab_with({"bench", "faults", "--", "--benchmark_out=" + path}), 1,
         {"wrong at index 17", "killed by signal 11", "skipped: needs 16.0 GB"});
  CHECK(document(path).at("benchmarks").size() == 9);
}

TEST_CASE("apply hands files to one stage") {
  const temporary_directory directory;
  lab::test::put(directory / "input.npy", "data");
  const std::string input = (directory / "input.npy").string();
  const std::string output = (directory / "output.npy").string();
  expect(lab_with({"apply", "ladder/01", "--input", input, "--output", output, "--window", "7"}), 0,
         {"ladder/01_first: wrote " + output});
  expect(lab_with({"apply", "faults/01_wrong", "--input", input, "--output", output}), 1,
         {"FAIL: wrong at index 17"});
  expect(lab_with({"apply", "faults/02_crash", "--input", input, "--output", output}), 1,
         {"killed by signal 11"});
}

TEST_CASE("profiling without a GPU needs the worker that counts") {
  auto profile = command_without_gpu({"profile", "ladder/01"});
  profile.insert(profile.begin() + 1, "LAB_WORKER_OBSERVED=/nonexistent/worker");
  expect(run(profile), 2, {"/nonexistent/worker"});
}

TEST_CASE("a profile keeps the report and shows the counters") {
  const temporary_directory directory;
  // Writes a report where it is told to, and prints a table of it; FAKE_NCU is what goes wrong instead.
  lab::test::put(directory / "ncu", R"script(#!/bin/sh
case "$*" in
*"--import "*)
  printf '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","average(float *, long)","2,848.000000"\n'
  exit 0 ;;
esac
case "$FAKE_NCU" in
permission) echo "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1 ;;
metric) echo "==ERROR== Failed to find metric"; exit 9 ;;
nothing) echo "==WARNING== No kernels were profiled."; exit 0 ;;
failed) echo '{"end": "failed", "message": "wrong at index 3"}'; exit 1 ;;
unsupported) echo '{"end": "error", "kind": "unsupported", "message": "needs a larger window"}'; exit 1 ;;
esac
echo "$*" >> "${0%/*}/calls"
while [ $# -gt 0 ]; do
  if [ "$1" = --export ]; then echo report > "$2"; fi
  shift
done
echo '{"end": "ok"}'
)script");
  std::filesystem::permissions(directory / "ncu", std::filesystem::perms::owner_all);
  const std::string report = (directory / "one.ncu-rep").string();
  const std::string path = (directory / "profile.json").string();
  const auto profile = [&](const std::string& trouble, const std::string& worker_mode = "") {
    strings all = command({"profile", "ladder/01", "--output", report, "--json", path}, worker_mode);
    all.insert(all.begin() + 1,
               {"PATH=" + directory.path().string() + ":/usr/bin:/bin", "FAKE_NCU=" + trouble});
    return run(all);
  };
  expect(profile("permission"), 2,
         {"NVreg_RestrictProfilingToAdminUsers=0", "developer.nvidia.com/ERR_NVGPUCTRPERM"});
  expect(profile("metric"), 2, {"exit code 9", "Failed to find metric"});
  expect(profile("nothing"), 2, {"no kernel in the stage's range"});
  expect(profile("failed"), 1, {"FAIL: wrong at index 3"});
  expect(profile("unsupported"), 0, {"ladder/01_first: skipped: needs a larger window"});
  CHECK(!std::filesystem::exists(report));
  expect(profile(""), 0,
         {"average(float *, long), launched once", "gpu__time_duration.sum (ns)      2848", report});
  CHECK(std::filesystem::exists(report));
  CHECK(document(path).at("stages")[0].at("counters")[0].at("value") == "2848");
  CHECK(!contains(get(directory / "calls"), "--set full"));

  std::filesystem::remove(directory / "calls");
  const auto with = [&](strings arguments) {
    strings all = command(arguments);
    all.insert(all.begin() + 1, "PATH=" + directory.path().string() + ":/usr/bin:/bin");
    return run(all);
  };
  expect(
      with({"profile", "ladder/02", "--full", "--output", report, "--baseline", "ladder/01", "--json", path}),
      2, {"--output names one report, and several stages were asked for"});
  expect(with({"profile", "ladder/01", "--full", "--output", report}), 0, {"open:   ncu-ui " + report});
  const std::string calls = get(directory / "calls");
  CHECK(contains(calls, "--set full --import-source yes"));
  CHECK(contains(calls, "\"n\":1000"));
  expect(with({"profile", "ladder/01", "--full", "--check"}), 2, {"--full keeps a report to look at"});
  expect(with({"profile", "ladder/01", "--baseline", "ladder/01"}), 2, {"would be compared with itself"});
  expect(with({"profile", "ladder/01", "--baseline", "faults/01"}), 2, {"are of different tracks"});
  expect(with({"profile", "ladder", "--baseline", "ladder/01"}), 2, {"compared with one stage"});
  expect(with({"profile", "ladder/01", "--baseline", "nothing"}), 2, {"no stage matches 'nothing'"});
}

namespace {

// `lab` on a machine without a GPU, whose observed worker is the fake one, too.
outcome on_emulator(const strings& arguments) {
  auto all = command_without_gpu(arguments);
  all.insert(all.begin() + 1, std::string("LAB_WORKER_OBSERVED=") + LAB_FAKE_WORKER);
  return run(all);
}

std::vector<std::string> statuses(const json& document) {
  std::vector<std::string> found;
  for (const auto& verdict : document.at("claims")) found.push_back(verdict.at("status").get<std::string>());
  return found;
}

}  // namespace

TEST_CASE("a baseline is the first column of the counters") {
  const temporary_directory directory;
  const std::string path = (directory / "profile.json").string();
  expect(on_emulator({"profile", "claims/03", "--baseline", "claims/02_kept", "--json", path}), 0,
         {"02_kept", "03_"});
  const json found = document(path);
  CHECK(found.at("baseline") == "claims/02_kept");
  CHECK(found.at("stages")[0].at("stage") == "claims/02_kept");
  CHECK(found.at("stages").size() == 2);
  expect(on_emulator({"profile", "claims/02_kept", "--full"}), 2, {"which needs a GPU"});
  expect(on_emulator({"profile", "claims/02_kept", "--bench-size", "--json", path}), 0, {"02_kept"});
}

TEST_CASE("claims about time are tested with the run's own timings") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const outcome found = lab_with({"run", "claims/0[1-4]*", "--check", "--json", path});
  expect(found, 0,
         {"claims/02_kept: speedup >= 1.5 (n = 1000; Fake; compute capability 9.0): holds: 2\n",
          "claims/02_kept: speed_of_light_percent >= 45 (n = 1000; compute capability 9.0): holds: 50\n",
          "claims/02_kept: speedup_over_first <= 2.5 (n = 1000; compute capability 9.0): holds: 2\n",
          "claims/02_kept: speedup_over_library <= 1 (n = 1000; compute capability 9.0): holds: 0.625\n",
          "claims/02_kept: speedup >= 9 (n = 5000; compute capability 9.0): not tested here: this run has no "
          "n = 5000",
          "not tested here: it is claimed of H200, and this is Fake GPU\n",
          "not tested here: it is claimed of compute capability 12.0, and this is Fake GPU, 9.0\n",
          "claims/04_unstable: speedup >= 0.1 (n = 1000; compute capability 9.0): not tested here: its "
          "timing is unstable\n",
          "8 claims: 4 hold, 0 BROKEN, 4 not tested here"});
  CHECK(!contains(found.text, lab::test::load_requests));
  const json results = document(path);
  CHECK(statuses(results) ==
        strings{"holds", "holds", "holds", "holds", "not_tested", "not_tested", "not_tested", "not_tested"});
  const json schema = document(LAB_RESULTS_SCHEMA);
  CHECK(undescribed(results, schema, schema) == "");
  CHECK(results.at("claims")[0].at("figure") == 2);
}

TEST_CASE("a broken claim about time fails the run, and only when claims are tested") {
  expect(lab_with({"run", "lies"}), 0, {"2 ok"});
  expect(lab_with({"run", "lies", "--check"}), 1,
         {"lies/02_broken: speedup >= 3 (n = 1000; compute capability 9.0): BROKEN: 2\n",
          "1 claims: 0 hold, 1 BROKEN, 0 not tested here"});
  expect(lab_with({"run", "claims/05*", "--check"}), 1,
         {"claims/05_wrong: speedup >= 0.1 (n = 1000; compute capability 9.0): BROKEN: the stage fails: "
          "wrong at index 17"});
}

TEST_CASE("a claim about time is not tested without what it is compared with") {
  expect(lab_with({"run", "lies/02*", "--check"}), 0,
         {"lies/02_broken: speedup >= 3 (n = 1000; compute capability 9.0): not tested here: lies/01_first "
          "is not part of this run\n"});
  expect(lab_with({"run", "claims/02*", "--check"}), 0,
         {"speedup_over_library <= 1 (n = 1000; compute capability 9.0): not tested here: no library of this "
          "track was timed in this "
          "run\n"});
  expect(lab_with({"run", "lies", "--check", "--n", "2000"}), 0,
         {"not tested here: this run has no n = 1000"});
  expect(lab_with({"run", "lies", "--check", "--l2", "warm"}), 0,
         {"not tested here: it is claimed of a cold L2 cache\n"});
  expect(run(command_without_gpu({"run", "lies", "--check"})), 0,
         {"not tested here: the emulator's times are the host's\n"});
}

TEST_CASE("claims about counters are tested on the emulator") {
  const temporary_directory directory;
  const std::string path = (directory / "claims.json").string();
  expect(on_emulator({"profile", "claims/0[1-4]*", "--check", "--json", path}), 0,
         {std::string("claims/02_kept: ") + lab::test::load_requests + " = 1024: holds: 1024 modelled\n",
          ", over the previous stage's, = 0.5: holds: 0.5 modelled\n",
          "dram__bytes_read.sum = 1: not tested here: the emulator does not model it\n",
          "4 claims: 3 hold, 0 BROKEN, 1 not tested here"});
  CHECK(statuses(document(path)) == strings{"holds", "holds", "not_tested", "holds"});
  expect(on_emulator({"profile", "lies", "--check"}), 1,
         {"= 0.25: BROKEN: 0.5 modelled (claimed because: half the sectors)\n", "1 BROKEN"});
  // The stage before it is counted, though the pattern leaves it out.
  expect(on_emulator({"profile", "lies/02*", "--check"}), 1, {"= 0.25: BROKEN: 0.5 modelled"});
  expect(on_emulator({"profile", "claims/05*", "--check"}), 1,
         {"BROKEN: the stage fails: wrong at index 17"});
}

TEST_CASE("claims that cannot be read break where they are tested, and cost nothing else") {
  const std::string mistake =
      "light/01_slow/claims.json:3: no counter 'launch__grid_sise' is known; did you mean "
      "launch__grid_size";
  const temporary_directory directory;
  const std::string path = (directory / "claims.json").string();
  expect(on_emulator({"profile", "light", "--check", "--json", path}), 1,
         {"light/01_slow: BROKEN: ", mistake, "1 claims: 0 hold, 1 BROKEN"});
  CHECK(document(path).at("claims")[0].at("claim").is_null());
  expect(lab_with({"run", "light/01_slow", "--check", "--json", path}), 1, {"1 ok", mistake, "1 BROKEN"});
  const json schema = document(LAB_RESULTS_SCHEMA);
  CHECK(undescribed(document(path), schema, schema) == "");
  expect(on_emulator({"profile", "light/01_slow", "--predict"}), 2, {mistake});
  expect(on_emulator({"profile", "light/01_slow"}), 0, {"lab: ", mistake, "1024 modelled"});
  expect(lab_with({"run", "light/01_slow"}), 0, {"1 ok"});
  expect(lab_with({"describe", "light"}), 0, {"light/01_slow"});
}

TEST_CASE("counters are predicted from a file, then shown beside the figures") {
  const temporary_directory directory;
  const std::string answers = (directory / "answers.json").string();
  const std::string path = (directory / "profile.json").string();
  const auto predict = [&](const std::string& text) {
    lab::test::put(answers, text);
    return on_emulator({"profile", "claims/02_kept", "--predict", "--answers", answers, "--json", path});
  };
  const std::string requests = lab::test::load_requests, sectors = lab::test::load_sectors;
  expect(predict("{\"" + requests + "\": 1024, \"" + sectors + "\": 32768}"), 0,
         {"predicted", requests + "       1024  1024 modelled  exact", "off by a factor of 8"});
  const json stage = document(path).at("stages")[0];
  REQUIRE(stage.at("predictions").size() == 2);
  CHECK(stage.at("predictions")[0] == json{{"metric", requests},
                                           {"predicted", 1024.0},
                                           {"figure", 1024.0},
                                           {"modelled", true},
                                           {"verdict", "exact"}});
  CHECK(stage.at("predictions")[1].at("verdict") == "off by a factor of 8");
  expect(predict("{}"), 0, {"skipped"});
  CHECK(document(path).at("stages")[0].at("predictions")[0].at("predicted").is_null());

  std::filesystem::remove(path);
  expect(predict("{\"sectors\": 1}"), 2, {"there is no question 'sectors'", requests});
  expect(predict("{\"" + requests + "\": \"many\"}"), 2, {"must be a number from 0 up, not \"many\""});
  expect(predict("{\"" + requests + "\": -1}"), 2, {"must be a number from 0 up, not -1"});
  expect(predict("[1, 2]"), 2, {"must hold one JSON object"});
  expect(predict("{"), 2, {"must hold one JSON object"});
  CHECK(!std::filesystem::exists(path));  // nothing was run
  const strings missing{"profile", "claims/02_kept", "--answers", (directory / "none.json").string()};
  expect(on_emulator(missing), 2, {"none.json: there is no such file"});
}

TEST_CASE("predictions are asked for on a terminal alone, of one stage that runs here") {
  expect(on_emulator({"profile", "claims/02_kept", "--predict"}), 2,
         {"asks on a terminal, and there is none", "--answers FILE", lab::test::load_requests});
  expect(on_emulator({"profile", "claims", "--predict"}), 2, {"about one stage"});
  expect(on_emulator({"profile", "claims/02_kept", "--predict", "--check"}), 2, {"exclude each other"});
  expect(on_emulator({"profile", "faults/08", "--predict"}), 2, {"needs compute capability 12.0"});
  expect(on_emulator({"profile", "lies/01", "--predict"}), 2, {"speaks of no counter that can be had here"});
}

TEST_CASE("an interrupted run keeps what it has") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const int signal_number = GENERATE(SIGINT, SIGTERM);
  const bool bench = GENERATE(false, true);
  const lab::front::owned_descriptor output(
      open((directory / "output.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  lab::front::child_process process(command({bench ? "bench" : "run", "hang", "--json", path}),
                                    {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}});
  bool has_row = false;
  for (int i = 0; i < 2000 && !has_row; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_row = std::filesystem::exists(path) && !document(path).at("groups").empty();
  }
  REQUIRE(has_row);
  kill(process.id(), signal_number);
  const auto ending = process.wait_for(std::chrono::seconds(30));
  const std::string text = lab::test::get(directory / "output.txt");
  INFO(text);
  REQUIRE(ending);
  CHECK(!ending->by_signal);
  CHECK(ending->code == 130);
  CHECK(contains(text, "01_good"));
  CHECK(contains(text, "interrupted"));
  const json results = document(path);
  CHECK(results.at("complete") == false);
  CHECK(row_of(results, "hang/01_good").at("status") == "ok");
}

TEST_CASE("a soak proves with every seed, two to a proof, and keeps what it has when it is interrupted") {
  const temporary_directory directory;
  const std::string path = (directory / "soak.json").string();
  expect(lab_with({"verify", "ladder", "--seeds", "3:5", "--json", path}), 0, {"seeds 3 to 5", "no failure"});
  for (const auto& one : document(path).at("stages")) CHECK(one.at("seeds") == 3);
  expect(lab_with({"verify", "faults/01_wrong", "--seeds", "3:5", "--json", path}), 1, {"2 failures"});
  expect(lab_with({"verify", "faults/01_wrong", "--seeds", "7:7", "--json", path}), 1, {"1 failure"});

  const lab::front::owned_descriptor output(
      open((directory / "output.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  lab::front::child_process process(command({"verify", "hang", "--seeds", "1:2", "--json", path}),
                                    {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(process.id(), SIGINT);
  const auto ending = process.wait_for(std::chrono::seconds(30));
  const std::string text = lab::test::get(directory / "output.txt");
  INFO(text);
  REQUIRE(ending);
  CHECK(ending->code == 130);
  CHECK(text.find("soak on") != std::string::npos);
  CHECK(document(path).at("interrupted") == true);
}

TEST_CASE("an interrupt while the workers start ends the program with 130") {
  const temporary_directory directory;
  const lab::front::owned_descriptor output(
      open((directory / "output.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  for (const int milliseconds : {1, 5, 20, 500}) {
    lab::front::child_process process(command({"run", "ladder"}, "sleeps"),
                                      {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(process.id(), SIGINT);
    const auto ending = process.wait_for(std::chrono::seconds(30));
    INFO(milliseconds << " ms: " << lab::test::get(directory / "output.txt"));
    REQUIRE(ending);
    // Before the program's first instruction the system ends it, which a shell also calls 130.
    CHECK(ending->code == (ending->by_signal ? SIGINT : 130));
    if (milliseconds == 500) CHECK(!ending->by_signal);
  }
}
