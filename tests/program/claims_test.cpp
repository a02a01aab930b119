// The stages' claims and counters, with the worker whose kernels are observed.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/front/claims/claims_file.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/protocol.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::strings;
using lab::test::temporary_directory;
using nlohmann::json;

// What the program prints, and the file that it writes; `variable` goes into its environment.
struct recorded_outcome : lab::test::outcome {
  json document;
};

recorded_outcome lab_program(const strings& arguments, const std::string& variable = "LAB=") {
  const temporary_directory directory;
  const std::string path = (directory / "found.json").string();
  recorded_outcome found{
      lab::test::call_program({variable}, LAB_PROGRAM, arguments, {"--device", "emulator", "--json", path},
                              std::chrono::seconds(1200)),
      {}};
  INFO(found.text);
  if (std::filesystem::exists(path)) found.document = json::parse(lab::test::get(path));
  return found;
}

}  // namespace

TEST_CASE("every claim about counters that the emulator models holds, with the recorded figure") {
  const recorded_outcome found = lab_program({"profile", "*", "--check"});
  INFO(found.text);
  CHECK(found.code == 0);
  // What the pages' tables show. Which block comes first may change a figure a little.
  std::map<std::string, double> recorded;
  const auto key = [](const json& stage, const json& claim) {
    return json{stage, claim.at("metric"), claim.at("per"), claim.at("over_previous"), claim.at("at")}.dump();
  };
  const json file = json::parse(lab::test::get(LAB_CLAIMED_FIGURES));
  for (const json& one : file.at("figures"))
    recorded[key(one.at("stage"), one)] = one.at("figure").get<double>();
  std::set<std::string> shown, tested;
  for (const json& verdict : found.document.at("claims")) {
    const auto status = verdict.at("status").get<std::string>();
    CHECK(status != "broken");
    const bool is_expected_failure = verdict.at("claim").at("metric") == "failures as expected";
    if (verdict.at("figure").is_number() && !is_expected_failure) {
      const std::string figure_of = key(verdict.at("stage"), verdict.at("claim"));
      INFO(figure_of << ": reports/claims.py --count records figures");
      shown.insert(figure_of);
      REQUIRE(recorded.count(figure_of) == 1);
      CHECK(verdict.at("figure").get<double>() == Approx(recorded[figure_of]).epsilon(0.01));
    }
    if (status == "holds") {
      tested.insert(verdict.at("stage").get<std::string>());
      continue;
    }
    if (is_expected_failure) continue;  // it may hide here
    // What cannot be tested here needs a GPU. Anything else would be a claim that nobody tests.
    const auto why = verdict.at("why").get<std::string>();
    INFO(verdict.at("stage") << ": " << why);
    CHECK(why.find("needs a GPU") != std::string::npos);
  }
  CHECK(shown.size() == recorded.size());
  const recorded_outcome description = lab_program({"describe"});
  for (const json& track : description.document.at("tracks")) {
    for (const json& stage : track.at("stages")) {
      INFO(stage.at("path"));
      const lab::front::stage_claims own =
          lab::front::read_claims(track.get<lab::track_description>(), stage.get<lab::stage_description>());
      CHECK(own.problem.empty());
      // What an expected failure claims is that it fails.
      if (!stage.at("expected_failure").get<std::string>().empty()) CHECK(own.claims.empty());
      // A stage that runs here and claims counters has some that are tested here.
      const bool counts = std::any_of(own.claims.begin(), own.claims.end(),
                                      [](const lab::front::claim& one) { return !is_about_time(one); });
      if (stage.at("runnable") == true && counts)
        CHECK(tested.count(stage.at("path").get<std::string>()) == 1);
    }
  }
}

TEST_CASE("the launcher's list reads from the sources what the workers say of themselves") {
  const temporary_directory directory;
  const std::string path = (directory / "list.json").string();
  const lab::test::outcome listed = lab::test::call_program(
      {"/usr/bin/env", "python3", "-B", LAB_LIST, "--device", "emulator", "--json", path},
      std::chrono::seconds(60));
  INFO(listed.text);
  REQUIRE(listed.code == 0);
  const json read = json::parse(lab::test::get(path)).at("tracks");
  const json told = lab_program({"describe"}).document.at("tracks");
  REQUIRE(read.size() == told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {  // in the same order
    INFO(told[i].at("name"));
    for (const char* member : {"name", "title", "unit"}) CHECK(read[i].at(member) == told[i].at(member));
    CHECK(read[i].at("texts").size() == told[i].at("texts").size());
    CHECK(read[i].at("problem") == "");
    const json &found = read[i].at("parameters"), &parameters = told[i].at("parameters");
    REQUIRE(found.size() == parameters.size());
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      INFO(parameters[k].at("name"));
      for (const char* member : {"name", "meaning", "choices"})
        CHECK(found[k].at(member) == parameters[k].at(member));
      const json values = parameters[k].at("defaults").at("bench");
      CHECK(found[k].at("defaults") == (values.is_array() ? values : json::array({values})));
    }
    const json &stages = read[i].at("stages"), &described = told[i].at("stages");
    REQUIRE(stages.size() == described.size());
    for (std::size_t k = 0; k < described.size(); ++k) {
      INFO(described[k].at("path"));
      CHECK(stages[k].at("problem") == "");
      for (const char* member :
           {"name", "path", "idea", "needs", "library", "expected_failure", "runnable", "why_not"})
        CHECK(stages[k].at(member) == described[k].at(member));
    }
  }
}

TEST_CASE("the launcher's list and the program take the same stages for a pattern") {
  const temporary_directory directory;
  const std::string path = (directory / "list.json").string();
  for (const char* pattern : {"reduction", "reduction/", "reduction/01", "*/01", "*cub*", "reduction_2d/0"}) {
    CAPTURE(pattern);
    const lab::test::outcome listed = lab::test::call_program(
        {"/usr/bin/env", "python3", "-B", LAB_LIST, pattern, "--json", path}, std::chrono::seconds(60));
    INFO(listed.text);
    REQUIRE(listed.code == 0);
    const auto paths_in = [](const json& document) {
      std::vector<json> paths;
      for (const json& track : document.at("tracks")) {
        for (const json& stage : track.at("stages")) paths.push_back(stage.at("path"));
      }
      return paths;
    };
    CHECK(paths_in(json::parse(lab::test::get(path))) ==
          paths_in(lab_program({"describe", pattern}).document));
  }
}

TEST_CASE("the program knows what the emulator models") {
  std::set<std::string> modelled, known;
  // Clusters and bulk copies have counters only where there are some.
  for (const char* const stage : {"elementwise/01_naive", "reduction/07_cluster", "reduction/08_bulk_copy"}) {
    const recorded_outcome found = lab_program({"profile", stage, "--n", "100000"});
    INFO(found.text);
    REQUIRE(found.code == 0);
    for (const auto& kernel : found.document.at("stages")[0].at("profile").at("kernels")) {
      for (const auto& [name, value] : kernel.at("metrics").items()) modelled.insert(name);
    }
  }
  for (const auto& counter : lab::front::known_counters()) {
    if (counter.modelled) known.insert(counter.name);
  }
  CHECK(modelled == known);
}

TEST_CASE("a prediction is compared with the figure and explained by the stage's page") {
  const temporary_directory directory;
  lab::test::put(directory / "answers.json", json{{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 32},
                                                  {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 8},
                                                  {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 31}}
                                                 .dump());
  const recorded_outcome found = lab_program(
      {"profile", "elementwise/01_naive", "--n", "1000", "--answers", (directory / "answers.json").string()});
  INFO(found.text);
  CHECK(found.code == 0);
  for (const char* part : {"exact", "off by a factor of 31.2", "within 4 %", "skipped", "250 modelled",
                           "stages/elementwise/01_naive/README.md says:", "**Prediction.** A warp's 32 loads",
                           "**What Nsight shows.**"}) {
    CAPTURE(part);
    CHECK(found.text.find(part) != std::string::npos);
  }
  CHECK(found.text.find("Exercise") == std::string::npos);
}

TEST_CASE("grids that fill the device follow the number of multiprocessors that is asked for") {
  const auto blocks = [](const std::string& variable) {
    const recorded_outcome found =
        lab_program({"profile", "elementwise/02_grid_stride", "--n", "1000000"}, variable);
    return found.document.at("stages")[0].at("profile").at("kernels")[0].at("metrics").at(
        "launch__grid_size");
  };
  CHECK(blocks("LAB=") == 4 * 8);
  CHECK(blocks("LAB_EMULATOR_MULTIPROCESSORS=132") == 132 * 8);
}
