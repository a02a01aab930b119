// What a stage does to its process by accident costs its own row, which says what it did; nothing of it is
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

outcome lab_program(const strings& arguments) {
  return lab::test::call_program({"LAB_WORKERS=" LAB_HOSTILE_WORKERS}, LAB_PROGRAM, arguments,
                                 {"--device", "emulator"}, std::chrono::seconds(1200));
}

// Of each stage, words that its row must say: those before a bar, or those behind it.
const std::map<std::string, std::string> deeds{
    {"exits_at_start", "ended with exit code 0 before it answered"},
    {"throws_at_start", "thrown before main"},
    {"hangs_at_start", "no answer within"},
    {"no_idea", "killed by signal 6"},
    {"throws_number", "a value of type int"},
    {"throws_usage_error", "threw an exception: there is no such track"},
    {"exits_in_unsupported", "ended with exit code 3 before it answered"},
    {"exits_quietly", "ended with exit code 0 before it answered"},
    {"closes_descriptors", "before it answered|closed its answers"},
    {"leaves_process", "it left processes running, which were ended|the launch started a process"},
    {"lingers", "the launch left 1 host thread running"},
    {"terminates_in_thread", "in a thread"},
    {"overflows_stack", "killed by signal 11"},
    {"sets_mode_at_start", "wrong at index"},
    {"throws_memory_error", "launch threw an exception: "},
};

// Processes whose program lies among the hostile workers.
std::size_t hostile_processes() {
  std::size_t found = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    std::error_code unreadable;
    found += contains(std::filesystem::read_symlink(entry.path() / "exe", unreadable).string(),
                      LAB_HOSTILE_WORKERS);
  }
  return found;
}

}  // namespace

TEST_CASE("whatever a stage does to its process costs its own row, which names it") {
  const temporary_directory directory;
  for (const char* verb : {"run", "verify"}) {
    INFO(verb);
    const auto file = directory / "results.json";
    strings arguments{verb, "--timeout", "20", "--json", file.string()};
    if (std::string(verb) == "run")
      arguments.insert(arguments.end(), {"--n", "1000", "--time-limit", "0.05"});
    const outcome found = lab_program(arguments);
    INFO(found.text);
    CHECK(found.code == 1);
    CHECK(!contains(found.text, "\x1b[2J"));
    const json results = json::parse(lab::test::get(file));
    CHECK(results.at("complete") == true);
    std::size_t seen = 0;
    for (const json& row : results.at("groups").at(0).at("rows")) {
      const auto stage = row.at("stage").get<std::string>();
      INFO(row.dump(1));
      const auto deed = deeds.find(stage.substr(stage.find('/') + 1));
      if (deed == deeds.end()) {
        CHECK(row.at("status") == "ok");
        continue;
      }
      ++seen;
      CHECK(row.at("status") == "failed");
      CHECK(row.at("timing").is_null());
      const auto message = row.at("message").get<std::string>();
      const auto bar = deed->second.find('|');
      CHECK((contains(message, deed->second.substr(0, bar)) ||
             (bar != std::string::npos && contains(message, deed->second.substr(bar + 1)))));
    }
    CHECK(seen == deeds.size());
    CHECK(hostile_processes() == 0);
  }
}

TEST_CASE("the description names stages that cannot describe themselves, and prints no stage's escapes") {
  const outcome found = lab_program({"describe"});
  INFO(found.text);
  CHECK(found.code == 0);
  CHECK(contains(found.text, "elementwise/exits_at_start"));
  CHECK(contains(found.text, "\"broken\": \""));
  CHECK(contains(found.text, "?[2Jidea?\xef\xbf\xbd second line"));
  CHECK(!contains(found.text, "\x1b"));
}
