// The parts of the front that need no process: numbers, parameters, patterns, files, counters.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "common/file.hpp"
#include "harness/front/counters/nsight_compute.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/selection/parameters.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/worker.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;

lab::track_description make_track(const std::string& name, const std::vector<std::string>& stages) {
  lab::track_description track;
  track.name = name;
  lab::parameter_description n;
  n.name = "n";
  n.minimum = 1;
  n.bench_defaults = {1000};
  n.verify_defaults = {10, 100};
  lab::parameter_description window;
  window.name = "window";
  window.minimum = 2;
  window.choices = {2, 4, 8};
  window.bench_defaults = {2, 4};
  window.verify_defaults = {2};
  track.parameters = {n, window};
  for (const auto& stage_name : stages) {
    lab::stage_description stage;
    stage.name = stage_name;
    stage.path = name + "/" + stage_name;
    track.stages.push_back(stage);
  }
  return track;
}

const std::vector<lab::track_description>& tracks() {
  static const std::vector<lab::track_description> all{
      make_track("reduction", {"01_naive", "02_tree", "03_cub"}),
      make_track("moving_average", {"01_naive", "02_shared_memory", "10_cub"})};
  return all;
}

std::vector<std::string> selected_paths(const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const auto& selection : lab::front::select_stages(tracks(), patterns)) {
    for (const auto* stage : selection.stages) paths.push_back(stage->path);
  }
  return paths;
}

template <class Call>
std::string message_of(Call&& call) {
  return lab::test::message_of<std::exception>(call);
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("whole numbers are read as people write them") {
  const auto parse = [](const char* text) { return lab::front::parse_integer(text, "--n"); };
  CHECK(parse("0") == 0);
  CHECK(parse("1000") == 1000);
  CHECK(parse("+7") == 7);
  CHECK(parse("1_000_000") == 1'000'000);
  CHECK(parse("1e9") == 1'000'000'000);
  CHECK(parse("1E3") == 1000);
  CHECK(parse("2.5e6") == 2'500'000);
  CHECK(parse("1200e-2") == 12);
  CHECK(parse("3.0") == 3);
  CHECK(parse("-0") == 0);
  CHECK(parse("0e999999999999") == 0);
  CHECK(parse("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(parse("0000000000000000000000001") == 1);
}

TEST_CASE("what is not a whole number of 64 bits is refused") {
  for (const char* text : {"",    " ",    "abc", "1.5", "1e", "1e-1", "e9", "1__0", "_1", "1_",
                           "1 0", "0x10", "nan", "inf", "1,", ".5",   "1.", "--5",  "+",  "-"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(lab::front::parse_integer(text, "--n"), lab::front::usage_error);
  }
  CHECK(message_of([] { return lab::front::parse_integer("1.5", "--n"); }) ==
        "--n needs a whole number (such as 300, 1_000_000 or 1e9), not '1.5'");
  CHECK(message_of([] { return lab::front::parse_integer("-4", "--n"); }) ==
        "--n must not be negative: '-4'");
  for (const char* text :
       {"9223372036854775808", "1e19", "1e99", "1e99999999999999999999", "99999999999999999999999"}) {
    CAPTURE(text);
    CHECK(message_of([&] { return lab::front::parse_integer(text, "--n"); }).find("too large") !=
          std::string::npos);
  }
}

TEST_CASE("parameter sets are every combination, and defaults fill the gaps") {
  const auto& track = tracks()[0];
  using sets = std::vector<lab::parameter_values>;
  CHECK(lab::front::parameter_sets(track, {}, lab::front::default_set::bench) ==
        sets{{{"n", 1000}, {"window", 2}}, {{"n", 1000}, {"window", 4}}});
  CHECK(lab::front::parameter_sets(track, {{"window", "8"}}, lab::front::default_set::verify) ==
        sets{{{"n", 10}, {"window", 8}}, {{"n", 100}, {"window", 8}}});
  CHECK(lab::front::parameter_sets(track, {{"n", "1,2"}, {"window", "2,8"}}, lab::front::default_set::bench)
            .size() == 4);
  CHECK(lab::front::parameter_sets(track, {{"window", "4,4,4"}}, lab::front::default_set::bench).size() == 1);
  CHECK(lab::front::parameters_text(track, {{"window", 8}, {"n", 3}}) == "n = 3, window = 8");
  CHECK(lab::front::given_parameters(track, {{"window", "4"}}) == lab::parameter_values{{"window", 4}});
  CHECK_THROWS_AS(lab::front::given_parameters(track, {{"window", "4,8"}}), lab::front::usage_error);
  CHECK(lab::front::completed_parameters(track, {{"window", "4"}}, lab::front::default_set::verify) ==
        lab::parameter_values{{"n", 10}, {"window", 4}});
}

TEST_CASE("a parameter is a whole number, a real number or a word, all the way") {
  lab::track_description track = tracks()[0];
  lab::parameter_description type;
  type.name = "type";
  type.kind = lab::parameter_kind::word;
  type.choices = {"float32", "float64"};
  type.choice_numbers = {32, 64};
  type.bench_defaults = {"float32"};
  lab::parameter_description scale;
  scale.name = "scale";
  scale.kind = lab::parameter_kind::real;
  scale.minimum = -10.0;
  scale.maximum = 10.0;
  scale.bench_defaults = {0.5};
  track.parameters = {type, scale};
  const auto values = [&](const char* name, const char* text) {
    return message_of([&] { lab::front::check_parameters({{&track, {}}}, {{name, text}}, {}); });
  };
  const auto given = [&](const char* name, const char* text) {
    return lab::front::given_parameters(track, {{name, text}}).at(name);
  };
  CHECK(given("type", "float64") == "float64");
  CHECK(given("type", "64") == "float64");  // the number by which it was once known
  CHECK(values("type", "16") == "--type must be one of float32, float64, not '16'");
  CHECK(values("type", "") == "--type must be one of float32, float64, not ''");
  CHECK(values("type", "float32,half") == "--type must be one of float32, float64, not 'half'");
  CHECK(given("scale", "2") == 2.0);
  CHECK(given("scale", "-2.5e-1") == -0.25);
  CHECK(values("scale", "11") == "--scale must be at most 10 for reduction, not 11");
  for (const char* bad : {"", "nan", "inf", "1e999", "0x10", "1 ", "one", "0.5.5"}) {
    INFO(bad);
    CHECK(values("scale", bad) ==
          "--scale needs a real number (such as 0.5, -2 or 1e-3), not '" + std::string(bad) + "'");
  }
  CHECK(lab::front::parameter_sets(track, {{"type", "32,float32,float64"}}, lab::front::default_set::bench) ==
        std::vector<lab::parameter_values>{{{"type", "float32"}, {"scale", 0.5}},
                                           {{"type", "float64"}, {"scale", 0.5}}});
  const lab::parameter_values one{{"scale", 0.1}, {"type", "float32"}, {"n", 3}};
  CHECK(nlohmann::json(one).get<lab::parameter_values>() == one);
  CHECK(lab::front::parameters_text(track, one) == "type = float32, scale = 0.1");
  for (const char* bad : {"null", "[1]", "18446744073709551615", "true"})
    CHECK_THROWS_AS(nlohmann::json::parse(bad).get<lab::parameter_value>(), std::invalid_argument);
}

TEST_CASE("parameters are checked before anything runs") {
  const auto selections = lab::front::select_stages(tracks(), {});
  const auto complaint = [&](const std::vector<lab::front::parameter_argument>& arguments) {
    return message_of([&] { lab::front::check_parameters(selections, arguments, {"--seed", "--json"}); });
  };
  CHECK(complaint({{"n", "1e9"}, {"window", "2,8"}}) == "nothing was thrown");
  CHECK(complaint({{"sed", "1"}}) ==
        "--sed is neither an option nor a parameter of what was asked for; the parameters are --n, --window; "
        "did you mean --seed?");
  CHECK(complaint({{"n", "0"}}) == "--n must be at least 1 for reduction, not 0");
  for (const char* list : {"", ",", "4,", ",4", "4,,8"})
    CHECK(complaint({{"window", list}}) != "nothing was thrown");
  CHECK(complaint({{"window", "3"}}) == "--window must be one of 2, 4, 8 for reduction, not 3");
  CHECK(complaint({{"n", "1"}, {"n", "2"}}) == "--n is given twice; write a sweep as --n 1,2,3");
}

TEST_CASE("patterns name tracks, stages and sets of them") {
  CHECK(selected_paths({}).size() == 6);
  CHECK(selected_paths({"reduction"}) ==
        strings{"reduction/01_naive", "reduction/02_tree", "reduction/03_cub"});
  CHECK(selected_paths({"reduction/"}).size() == 3);
  CHECK(selected_paths({"reduction/02_tree"}) == strings{"reduction/02_tree"});
  CHECK(selected_paths({"*/*cub*"}) == strings{"reduction/03_cub", "moving_average/10_cub"});
  CHECK(selected_paths({"reduction/0[12]_*"}) == strings{"reduction/01_naive", "reduction/02_tree"});
  CHECK(selected_paths({"*/10_cub", "reduction/01*"}) ==
        strings{"reduction/01_naive", "moving_average/10_cub"});
}

TEST_CASE("a pattern with a slash that names nothing is a beginning of paths") {
  CHECK(selected_paths({"reduction/02"}) == strings{"reduction/02_tree"});
  CHECK(selected_paths({"*/01"}) == strings{"reduction/01_naive", "moving_average/01_naive"});
  CHECK(selected_paths({"moving_average/0"}) ==
        strings{"moving_average/01_naive", "moving_average/02_shared_memory"});
  const std::vector<lab::track_description> nested{make_track("a", {"01_x", "01_x_y", "01b_x"})};
  CHECK(lab::front::select_one_stage(nested, "a/01_x").stage->path == "a/01_x");
  CHECK(lab::front::select_one_stage(nested, "a/01b").stage->path == "a/01b_x");
  CHECK(lab::front::select_stages(nested, {"a/01"})[0].stages.size() == 2);
  CHECK_THROWS_AS(selected_paths({"reduct"}), lab::front::usage_error);
}

TEST_CASE("a pattern that matches nothing is told what is near") {
  const auto complaint = [](const char* pattern) {
    return message_of([&] { return lab::front::select_stages(tracks(), {pattern}); });
  };
  CHECK(complaint("reductoin") == "no stage matches 'reductoin'; did you mean reduction?");
  CHECK(complaint("02_tree") == "no stage matches '02_tree'; did you mean reduction/02_tree?");
  CHECK(complaint("zzzzzz") ==
        "no stage matches 'zzzzzz'; 'lab list' shows what there is, and 'lab new --list' the exercises");
  CHECK_THROWS_AS(lab::front::select_stages(tracks(), {""}), lab::front::usage_error);
  CHECK_THROWS_AS(lab::front::select_stages(tracks(), {"["}), lab::front::usage_error);
  CHECK_THROWS_AS(lab::front::select_stages(tracks(), {"reduction", "nothing"}), lab::front::usage_error);
}

TEST_CASE("one stage is its path or a beginning of its own") {
  const auto path = [](const char* name) { return lab::front::select_one_stage(tracks(), name).stage->path; };
  CHECK(path("reduction/02_tree") == "reduction/02_tree");
  CHECK(path("reduction/02") == "reduction/02_tree");
  CHECK(path("moving*/02*") == "moving_average/02_shared_memory");
  CHECK(message_of([&] { return path("reduction"); }) ==
        "'reduction' means more than one stage: reduction/01_naive, reduction/02_tree, reduction/03_cub");
  CHECK_THROWS_AS(path("reduction/09"), lab::front::usage_error);
  CHECK_THROWS_AS(path(""), lab::front::usage_error);
}

TEST_CASE("numbers are shown with the unit that fits") {
  CHECK(lab::front::humanised_time(812) == "812.0 ns");
  CHECK(lab::front::humanised_time(0.5) == "0.5000 ns");
  CHECK(lab::front::humanised_time(12'340) == "12.34 us");
  CHECK(lab::front::humanised_time(999.96) == "1.000 us");
  CHECK(lab::front::humanised_time(9'999.7) == "10.00 us");
  CHECK(lab::front::humanised_time(1'774'000) == "1.774 ms");
  CHECK(lab::front::humanised_time(2.5e9) == "2.500 s");
  CHECK(lab::front::humanised_time(123456e9) == "123456 s");
  CHECK(lab::front::humanised_bytes(17) == "17 B");
  CHECK(lab::front::humanised_bytes(4000) == "4.00 kB");
  CHECK(lab::front::humanised_bytes(16e9) == "16.0 GB");
  CHECK(lab::front::humanised_bandwidth(8e9, 1.774e6) == "4510 GB/s");
  CHECK(lab::front::humanised_percentage(0.8734) == "87.3 %");
  CHECK(lab::front::humanised_ratio(1) == "1.00x");
  CHECK(lab::front::humanised_ratio(9.999) == "10.0x");
  CHECK(lab::front::humanised_ratio(12.34) == "12.3x");
  CHECK(lab::front::humanised_ratio(256) == "256x");
  CHECK(lab::front::humanised_ratio(0.5) == "0.50x");
}

TEST_CASE("text is padded and cut by what is seen of it") {
  CHECK(lab::front::display_width("✓ ok") == 4);
  CHECK(lab::front::padded_right("✓", 3) == "✓  ");
  CHECK(lab::front::padded_left("✓", 3) == "  ✓");
  CHECK(lab::front::shortened("abcdefgh", 5) == "ab...");
  CHECK(lab::front::shortened("✓✓✓✓✓", 4) == "✓...");
  CHECK(lab::front::shortened("abc", 3) == "abc");
  CHECK(lab::front::wrapped("one two three four", 9, 2) == "one two\n  three\n  four");
  CHECK(lab::front::wrapped("one two three", 13, 2) == "one two three");
  CHECK(lab::front::wrapped("one two three", 0, 2) == "one two three");
  CHECK(lab::front::wrapped("✓✓✓✓✓✓✓ ab", 4, 1) == "✓✓✓✓\n ✓✓✓\n ab");
}

TEST_CASE("the columns of a table stand below each other, and a row's last cell is not padded") {
  using enum lab::front::alignment;
  const lab::front::table_rows rows{{"stage", "time", "why"}, {"✓", "12.5"}, {"", "1", "because"}};
  CHECK(lab::front::aligned_lines(rows, {left, right, left}) ==
        std::vector<std::string>{"stage  time  why", "✓      12.5", "          1  because"});
  CHECK(lab::front::aligned_text({{"a", "1"}, {"bc", "2"}}, {left}, "  ") == "  a   1\n  bc  2\n");
  const auto marked = [](std::size_t row, std::size_t column, const std::string& cell) {
    return row == 1 && column == 0 ? "<" + cell + ">" : cell;
  };
  CHECK(lab::front::aligned_lines({{"abc", "d"}, {"e", "f"}}, {left}, marked)[1] == "<e  >  f");
  CHECK(lab::front::aligned_lines({}, {left}).empty());
}

TEST_CASE("a number that is not finite never reaches JSON") {
  CHECK_NOTHROW(lab::front::json_text({{"a", {1.5, {{"b", 2}}}}}));
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK(message_of([&] {
            return lab::front::json_text({{"rows", {{{"time", 1.0}}, {{"time", bad}}}}});
          }) == "/rows/1/time is not a finite number");
  }
  lab::timing_record timing;
  timing.median = std::nan("");
  CHECK_THROWS_AS(nlohmann::json(timing), lab::protocol_error);
  lab::verification_record verification;
  verification.largest_error = std::nan("");
  CHECK(nlohmann::json(verification).at("largest_error") == "nan");
  CHECK(std::isnan(nlohmann::json(verification).get<lab::verification_record>().largest_error));
}

TEST_CASE("devices have names") {
  CHECK(lab::front::parse_device("emulator").kind == lab::front::backend::emulator);
  CHECK(lab::front::parse_device("cuda:3").index == 3);
  CHECK(lab::front::parse_device("cuda:2,cuda:0").index == 2);
  CHECK(lab::front::parse_device("cuda:2,cuda:0").others == std::vector<int>{0});
  for (const char* text : {"", "foo", "cuda", "cuda:", "cuda:-1", "cuda:x", "cuda:0 ", "cuda:99999999999",
                           "Emulator", "cuda:0,", ",cuda:0", "cuda:0,cuda:0", "cuda:0,emulator"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(lab::front::parse_device(text), lab::front::usage_error);
  }
}

TEST_CASE("Nsight Compute is asked for the stage's range alone") {
  lab::front::profile_request request;
  request.program = "ncu";
  request.worker = {"lab-worker-cuda", "--device", "0"};
  request.message = {{"op", "once"}};
  request.stage = "reduction/02_tree";
  request.metrics = {"a.sum", "b.sum"};
  request.report = "/tmp/x.ncu-rep";
  CHECK(lab::front::profile_command(request) ==
        strings{"ncu", "--nvtx", "--nvtx-include", "kernel_lab@reduction\\/02_tree/", "--clock-control",
                "none", "--cache-control", "none", "--metrics", "a.sum,b.sum", "--force-overwrite",
                "--export", "/tmp/x.ncu-rep", "lab-worker-cuda", "--device", "0", "--once",
                "{\"op\":\"once\"}"});
  request.full = true;
  const strings full = lab::front::profile_command(request);
  CHECK(std::search_n(full.begin(), full.end(), 1, "--set") != full.end());
  CHECK(std::find(full.begin(), full.end(), "--import-source") + 1 ==
        std::find(full.begin(), full.end(), "yes"));
  CHECK(full.back() == "{\"op\":\"once\"}");
  CHECK(lab::front::open_command({"/tmp/a.ncu-rep", "/tmp/b c'd.ncu-rep"}) ==
        "ncu-ui /tmp/a.ncu-rep '/tmp/b c'\\''d.ncu-rep'");
}

TEST_CASE("Nsight Compute's table is read") {
  const std::string csv =
      "==PROF== Connected\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"sectors.max\",\"sectors.sum\"\n"
      "\"\",\"\",\"\",\"Mbyte\",\"sector\",\"sector\"\n"
      "\"0\",\"17\",\"sum<float, \"\"x\"\">(const float *, long)\",\"1,234.500000\",\"7\",\"8\"\n"
      "\"1\",\"17\",\"finish\",\"2\",\"9\",\"10\"\n";
  const auto counters = lab::front::parse_counters(csv, {"dram__bytes_read.sum", "sectors"});
  REQUIRE(counters.size() == 6);
  CHECK(counters[0].kernel == "sum<float, \"x\">(const float *, long)");
  CHECK(counters[0].value == "1234.5");
  CHECK(counters[0].unit == "Mbyte");
  CHECK(counters[2].metric == "sectors.sum");
  CHECK(counters[3].launch == "1");
  CHECK_THROWS_AS(lab::front::parse_counters("==WARNING== nothing\n", {"a"}), lab::front::environment_error);
  CHECK(message_of([] {
          lab::front::check_counter_permission("==ERROR== ERR_NVGPUCTRPERM - no");
        }).find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
}

TEST_CASE(
    "a worker that tells how far it is may take its time, and one that tells nothing is stopped early") {
  using std::chrono::milliseconds;
  const auto answer_of = [](const char* stage, lab::front::time_limits limits) {
    return lab::front::worker({LAB_FAKE_WORKER})
        .request({{"op", "measure"}, {"stage", stage}, {"parameters", nlohmann::json::object()}}, limits);
  };
  const auto in_time = answer_of("ladder/01_tells", {milliseconds(60'000), milliseconds(700)});
  CHECK(in_time.message == "");
  CHECK(in_time.end == lab::answer_end::ok);
  const auto began = std::chrono::steady_clock::now();
  const auto silent = answer_of("ladder/01_hang", {milliseconds(60'000), milliseconds(700)});
  CHECK(std::chrono::steady_clock::now() - began < milliseconds(30'000));
  REQUIRE(silent.failure);
  CHECK(silent.failure->kind == lab::failure_kind::hang);
  CHECK(silent.message == "nothing heard for 0.7 s of processor time; the stage was stopped");
  const auto endless = answer_of("ladder/01_tells_for_ever", {milliseconds(1'500), milliseconds(700)});
  CHECK(endless.message == "no answer within 1.5 s of processor time; the stage was stopped");
}

TEST_CASE("a worker that has no processor is waited for, and one that sleeps for ever is ended") {
  using std::chrono::milliseconds;
  const auto answer_of = [](const char* stage) {
    return lab::front::worker({LAB_FAKE_WORKER})
        .request({{"op", "measure"}, {"stage", stage}, {"parameters", nlohmann::json::object()}},
                 milliseconds(500));
  };
  CHECK(answer_of("ladder/01_is_not_let").end == lab::answer_end::ok);
  const auto asleep = answer_of("ladder/01_sleeps");
  REQUIRE(asleep.failure);
  CHECK(asleep.failure->kind == lab::failure_kind::hang);
  CHECK(asleep.message ==
        "no answer within 5 s, of which it used 0.0 s of processor time; the stage was stopped");
}

TEST_CASE(
    "a limit is of processor time, of all that a program starts, and of ten times as long by the clock") {
  using lab::front::run_command;
  using std::chrono::milliseconds;
  const auto message = [](const std::string& script, milliseconds limit) {
    return message_of([&] { run_command({"/bin/sh", "-c", script}, limit); });
  };
  CHECK(run_command({"/bin/sh", "-c", "sleep 2; exit 3"}, milliseconds(500)).ending.code == 3);
  const std::string busy = "while :; do :; done";
  CHECK(message(busy, milliseconds(300)) == "/bin/sh did not end within 0.3 s of processor time");
  CHECK(message("(" + busy + ") & (" + busy + ") & wait", milliseconds(300)) ==
        "/bin/sh did not end within 0.3 s of processor time");
  CHECK(message("sleep 100", milliseconds(100)) ==
        "/bin/sh did not end within 1 s, of which it used 0.0 s of processor time");
}

TEST_CASE("a log has a line of progress now and then, and no more") {
  const lab::test::temporary_directory directory;
  const std::string path = (directory / "stderr").string();
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  REQUIRE(std::freopen(path.c_str(), "w", stderr) != nullptr);
  {
    lab::front::status_line status(false, std::chrono::milliseconds(200));
    status.show("trial 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    status.show("trial 2");
    status.show("trial 3");
  }
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  CHECK(lab::read_text(path) == "trial 2\n");
}

TEST_CASE("a worker that is started ahead answers the next request, and is ended where none comes") {
  const lab::test::temporary_directory directory;
  const std::string program = (directory / "worker.sh").string(), log = (directory / "log").string();
  lab::test::put(program,
                 "#!/bin/sh\necho $$ $@ >> " + log + "\nread line <&3\necho '{\"end\": \"ok\"}' >&4\n");
  fs::permissions(program, fs::perms::owner_all);
  // The process number of the worker that has started last, once so many have.
  const auto started = [&](std::ptrdiff_t count) {
    for (int look = 0; look < 1000; ++look) {
      const std::string text = fs::exists(log) ? lab::read_text(log) : "";
      if (std::count(text.begin(), text.end(), '\n') == count) {
        CHECK(text.ends_with(" --connect --serve\n"));
        const std::size_t line = text.rfind('\n', text.size() - 2);
        return std::stoi(text.substr(line == std::string::npos ? 0 : line + 1));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return 0;
  };
  lab::front::worker asked({program});
  asked.start_ahead();
  REQUIRE(started(1) > 0);
  CHECK(asked.request({{"op", "measure"}}, std::chrono::seconds(10)).end == lab::answer_end::ok);
  CHECK(started(1) > 0);
  int idle = 0;
  {
    lab::front::worker other({program});
    other.start_ahead();
    idle = started(2);
    REQUIRE(idle > 0);
  }
  CHECK(kill(idle, 0) != 0);
}

TEST_CASE("a worker that is asked ahead is at work before its answer is waited for, and is asked once") {
  const lab::test::temporary_directory directory;
  const std::string program = (directory / "worker.sh").string(), log = (directory / "log").string();
  lab::test::put(program, "#!/bin/sh\nread line <&3\necho $line >> " + log +
                              "\necho '{\"end\": \"ok\"}' >&4\nread more <&3\necho $more >> " + log + "\n");
  fs::permissions(program, fs::perms::owner_all);
  lab::front::worker asked({program});
  asked.start_ahead();
  CHECK_FALSE(asked.is_asked());
  asked.ask_ahead({{"op", "verify"}});
  CHECK(asked.is_asked());
  CHECK(asked.may_answer({{"op", "verify"}, {"proved", 7}}));
  CHECK_FALSE(asked.may_answer({{"op", "measure"}}));
  CHECK_FALSE(asked.may_answer({{"op", "verify"}, {"stage", "other"}}));
  for (int look = 0; look < 1000 && (!fs::exists(log) || lab::read_text(log).empty()); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(lab::read_text(log).find("verify") != std::string::npos);
  CHECK(asked.request({{"op", "verify"}}, std::chrono::seconds(10)).end == lab::answer_end::ok);
  const std::string text = lab::read_text(log);
  CHECK(text.find("verify") == text.rfind("verify"));
}

TEST_CASE("what a worker that is started ahead leaves running is its own") {
  const lab::test::temporary_directory directory;
  const std::string program = (directory / "worker.sh").string(), log = (directory / "log").string();
  const std::string answers = "read line <&3\necho '{\"end\": \"ok\"}' >&4\n";
  const std::string leaving = (directory / "leaving.sh").string();
  lab::test::put(program, "#!/bin/sh\n" + answers);
  lab::test::put(leaving, "#!/bin/sh\n(sleep 1000 &)\necho started > " + log + "\n" + answers);
  for (const std::string& one : {program, leaving}) fs::permissions(one, fs::perms::owner_all);
  lab::front::adopt_orphans();
  lab::front::worker asked({program}), next({leaving});
  next.start_ahead();
  for (int look = 0; look < 1000 && !fs::exists(log); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(asked.request({{"op", "measure"}}, std::chrono::seconds(10)).end == lab::answer_end::ok);
  const lab::answer_record left = next.request({{"op", "measure"}}, std::chrono::seconds(10));
  CHECK(left.end == lab::answer_end::failed);
  CHECK(left.message.starts_with("it left processes running, which were ended: sleep ("));
}
