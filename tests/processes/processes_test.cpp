// Stages as several processes of MPI's: the right ones are right, each wrong one is rejected for its reason,
// and a process that dies, hangs or fails alone ends the others with a row that names it. Nothing of them is
// left.
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/protocol.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::contains;
using lab::test::outcome;
using lab::test::strings;
using lab::test::temporary_directory;
using nlohmann::json;

// The workers, and their launchers, that call a socket below this folder: none of another test's.
std::string processes_left(const std::filesystem::path& folder) {
  std::string found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string line = lab::test::get(entry.path() / "cmdline");
    if (contains(line, folder.string())) found += line + "\n";
  }
  return found;
}

outcome lab_program(const strings& settings, const strings& arguments) {
  return lab::test::call_program(settings, LAB_PROGRAM, arguments, {"--device", "emulator"},
                                 std::chrono::seconds(1200));
}

// Of each row, its status and what it says; of one call with these arguments and a folder of its own for what
// the launcher leaves in one.
std::map<std::string, std::string> rows_of(const strings& settings, strings arguments) {
  const temporary_directory directory;
  const auto file = directory / "results.json";
  const auto scratch = directory / "scratch";
  std::filesystem::create_directory(scratch);
  strings with_scratch{"TMPDIR=" + scratch.string()};
  with_scratch.insert(with_scratch.end(), settings.begin(), settings.end());
  arguments.insert(arguments.end(), {"--json", file.string()});
  const outcome found = lab_program(with_scratch, arguments);
  INFO(found.text);
  std::map<std::string, std::string> rows;
  const json results = json::parse(lab::test::get(file));
  CHECK(results.at("complete") == true);
  CHECK(results.at("options").at("processes") >= 2);
  for (const json& group : results.at("groups")) {
    for (const json& row : group.at("rows")) {
      const json& message = row.at("message");
      rows[row.at("stage").get<std::string>()] =
          row.at("status").get<std::string>() +
          (message.is_string() ? ": " + message.get<std::string>() : "");
    }
  }
  CHECK(processes_left(scratch) == "");
  CHECK(std::filesystem::is_empty(scratch));
  return rows;
}

void expect(const std::map<std::string, std::string>& rows, const std::map<std::string, std::string>& words) {
  CHECK(rows.size() == words.size());
  for (const auto& [stage, text] : words) {
    INFO(stage << " must say: " << text);
    REQUIRE(rows.contains(stage));
    INFO(rows.at(stage));
    CHECK(contains(rows.at(stage), text));
  }
}

// A launcher of these lines of a shell's: "$@" is -n, the number, and the worker's call.
std::string launcher_in(const temporary_directory& directory, const std::string& lines) {
  const auto path = directory / "launcher";
  lab::test::put(path, "#!/bin/sh\n" + lines);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

// Open MPI's, where `first` is what a shell does before it becomes the worker.
std::string mpirun_with(const std::string& first) {
  return "number=$2\nshift 2\nexec mpirun -n $number sh -c '" + first + "\nexec \"$@\"' sh \"$@\"\n";
}

const strings wrong_ones{"LAB_WORKERS=" LAB_WRONG_WORKERS};

}  // namespace

TEST_CASE("stages of NCCL are right as three processes, and others say why they are not run") {
  const auto rows = rows_of({}, {"verify", "moving_average_gpus/02*", "moving_average_gpus/03*",
                                 "reduction_gpus/03*", "reduction_gpus/05*", "--quick", "--processes", "3"});
  expect(rows, {{"moving_average_gpus/02_peer_copy", "skipped: cannot run as several processes"},
                {"moving_average_gpus/03_nccl_send_receive", "ok"},
                {"reduction_gpus/03_nccl_all_reduce", "ok"},
                {"reduction_gpus/05_overlap", "ok"}});
}

TEST_CASE("a row of three processes is verified and timed, and its group has three GPUs") {
  const temporary_directory directory;
  const auto file = directory / "results.json";
  const outcome found =
      lab_program({}, {"run", "moving_average_gpus/03*", "--processes", "3", "--n", "20001", "--window",
                       "12000", "--min-samples", "3", "--time-limit", "0.02", "--json", file.string()});
  INFO(found.text);
  CHECK(found.code == 0);
  CHECK(contains(found.text, "group    3 processes, started by mpirun\n"));
  const json group = json::parse(lab::test::get(file)).at("groups").at(0);
  CHECK(group.at("parameters").at("gpus") == 3);
  const json& row = group.at("rows").at(0);
  CHECK(row.at("status") == "ok");
  CHECK(row.at("timing").at("samples").size() >= 3);
  CHECK(row.at("verification").at("compared").get<std::int64_t>() > 20001);
}

TEST_CASE("a wrong kernel is rejected as two processes, in words that say what is wrong and where") {
  expect(
      rows_of(wrong_ones, {"verify", "moving_average_gpus", "--quick", "--processes", "2"}),
      {{"moving_average_gpus/border_too_early", " on rank 1 of 2"},
       {"moving_average_gpus/incomplete_in_every_part", "found inf on rank 1 of 2"},
       {"moving_average_gpus/sends_in_vain", "failed: rank 0 has sent what is not received on rank 1 of 2"},
       {"moving_average_gpus/wrong_neighbour", " on rank 1 of 2"}});
}

TEST_CASE("sums in another order on each of three processes, and of other counts, are rejected") {
  expect(rows_of(wrong_ones, {"verify", "reduction_gpus/o*", "--quick", "--processes", "3"}),
         {{"reduction_gpus/other_counts", "calls ncclAllReduce with"},
          {"reduction_gpus/own_first", "bit for bit as on the first GPU"}});
}

TEST_CASE("a process that dies, hangs or fails alone ends the others, and the row names it") {
  expect(rows_of(wrong_ones,
                 {"verify", "reduction_gpus/[dht]*", "--quick", "--processes", "2", "--timeout", "2"}),
         {{"reduction_gpus/dies", "process rank 1"},
          {"reduction_gpus/hangs", "; the stage was stopped; waiting: rank 0 of 2 on "},
          {"reduction_gpus/throws", "failed: rank 1 of 2 on "}});
}

TEST_CASE("a track that needs more GPUs than there are is shown once, with the reason") {
  const outcome found = lab_program({"LAB_EMULATOR_DEVICES=1"},
                                    {"run", "moving_average_gpus", "--gpus", "1,2", "--window", "4,300"});
  INFO(found.text);
  CHECK(found.code == 2);
  CHECK(contains(found.text, "0 ok, 0 failed, 5 skipped: nothing ran"));
  CHECK(contains(found.text, "needs 2 GPUs, and there is 1"));
}

TEST_CASE("what cannot be started as several processes is refused before anything runs") {
  // Processes that are alone leave files of Open MPI's behind.
  const temporary_directory directory;
  const strings settings{"LAB_EMULATOR_DEVICES=2", "TMPDIR=" + directory.path().string()};
  const auto refused = [&](const strings& arguments, const std::string& words) {
    strings all{"run", "moving_average_gpus/03*"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const outcome found = lab_program(settings, all);
    INFO(found.text);
    CHECK(found.code == 2);
    CHECK(contains(found.text, words));
  };
  refused({"--processes", "0"}, "--processes must be from 2 to ");
  refused({"--processes", "1"}, "without it one process drives all of them");
  refused({"--processes", "2", "--gpus", "2"}, "--gpus and --processes exclude each other");
  refused({"--processes", "2", "--mpirun", "/nowhere/mpirun"}, "/nowhere/mpirun is not here");
  refused({"--processes", "2", "--mpirun", " "}, "--mpirun needs a command");
  const outcome elsewhere = lab_program({}, {"run", "elementwise/01*", "--processes", "2"});
  CHECK(elsewhere.code == 2);
  CHECK(contains(elsewhere.text, "nothing that was asked for uses several GPUs"));
  // A launcher of another MPI's starts processes of which each finds itself alone.
  const std::string alone =
      launcher_in(directory, "shift 2\nPMI_RANK=0 \"$@\" &\nPMI_RANK=1 \"$@\" &\nwait\n");
  refused({"--processes", "2", "--mpirun", alone}, "is it of another MPI than this build's?");
  expect(rows_of({"LAB_EMULATOR_DEVICES=2"},
                 {"verify", "moving_average_gpus/03*", "--quick", "--processes", "3"}),
         {{"moving_average_gpus/03_nccl_send_receive", "rank 2 of 3 has none of its own: on "}});
}

TEST_CASE("a launcher that starts nothing is told in its own words, and the stage has not failed") {
  const temporary_directory directory;
  const auto scratch = directory / "scratch";
  std::filesystem::create_directory(scratch);
  const auto told = [&](const std::string& launcher, const strings& words) {
    const outcome found =
        lab_program({"TMPDIR=" + scratch.string()}, {"verify", "reduction_gpus/03*", "--quick", "--processes",
                                                     "2", "--timeout", "2", "--mpirun", launcher});
    lab::test::expect(found, 2, words);
    CHECK_FALSE(contains(found.text, "FAIL"));
    CHECK(processes_left(scratch) == "");
  };
  told("false", {"the launcher (false) ended with exit code 1 before rank 0 was there, and said nothing"});
  told("true", {"the launcher (true) ended with exit code 0 before rank 0 was there, and said nothing"});
  told("mpirun --no-such-option", {"the launcher (mpirun --no-such-option) ended with exit code 1",
                                   "said mpirun: Error: unknown option \"--no-such-option\"; "});
  told("env no-such-program", {"ended with exit code 127", "said env: "});
  told(launcher_in(directory, "kill -9 $$\n"), {"was killed by signal 9", "before rank 0 was there"});
  told(launcher_in(directory, "echo no node is free\nexec sleep 60\n"),
       {"of processor time, and said no node is free"});
  told(launcher_in(directory, "shift 2\nexec \"$@\"\n"), {"rank unknown: the launcher sets none of OMPI_"});
  // As it is on another host.
  told(launcher_in(directory,
                   mpirun_with("[ $OMPI_COMM_WORLD_RANK = 0 ] && exec \"$1\" --serve-at /nowhere/front")),
       {"before rank 0 was there, and said rank 0 on ", "it must run on this host"});
}
