// Bad calls and odd files: the program refuses them at once, in words that name the option or the file, and
// leaves everything as it was.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/front/program.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace lab::test;

// A shell that runs `script`, in which $lab is the program and $1, $2, ... the words that follow.
outcome shell(const std::string& script, const strings& words = {}) {
  strings all = command({});
  all.insert(all.begin() + 1, std::string("lab=") + LAB_PROGRAM);
  all.pop_back();
  all.insert(all.end(), {"/bin/sh", "-c", script, "sh"});
  all.insert(all.end(), words.begin(), words.end());
  return run(all);
}

std::ptrdiff_t entries(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

}  // namespace

TEST_CASE("a call that would write over its own input, or write two things to one file, is refused") {
  const temporary_directory directory;
  const std::string here = directory.path().string();
  put(directory / "data.npy", "precious");
  fs::create_hard_link(directory / "data.npy", directory / "hard.npy");
  fs::create_symlink("data.npy", directory / "soft.npy");
  fs::create_directory_symlink(".", directory / "again");
  const std::string data = here + "/data.npy", fresh = here + "/new";
  const auto apply = [&](const std::string& output, const strings& more = {}) {
    strings all{"apply", "ladder/01", "--input", data, "--output", output};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  struct conflict {
    strings arguments;
    std::string words;
  };
  std::vector<conflict> cases{
      {apply(fresh, {"--json", fresh}), "--output and --json are one file"},
      {apply(fresh + "," + here + "/./new"), "--output and --output are one file"},
      {apply(fresh + "," + here + "/again/new"), "--output and --output are one file"},
      {apply(fresh, {"--json", here + "/again/../" + directory.path().filename().string() + "/new"}),
       "--output and --json are one file"},
      {{"profile", "ladder/01", "--predict", "--answers", data, "--json", here + "/soft.npy"},
       "--answers and --json are one file"},
      {{"profile", "ladder/01", "--output", here + "/a.ncu-rep", "--json", here + "/a.ncu-rep"},
       "--json and the report of ladder/01_first are one file"},
      {{"profile", "ladder/01", "--output", here + "/a", "--json", here + "/again/a.ncu-rep"},
       "--json and the report of ladder/01_first are one file"},
      {{"bench", "ladder", "--json", fresh, "--", "--benchmark_out=" + here + "/./new"},
       "--json and --benchmark_out are one file"},
  };
  for (const char* name : {"data.npy", "./data.npy", "hard.npy", "soft.npy", "again/again/data.npy"}) {
    cases.push_back({apply(here + "/" + name), "--input and --output are one file"});
    cases.push_back({apply(fresh, {"--json", here + "/" + name}), "--input and --json are one file"});
  }
  for (const conflict& one : cases) {
    std::string line = "lab";
    for (const auto& argument : one.arguments) line += " " + argument;
    INFO(line);
    expect(lab_with(one.arguments), 2, {one.words});
    CHECK(get(directory / "data.npy") == "precious");
    CHECK(entries(directory.path()) == 4);
  }
  // Names that only look alike are none of that.
  expect(lab_with(apply(fresh, {"--json", here + "/new.json"})), 0, {"wrote " + fresh});
}

TEST_CASE("what cannot be printed is an error, and a reader that has seen enough is none") {
  for (const char* call : {"describe", "run ladder", "verify ladder", "bench ladder", "--help", "run --help",
                           "--version", "bench ladder -- --help", "apply ladder/01 --input $1 --output $2"}) {
    const temporary_directory directory;
    put(directory / "in", "data");
    const strings words{(directory / "in").string(), (directory / "out").string()};
    INFO(call);
    const std::string line = std::string("$lab ") + call;
    expect(shell(line + " > /dev/full", words), 1, {"what should have been printed is lost: "});
    expect(shell(line + " >&-", words), 1, {"what should have been printed is lost: "});
    const std::string code = (directory / "code").string();
    CHECK(shell("(" + line + "; echo $? > " + code + ") | true", words).code == 0);
    CHECK(get(code) == "0\n");
  }
  CHECK(shell("$lab run faults/01* > /dev/full").code == 1);
  CHECK(shell("$lab run nothing > /dev/full").code == 2);
}

TEST_CASE("a descriptor that is closed is taken by no file") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  for (const char* closed : {">&-", "2>&-", "<&-", "<&- >&- 2>&-"}) {
    INFO(closed);
    fs::remove(path);
    const outcome found = shell(std::string("$lab run ladder faults/03* --json $1 ") + closed, {path});
    INFO(found.text);
    CHECK(found.code == 1);  // a stage fails
    CHECK(document(path).at("complete") == true);
  }
}

TEST_CASE("data is read from regular files alone, and nothing is waited for") {
  const temporary_directory directory;
  const std::string pipe = (directory / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& path : {pipe, std::string("/dev/zero"), directory.path().string()}) {
    const std::string words =
        path == directory.path() ? "is a directory, and a file is wanted" : "is not a regular file";
    expect(lab_with({"apply", "ladder/01", "--input", path, "--output", (directory / "o").string()}), 2,
           {path + ": " + words});
    expect(lab_with({"profile", "ladder/01", "--answers", path}), 2, {path + ": " + words});
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(entries(directory.path()) == 1);
}

TEST_CASE("a verb in the wrong place is called a verb") {
  expect(lab_with({"run", "list"}), 2,
         {"no stage matches 'list': list is a verb, and comes first: lab list"});
  expect(lab_with({"verify", "ladder", "doctor"}), 2, {"doctor is a verb"});
  expect(lab_with({"apply", "run", "--output", "/tmp/o"}), 2, {"run is a verb"});
}

TEST_CASE("an empty value names its option") {
  const temporary_directory directory;
  put(directory / "in", "data");
  const std::string input = (directory / "in").string();
  for (const char* option : {"--json", "--device", "--seed", "--trial-seed", "--l2", "--min-samples",
                             "--time-limit", "--timeout", "--images", "--n"}) {
    INFO(option);
    expect(lab_with({"run", "ladder", option, ""}), 2, {std::string(option) + " needs a value"});
    expect(lab_with({"run", std::string(option) + "=", "ladder"}), 2,
           {std::string(option) + " needs a value"});
    expect(lab_with({"run", "ladder", option}), 2, {option});
  }
  for (const char* verb : {"describe", "verify", "bench"}) {
    INFO(verb);
    expect(lab_with({verb, "--json", ""}), 2, {"--json needs a value"});
  }
  for (const char* option : {"--metrics", "--answers", "--output", "--seed"})
    expect(lab_with({"profile", "ladder/01", option, ""}), 2, {std::string(option) + " needs a value"});
  for (const char* option : {"--input", "--output", "--json", "--window"}) {
    expect(lab_with({"apply", "ladder/01", "--input", input, "--output", input + ".out", option, ""}), 2,
           {std::string(option) + " needs a value"});
  }
}

TEST_CASE("a counter that nobody knows is refused before anything is counted") {
  auto on_emulator = command_without_gpu({"profile", "ladder/01", "--metrics", "dram__bytes_read.sum"});
  on_emulator.insert(on_emulator.begin() + 1, std::string("LAB_WORKER_OBSERVED=") + LAB_FAKE_WORKER);
  expect(run(on_emulator), 2,
         {"--metrics: the emulator does not model 'dram__bytes_read.sum'", "lab__barriers"});
  on_emulator.back() = lab::test::load_requests;
  expect(run(on_emulator), 0, {"1024 modelled"});
  expect(lab_with({"profile", "ladder/01", "--metrics", "lab__barriers.sum"}), 2,
         {"--metrics: only the emulator counts 'lab__barriers.sum'"});
  expect(lab_with({"profile", "ladder/01", "--metrics", "a.sum,--help"}), 2,
         {"--metrics: '--help' is no name"});
}

TEST_CASE("claims about the emulator's own counters are tested there alone") {
  expect(lab_with({"profile", "own_counters", "--check"}), 0,
         {"not tested here: lab__barriers.sum is the emulator's own counter, and this is Fake GPU",
          "1 claims: 0 hold, 0 BROKEN, 1 not tested here"});
  auto on_emulator = command_without_gpu({"profile", "own_counters", "--check"});
  on_emulator.insert(on_emulator.begin() + 1, std::string("LAB_WORKER_OBSERVED=") + LAB_FAKE_WORKER);
  expect(run(on_emulator), 0, {"1 claims: 1 hold"});
}

TEST_CASE("a limit on the size of files leaves the old file, no other, and its name in the message") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  put(path, "old");
  for (const char* verb : {"run ladder", "verify ladder", "describe", "bench ladder"}) {
    INFO(verb);
    expect(shell("ulimit -f 0; $lab " + std::string(verb) + " --json $1", {path}), 2,
           {path + ": cannot be written: File too large"});
    CHECK(get(path) == "old");
    CHECK(entries(directory.path()) == 1);
  }
}

TEST_CASE("names that are not UTF-8 are refused where a worker is told of them, and shown by their bytes") {
  const temporary_directory directory;
  put(directory / "in", "data");
  put(directory / "in\xff", "data");
  const std::string here = directory.path().string();
  expect(lab_with({"apply", "ladder/01", "--input", here + "/in", "--output", here + "/out\xff"}), 2,
         {here + "/out\\xff: the name is not UTF-8"});
  expect(lab_with({"apply", "ladder/01", "--input", here + "/in\xff", "--output", here + "/out"}), 2,
         {here + "/in\\xff: the name is not UTF-8"});
  CHECK(entries(directory.path()) == 2);
  expect(lab_with({"run", "\xff\xfe"}), 2, {"no stage matches '\\xff\\xfe'"});
  expect(lab_with({"run", "ladder", "--n", "\xc3"}), 2, {"--n needs a whole number", "'\\xc3'"});
  expect(lab_with({"run", "ladder", "--\xff", "3"}), 2, {"--\\xff is neither"});
  // The program writes its own files under any name.
  expect(lab_with({"run", "ladder", "--json", here + "/r\xff.json"}), 0, {"3 ok"});
  CHECK(document(here + "/r\xff.json").at("complete") == true);
}

TEST_CASE("trials have a seed of their own: drawn, shown, recorded, and repeated on request") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  const auto seeds = [&] {
    const auto results = document(path);
    return std::pair{results.at("options").at("trial_seed").get<std::uint64_t>(),
                     results.at("groups")[0].at("rows")[0].at("verification").at("seeds")};
  };
  for (const char* verb : {"run", "verify", "bench"}) {
    INFO(verb);
    expect(lab_with({verb, "ladder", "--trial-seed", "8837261", "--json", path}), 0,
           {"seed     1; proofs made now draw trials from 8837261 (--trial-seed 8837261 repeats them)"});
    CHECK(seeds().first == 8837261);
    CHECK(seeds().second == nlohmann::json{1, 8837261});  // as the worker was told
    const outcome drawn = lab_with({verb, "ladder", "--json", path});
    const auto first = seeds().first;
    expect(drawn, 0, {"--trial-seed " + std::to_string(first) + " repeats them"});
    CHECK(first < std::uint64_t{1} << 53);
    lab_with({verb, "ladder", "--json", path});
    CHECK(seeds().first != first);
  }
  CHECK(lab_with({"run", "ladder", "--trial-seed", "9007199254740991"}).code == 0);
  expect(lab_with({"run", "ladder", "--trial-seed", "9007199254740992"}), 2,
         {"--trial-seed must be below 2^53"});
  expect(lab_with({"run", "ladder", "--trial-seed", "x"}), 2, {"--trial-seed needs a whole number"});
}

TEST_CASE("a record says what was compiled") {
  const temporary_directory directory;
  const std::string path = (directory / "results.json").string();
  lab_with({"run", "ladder", "--json", path});
  const auto results = document(path);
  CHECK(results.at("program").at("sources").get<std::string>().size() == 40);
  CHECK(results.at("groups")[0].at("rows")[0].at("sources").is_null());  // the fake worker's stages have none
}
