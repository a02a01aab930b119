// Grading: what is right has its points, what cheats has none, and what runs wild costs its own row. All
// cheats are tried with LAB_EXERCISES_ALL, the first few of each kind always.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/slot.hpp"
#include "harness/front/grade/confinement.hpp"
#include "harness/front/grade/grade.hpp"
#include "harness/front/grade/reports.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/workers/devices.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::call_program;
using lab::test::contains;
using lab::test::outcome;
namespace fs = std::filesystem;
using lab::test::get;
using lab::test::put;
using lab::test::temporary_directory;
using nlohmann::json;
using strings = std::vector<std::string>;

constexpr const char* exercise = "elementwise/01_naive";

bool has_walls() {
  static const bool works = lab::front::confinement(true).has_walls();
  return works;
}

bool all_are_tried() {
  const char* const wanted = std::getenv("LAB_EXERCISES_ALL");
  return wanted != nullptr && *wanted != '\0';
}

// On no GPU, unless the arguments name one.
outcome grade(strings arguments) {
  arguments.insert(arguments.begin(), {LAB_PROGRAM, "grade"});
  if (std::find(arguments.begin(), arguments.end(), "--device") == arguments.end())
    arguments.insert(arguments.end(), {"--device", "emulator"});
  if (!has_walls()) arguments.emplace_back("--unconfined");
  return call_program(arguments, std::chrono::seconds(all_are_tried() ? 1800 : 280));
}

// The stage's source with this instead of the exercise's solution.
std::string with_part(const std::string& part) {
  std::string source = get(lab::front::stages_directory() / exercise / "stage.cu");
  const std::size_t begin = source.find('\n', source.find("// exercise: element")) + 1;
  const std::size_t end = source.rfind('\n', source.find("// end", begin)) + 1;
  return source.replace(begin, end - begin, part + "\n");
}

const std::string solution =
    "const std::int64_t mine = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;\n"
    "if (mine < n) doubled[mine] = 2 * values[mine];";

struct cheat {
  const char* name;
  std::string source;
  bool always = false;
};

std::vector<cheat> all_cheats() {
  const std::string index =
      "const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;\n";
  return {
      {"exit", with_part("exit(0);"), true},
      {"printed", with_part("printf(\"{\\\"end\\\": \\\"ok\\\"}\\n60/60 PASSED\\n\");"), true},
      {"hang", with_part("while (true) { volatile int x = 0; (void)x; }"), true},
      {"escape", with_part("char q = u8'\"'; } __attribute__((constructor)) void f() { char r = u8'\"';"),
       true},
      {"include", with_part("/**/ #include \"/etc/passwd\""), true},
      {"grid", with_part("gridDim.x = gridDim.x;\n" + solution), true},  // right, and no CUDA
      {"one_size", with_part(index + "if (n == 1000000 && i < n) doubled[i] = 2 * values[i];"), true},
      {"std_exit", with_part("std::_Exit(0); ::quick_exit(0);")},
      {"outside",
       "#define exercise_passed 1\nextern \"C\" int write(int, const void*, long) { return 0; }\n" +
           with_part("(void)n;")},
      {"interposed", with_part("extern \"C\" long write(int, const void*, unsigned long);")},
      {"incbin", with_part("asm(\".incbin \\\"/etc/passwd\\\"\");")},
      {"key", with_part("std::ifstream file(\"key.json\");")},
      {"endless_output", with_part("for (;;) printf(\"x x x x x x x x x x x x x x x x\\n\");")},
      {"fork_bomb", with_part("for (;;) fork();")},
      {"kill", with_part("kill(getppid(), 9);")},
      {"stops", with_part("raise(SIGSTOP);")},
      {"memory", with_part("int m = open(\"/proc/self/mem\", 2); pwrite(m, \"ok\", 2, 4096);")},
      {"wild",
       with_part("const double* p = values; for (;;) { if (*p == 0x1p-1000) return; p -= 1 << 20; }")},
      {"stack", with_part("long mine[2]; for (int k = 0; k < 100000; ++k) mine[k] = 0;")},
      {"deep", with_part("auto f = [](auto& self, int k) -> int { volatile int a[4096]; a[k % 9] = k; "
                         "return self(self, k + 1) + a[0]; }; if (f(f, 0) == 3) doubled[0] = 1;")},
      {"answers",
       with_part("dprintf(4, \"%s\", \"ok\"); for (int k = 64; k < 464; ++k) write(k, \"ok\", 2);")},
      {"counters", with_part("lab::emulator::the_observation().clear();")},
      {"observed", with_part("#ifdef LAB_EMULATOR_OBSERVED\n" + solution + "\n#endif")},
      {"compile_bomb",
       with_part(
           "constexpr long forever = [] { long s = 0; for (;;) ++s; return s; }(); doubled[0] = forever;")},
      {"templates",
       with_part("auto f = []<int k>(auto& self, std::integral_constant<int, k>) -> int { return "
                 "self(self, std::integral_constant<int, k + 1>{}); };")},
      {"launches", with_part("double_kernel<<<1, 1>>>(values, doubled, n);")},
      {"keeps", with_part("static __device__ double kept[4]; kept[0] = values[0];")},
      {"cuda", with_part("cudaMemcpy(doubled, values, 8 * n, cudaMemcpyDefault);")},
  };
}

}  // namespace

TEST_CASE("cheats score nothing, and the solution beside them all that there is for it") {
  const temporary_directory directory;
  const fs::path all = directory / "handed in";
  const std::string key = (directory / "key").string();
  REQUIRE(grade({"--make-key", key}).code == 0);

  fs::create_directories(all / "honest");
  put(all / "honest" / "stage.cu", with_part(solution));
  json answers;
  const auto asked = lab::front::find_exercise(exercise)->predictions;
  for (const auto& one : asked) {
    answers[one.name] = {{"answer", one.choices.empty() ? json(1) : json(one.choices.front())},
                         {"why", "I think that it is so"}};
  }
  put(all / "honest" / "predictions.json", answers.dump());
  std::map<std::string, double> wanted{{"honest", 60}};
  for (const cheat& one : all_cheats()) {
    if (!one.always && !all_are_tried()) continue;
    wanted[std::string(one.name) + ".cu"] = 0;
    put(all / (std::string(one.name) + ".cu"), one.source);
  }
  // Aims that came along with the source are nobody's, and a link to the key is no source.
  fs::create_directories(all / "own_aims");
  put(all / "own_aims" / "stage.cu", with_part("(void)values; doubled[0] = 0;"));
  put(all / "own_aims" / "exercises.json", R"({"exercises": []})");
  put(all / "own_aims" / "claims.json", "{}");
  put(all / "own_aims" / "predictions.json", std::string(60'000, '['));
  wanted["own_aims"] = 0;
  fs::create_directories(all / "link");
  fs::create_symlink(fs::path(key) / "key.json", all / "link" / "stage.cu");
  wanted["link"] = 0;
  put(all / "long.cu", with_part("//" + std::string(2 << 20, 'x')));
  wanted["long.cu"] = 0;
  // The compiler is told of a line, and a name must not become one.
  put(all / "a\"\n#error x\n.cu", with_part("(void)n; (void)values; doubled[0] = 0;"));
  wanted["a\" #error x .cu"] = 0;

  const std::string report = (directory / "grades.json").string();
  const std::string junit = (directory / "junit.xml").string();
  const outcome found = grade({exercise, "--submission", all.string(), "--key", key, "--timeout", "8",
                               "--json", report, "--junit", junit, "--gradescope", directory / "scope",
                               "--feedback", directory / "feedback", "--csv", directory / "grades.csv"});
  INFO(found.text);
  REQUIRE(found.code == 0);
  CHECK(found.text.size() < 100'000);
  // A file of each kind for each student, whatever the name.
  CHECK(json::parse(get(directory / "scope/honest.json")).at("score") == 60);
  CHECK(json::parse(get(directory / "scope/hang.cu.json")).at("score") == 0);
  CHECK(contains(get(directory / "feedback/honest.txt"), "honest: 60 of 60 points\n"));
  CHECK(contains(get(directory / "feedback/honest.txt"), ", because: I think that it is so\n"));
  CHECK(contains(get(directory / "feedback/exit.cu.txt"), "correctness: 0 of 30\n"));
  for (const char* folder : {"scope", "feedback"}) {
    const fs::directory_iterator files(directory / folder);
    CHECK(static_cast<std::size_t>(std::distance(fs::begin(files), fs::end(files))) == wanted.size());
  }
  const std::string table = get(directory / "grades.csv");
  CHECK(contains(table,
                 "submission,points,most,correctness,checkpoints,prediction,explanation,GPU time,reason\n"));
  CHECK(contains(table, "\nhonest,60,60,30,30,,,,\n"));
  CHECK(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')) == wanted.size() + 1);
  std::map<std::string, double> points;
  const json document = json::parse(get(report));
  for (const json& one : document.at("submissions")) {
    points[one.at("submission")] = one.at("points");
    CAPTURE(one.at("submission").dump());
    CHECK(one.at("not_graded").is_null());
    CHECK(one.at("most") == 60);
  }
  CHECK(points == wanted);
  CHECK(contains(get(junit), "<testsuite name=\"honest\" tests=\"2\" failures=\"0\""));
  CHECK(!contains(found.text, json::parse(get(fs::path(key) / "key.json")).at("seed").get<std::string>()));
}

TEST_CASE(
    "one submission is graded for Gradescope by the key's aims, which no submission reaches otherwise") {
  const temporary_directory directory;
  const fs::path key = directory / "key";
  lab::front::make_key(key);
  CHECK((fs::status(key).permissions() & fs::perms::others_all) == fs::perms::none);
  CHECK_THROWS_AS(lab::front::make_key(key), lab::front::usage_error);
  const fs::path source = directory / "stage.cu";
  put(source, with_part(solution));
  // A key may ask for what the lab does not: here for what nobody reaches.
  json aims = json::parse(get(lab::front::stages_directory() / exercise / "exercises.json"));
  aims["exercises"][0]["checkpoints"][0]["value"] = 0;
  aims["exercises"][0]["checkpoints"][0]["holds"] = "equal";
  fs::create_directories(key / exercise);
  put(key / exercise / "exercises.json", aims.dump());
  const std::string results = (directory / "results.json").string();
  const outcome found =
      grade({exercise, "--submission", source.string(), "--key", key.string(), "--gradescope", results});
  INFO(found.text);
  CHECK(found.code == 0);
  const json document = json::parse(get(results));
  const double count = static_cast<double>(aims["exercises"][0]["checkpoints"].size());
  CHECK(document.at("score").get<double>() == Approx(30 + 30 * (count - 1) / count).margin(0.01));
  CHECK(document.at("tests").size() == 2);
  CHECK(document.at("tests")[0].at("max_score") == 30);
  CHECK(document.at("tests")[1].at("status") == "failed");
  CHECK(contains(document.at("output"), "explanation (15 points)"));

  // A GPU that is asked for is there, or nothing is graded.
  for (const auto& [device, words] : {std::pair{"gpu", "--device must be emulator or cuda:0"},
                                      {"cuda:1023", "GPU time: cuda:1023: no such device here"}}) {
    const outcome refused =
        grade({exercise, "--submission", source.string(), "--key", key.string(), "--device", device});
    INFO(refused.text);
    CHECK(refused.code == 2);
    CHECK(contains(refused.text, words));
  }

  put(key / exercise / "exercises.json", "{");
  for (const strings& wrong :
       {strings{exercise, "--submission", source.string(), "--key", key.string()},
        {exercise, "--submission", source.string(), "--key", "/nowhere"},
        {exercise, "--submission", "/nowhere", "--key", key.string()},
        {exercise, "--submission", key.string(), "--key", key.string()},
        {exercise, "--submission", source.string()},
        {exercise, "--key", key.string()},
        {"elementwise/77_none", "--submission", source.string(), "--key", key.string()},
        {"--make-key", key.string()},
        {"--make-key", (directory / "other").string(), "--key", key.string()}}) {
    INFO(wrong.back());
    CHECK(grade(wrong).code == 2);
  }
}

TEST_CASE("a submission is built for a GPU as for the emulator, and nvcc's first error has its line") {
  if (!lab::front::worker_set(lab::front::backend::cuda).exists()) LAB_SKIP("the lab was built without CUDA");
  if (!fs::exists(fs::read_symlink("/proc/self/exe").parent_path() / "workers/cuda/elementwise.track"))
    LAB_SKIP("no kernels are built for a GPU");
  constexpr auto gpu = lab::front::exercise_slot::part::gpu;
  const lab::front::confinement walls(true);
  const lab::front::exercise_slot::submission_terms terms{
      .limited =
          [&](const strings& compiler) {
            return walls.limited(compiler, {.cpu_seconds = 100, .file_bytes = std::uint64_t{1} << 30});
          },
      .fault = [](const std::string&, const std::string&) { return std::string(); }};
  const auto source_of = [](const std::string& path, const std::string& with) {
    const auto asked = *lab::front::find_exercise(path);
    const auto stage = lab::front::lines_of(get(lab::front::stages_directory() / asked.stage / "stage.cu"));
    return lab::front::put_in(with.empty() ? stage : lab::front::lines_of(with), stage, asked, "stage.cu")
        .text;
  };
  for (const std::string& path : lab::front::exercise_paths()) {
    if (path != exercise && !all_are_tried()) continue;
    CAPTURE(path);
    const lab::front::exercise_slot slot(path.substr(0, path.find('/')), true);
    const std::string text = source_of(path, "");
    const auto build = slot.build_submission(gpu, text, text, terms);
    CHECK(build.error == "");
    REQUIRE(build.built);
    CHECK(fs::exists(slot.worker(gpu)));
  }
  // What the emulator takes for variables of the thread's own: a value kept between launches, and the
  // launch's configuration.
  const lab::front::exercise_slot slot("elementwise", true);
  const auto error_of = [&](const std::string& line) {
    const auto build = slot.build_submission(gpu, source_of(exercise, with_part(line + "\n" + solution)),
                                             source_of(exercise, ""), terms);
    CHECK(!build.built);
    return build.error;
  };
  CHECK(contains(error_of("__device__ double kept;"), "stage.cu:13: an automatic"));
  CHECK(contains(error_of("gridDim.x = 1;"), "stage.cu:13: expression must be a modifiable lvalue"));
}

TEST_CASE("a GPU's points are for the time, and none for what is wrong there alone") {
  if (!lab::front::has_gpu() || !lab::front::worker_set(lab::front::backend::cuda).problem().empty())
    LAB_SKIP("no GPU, or no kernels built for one");
  const temporary_directory directory;
  const fs::path all = directory / "handed in";
  const std::string key = (directory / "key").string();
  REQUIRE(grade({"--make-key", key}).code == 0);
  const std::string index =
      "const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;\n";
  struct handed_in {
    std::string part;
    double least;  // of the 10 points
    double most;
    std::string words;
  };
  const std::map<std::string, handed_in> submissions{
      {"a_solution.cu", {solution, 9, 10, "x the reference's time"}},
      // Work that a compiler does not leave out.
      {"b_slow.cu",
       {index + "if (i >= n) return; volatile double x = values[i];\n"
                "for (int k = 0; k < 20; ++k) x = x * 1.0;\ndoubled[i] = 2 * x;",
        0, 0, "x the reference's time"}},
      {"c_wrong_at_size.cu",
       {index + "if (i < n && i < 100000000) doubled[i] = 2 * values[i];", 0, 0, "was never written"}},
      {"d_hangs_at_size.cu",
       {index + "while (n > 100000000) { volatile int x = 0; (void)x; }\nif (i < n) doubled[i] = 2 * "
                "values[i];",
        0, 0, "no answer within"}},
      {"e_far_at_size.cu",
       {index + "if (i < n) doubled[n > 100000000 ? i << 30 : i] = 2 * values[i];", 0, 0,
        "illegal memory access"}},
      {"f_kept.cu",
       {"__device__ double kept;\n" + index + "kept = 2; if (i < n) doubled[i] = 2 * values[i];", 0, 0,
        "stage.cu:"}}};
  fs::create_directories(all);
  for (const auto& [name, one] : submissions) put(all / name, with_part(one.part));
  const std::string report = (directory / "grades.json").string();
  const outcome found =
      grade({exercise, "--submission", all.string(), "--key", key, "--json", report, "--device", "cuda:0"});
  INFO(found.text);
  REQUIRE(found.code == 0);
  const json document = json::parse(get(report));
  CHECK(contains(document.at("gpu"), "01_naive itself takes"));
  for (const json& row : document.at("submissions")) {
    const handed_in& wanted = submissions.at(row.at("submission"));
    const json& part = row.at("parts").at(4);
    INFO(row.at("submission") << ": " << part.dump());
    CHECK(row.at("most") == 70);
    CHECK(row.at("parts").at(0).at("points") == 30);
    CHECK(part.at("points").get<double>() >= wanted.least);
    CHECK(part.at("points").get<double>() <= wanted.most);
    CHECK(contains(part.at("text"), wanted.words));
  }
}

TEST_CASE("a confined program has no network, no files of others, and ends at its limits") {
  if (!has_walls()) LAB_SKIP("bubblewrap does not work here");
  const temporary_directory directory;
  put(directory / "key.json", "secret");
  fs::create_directories(directory / "outputs");
  const lab::front::confinement walls(false);
  const auto run = [&](const std::string& script, lab::front::process_limits limits = {}) {
    const auto command =
        walls.around({"/bin/sh", "-c", script}, {.to_write = {directory / "outputs"}}, limits);
    return lab::front::run_command(command, std::chrono::seconds(30));
  };
  const std::string key = (directory / "key.json").string();
  CHECK(run("echo x > " + (directory / "outputs/x").string()).ending.code == 0);
  CHECK(run("cat " + key).ending.code != 0);
  CHECK(!contains(run("cat " + key + " /proc/*/environ /proc/*/cmdline").output, "secret"));
  CHECK(run("test -e " LAB_PROGRAM).ending.code != 0);
  CHECK(run("echo x > /usr/x").ending.code != 0);
  CHECK(run("test $(grep -c : /proc/net/dev) -le 1").ending.code == 0);
  CHECK(run("test $(ls /proc | grep -c '^[0-9]') -le 4").ending.code == 0);
  CHECK(run("test -z \"$HOME\"").ending.code == 0);
  // A GPU's driver reads the system's description of its devices, and nothing else does.
  CHECK(run("test -e /sys/devices").ending.code != 0);
  const auto with_gpus =
      walls.around({"/bin/sh", "-c", "test -e /sys/devices && ! test -e " + key}, {.gpus = true});
  CHECK(lab::front::run_command(with_gpus, std::chrono::seconds(30)).ending.code == 0);
  CHECK(run("head -c 1000000 /dev/zero > /tmp/x", {.file_bytes = 1000}).ending.code != 0);
  CHECK(run("while :; do :; done", {.cpu_seconds = 1}).ending.code != 0);
  // A line without end is kept in memory.
  CHECK(run("head -c 300000000 /dev/zero | tail -n 1 > /dev/null; test $? -eq 0",
            {.data_bytes = std::uint64_t{64} << 20})
            .ending.code != 0);
  // Root's processes are counted by nobody else.
  const lab::front::process_watch watch(60, std::uint64_t{1} << 40);
  const auto began = std::chrono::steady_clock::now();
  (void)run("f() { while :; do (sleep 5 &) ; done; }; f");
  CHECK(watch.has_ended_them());
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
}

TEST_CASE("what an output for hidden inputs may differ by is its rounding") {
  const temporary_directory directory;
  const auto array = [&](const char* name, const std::string& type, const std::string& bytes, int count) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
    header.resize(117, ' ');
    header += '\n';
    put(directory / name, std::string("\x93NUMPY\x01\0\x76\0", 10) + header + bytes);
    return directory / name;
  };
  const auto doubles = [&](const char* name, std::vector<double> values) {
    return array(name, "<f8", std::string(reinterpret_cast<const char*>(values.data()), 8 * values.size()),
                 static_cast<int>(values.size()));
  };
  const fs::path right = doubles("right.npy", {1, 2, NAN});
  CHECK(lab::front::array_difference(doubles("a.npy", {1 + 1e-12, 2, NAN}), right).empty());
  CHECK(contains(lab::front::array_difference(doubles("b.npy", {1.001, 2, NAN}), right), "output 0 of 3"));
  CHECK(contains(lab::front::array_difference(doubles("c.npy", {NAN, 2, NAN}), right), "output 0 of 3"));
  CHECK(contains(lab::front::array_difference(doubles("d.npy", {1, 2, 3}), right), "output 2 of 3"));
  CHECK(contains(lab::front::array_difference(doubles("e.npy", {1, 2}), right), "type or shape"));
  const fs::path whole = array("f.npy", "<i8", std::string("\1\0\0\0\0\0\0\x10", 8), 1);
  CHECK(lab::front::array_difference(whole, whole).empty());
  CHECK(!lab::front::array_difference(array("g.npy", "<i8", std::string("\2\0\0\0\0\0\0\x10", 8), 1), whole)
             .empty());
}

TEST_CASE("a table of grades tells the figure before the counter's name, and is no formula") {
  lab::front::submission_grade one{
      .name = "=anna",
      .parts = {{.name = "correctness", .points = 30, .most = 30},
                {.name = "checkpoints", .points = 20, .most = 30, .text = "1 of 3"},
                {.name = "explanation", .most = 15, .is_counted = false}}};
  one.found.steps = {
      {.name = "checkpoints", .status = lab::front::step_status::failed, .message = "1 of 3 missed"}};
  lab::front::checked_checkpoint missed{
      .name = "reads", .figure = 1000, .file = "stage.cu", .line = 7, .code = "  x;"};
  missed.aim.metric = "lab__requests_mem_shared_op_ld.sum";
  missed.aim.holds = lab::front::relation::at_most;
  missed.aim.value = 76;
  one.found.checkpoints = {missed};
  CHECK(lab::front::reason_of(one.parts[1], one) == "reads is 1000, the aim is at most 76");
  CHECK(lab::front::grades_csv({one}) ==
        "submission,points,most,correctness,checkpoints,explanation,reason\n"
        "'=anna,50,60,30,20,,\"reads is 1000, the aim is at most 76\"\n");
  const std::string feedback = lab::front::feedback_text(one, "lab grade x");
  CHECK(contains(feedback, "lab grade x\n=anna: 50 of 60 points\n"));
  CHECK(contains(feedback, "stage.cu:7:\n    7 |   x;\n"));
  one.lab_fault = "no \"room\"";
  CHECK(contains(lab::front::grades_csv({one}), "'=anna,,60,,,,\"not graded: no \"\"room\"\"\"\n"));
}

TEST_CASE("a grade's texts break out of no XML") {
  lab::front::submission_grade one{
      .name = "<a&\"b>",
      .parts = {{.name = "correctness", .points = 0, .most = 30, .text = "]]></failure>\n'x'"}},
      .seconds = 1};
  const std::string text = lab::front::junit_xml({one}, "t");
  CHECK(contains(text, "name=\"&lt;a&amp;&quot;b&gt;\""));
  CHECK(contains(text, "]]&gt;&lt;/failure&gt;&#10;'x'</failure>"));
  one.lab_fault = "no room";
  CHECK(contains(lab::front::junit_xml({one}, "t"), "<error message=\"no room\"/>"));
  CHECK(lab::front::points_text(22.5) == "22.5");
}
