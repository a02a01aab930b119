// Claims as they stand in files: what cannot be read, and what is understood of the rest. tests/claims.json
// holds the examples; those of claims that hold, or do not, reports/claims.py is tested with as well.
#include "harness/front/claims/claims_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::temporary_directory;
using nlohmann::json;

const json& examples() {
  static const json all = json::parse(lab::test::get(LAB_CLAIM_EXAMPLES));
  return all;
}

std::string text_of(const json& example) {
  std::string text;
  for (const json& line : example.at("text")) text += (text.empty() ? "" : "\n") + line.get<std::string>();
  return text;
}

lab::track_description track() {
  return {.name = "track",
          .parameters = {{.name = "n", .minimum = 1},
                         {.name = "operation",
                          .kind = lab::parameter_kind::word,
                          .choices = {"sum", "maximum"},
                          .choice_numbers = {0, 1}}}};
}

lab::front::stage_claims parsed(const std::string& text) {
  return lab::front::parse_claims(text, "claims.json", track());
}

// A directory that LAB_STAGES names while it exists.
class stages_directory {
 public:
  stages_directory() { setenv("LAB_STAGES", directory_.path().c_str(), 1); }
  stages_directory(const stages_directory&) = delete;
  stages_directory& operator=(const stages_directory&) = delete;
  ~stages_directory() { unsetenv("LAB_STAGES"); }

  [[nodiscard]] std::filesystem::path file(const std::string& stage) const {
    std::filesystem::create_directories(directory_ / stage);
    return directory_ / stage / "claims.json";
  }

 private:
  temporary_directory directory_;
};

lab::front::stage_claims read(const std::string& stage) {
  lab::stage_description description;
  description.path = stage;
  return lab::front::read_claims(track(), description);
}

}  // namespace

TEST_CASE("what is wrong in a file of claims is said with its line") {
  for (const json& example : examples().at("unreadable")) {
    const lab::front::stage_claims found = parsed(text_of(example));
    INFO(text_of(example));
    INFO(found.problem);
    CHECK(found.problem.rfind("claims.json:" + std::to_string(example.at("line").get<int>()) + ": ", 0) == 0);
    CHECK(found.problem.find(example.at("says").get<std::string>()) != std::string::npos);
    CHECK(found.problem.find('\n') == std::string::npos);
    CHECK(found.claims.empty());
  }
  for (const json& example : examples().at("readable")) {
    const lab::front::stage_claims found = parsed(text_of(example));
    INFO(text_of(example));
    CHECK(found.problem.empty());
    CHECK(found.claims.size() == example.at("claims").get<std::size_t>());
  }
}

TEST_CASE("the stages' claims can be read") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LAB_SHIPPED_STAGES)) {
    if (entry.path().filename() != "claims.json") continue;
    const std::string text = lab::test::get(entry.path().string());
    // Whether its track has a claim's parameters is asked of the worker.
    std::map<std::string, lab::parameter_description> parameters;
    for (const json& claim : json::parse(text).value("claims", json::array())) {
      const json at = claim.value("at", json::object());
      for (const auto& [name, value] : at.items()) {
        lab::parameter_description& parameter = parameters[name];
        parameter.name = name;
        if (!value.is_string()) continue;
        parameter.kind = lab::parameter_kind::word;
        parameter.choices.emplace_back(value.get<std::string>());
      }
    }
    lab::track_description any;
    for (const auto& [name, parameter] : parameters) any.parameters.push_back(parameter);
    const lab::front::stage_claims found = lab::front::parse_claims(text, entry.path().string(), any);
    INFO(found.problem);
    CHECK(found.problem.empty());
    ++files;
  }
  CHECK(files > 20);
}

TEST_CASE("a name that is nearly a counter's is put right") {
  CHECK(parsed(R"({"claims": [{"metric": "launch__gridsize", "holds": "equal", "value": 1}]})").problem ==
        "claims.json:1: no counter 'launch__gridsize' is known; did you mean launch__grid_size or "
        "launch__block_size?");
}

TEST_CASE("parameters of claims are whole numbers or words") {
  const auto found = parsed(R"({"claims": [{"metric": "speedup", "holds": "at_least", "value": 2,
      "at": {"n": 1e9, "operation": "maximum"}, "compute_capability": "9.0", "because": "twice the bytes"}]})");
  REQUIRE(found.claims.size() == 1);
  const lab::front::claim& claim = found.claims[0];
  CHECK(claim.at == lab::parameter_values{{"n", 1'000'000'000}, {"operation", "maximum"}});
  CHECK(lab::front::claim_text(claim) ==
        "speedup >= 2 (n = 1000000000, operation = maximum; compute capability 9.0)");
  CHECK(
      lab::front::verdict_text(
          {.stage = "track/01", .claim = claim, .status = lab::front::claim_status::broken, .figure = 1.5}) ==
      "track/01: speedup >= 2 (n = 1000000000, operation = maximum; compute capability 9.0): BROKEN: 1.5 "
      "(claimed because: twice the bytes)");
}

TEST_CASE("a stage without a file claims nothing, and one that cannot be read says so") {
  const stages_directory directory;
  CHECK(read("track/01_none").problem.empty());
  CHECK(read("track/01_none").claims.empty());
  lab::test::put(directory.file("track/02_broken"), "{\n");
  CHECK(read("track/02_broken").problem.find("track/02_broken/claims.json:") != std::string::npos);
  std::filesystem::create_directories(directory.file("track/03_directory"));
  CHECK(read("track/03_directory").problem.find("no file of at most") != std::string::npos);
  lab::test::put(directory.file("track/04_large"), std::string(2 << 20, ' '));
  CHECK(read("track/04_large").problem.find("no file of at most") != std::string::npos);
  lab::test::put(directory.file("track/05_deep"), std::string(1 << 20, '['));
  CHECK(read("track/05_deep").problem.find("too deep") != std::string::npos);
  const std::string many =
      "{\"metrics\": [" + std::string(300'000, ' ') + "\"" + std::string(500'000, 'a') + "\"]}";
  lab::test::put(directory.file("track/06_long"), many);
  CHECK(read("track/06_long").problem.size() < 1000);
  lab::test::put(directory.file("track/07_bytes"), "{\"\xff\x1b[2J\": 1}");
  CHECK(read("track/07_bytes").problem.find('\x1b') == std::string::npos);
}

TEST_CASE("claims hold, and speak of devices, as the scripts have it") {
  for (const json& example : examples().at("judged")) {
    INFO(example.dump());
    lab::front::claim claim;
    for (const auto one :
         {lab::front::relation::equal, lab::front::relation::at_most, lab::front::relation::at_least}) {
      if (example.at("holds") == lab::front::relation_names[static_cast<int>(one)]) claim.holds = one;
    }
    claim.value = example.at("value");
    CHECK(lab::front::holds(claim, example.at("figure")) == example.at("kept"));
  }
  for (const json& example : examples().at("where")) {
    INFO(example.dump());
    lab::front::claim claim{.metric = lab::front::speed_up_metric};
    claim.device = example.value("of", "");
    claim.compute_capability = example.value("compute_capability", "");
    lab::device_record device;
    device.id = "cuda:0";
    device.name = example.at("device");
    device.compute_capability = "9.0";
    CHECK(lab::front::elsewhere(claim, device).empty() == example.at("speaks"));
  }
}

TEST_CASE("the catalogue of counters says of each what it counts, and once") {
  std::set<std::string> names, labels;
  for (const lab::front::known_counter& one : lab::front::known_counters()) {
    INFO(one.name);
    CHECK(lab::front::is_metric_name(one.name));
    CHECK(!one.meaning.empty());
    CHECK(!one.unit.empty());
    CHECK(names.insert(one.name).second);
    CHECK(labels.insert(one.label).second);
    if (lab::front::is_own(one.name)) CHECK(one.modelled);
  }
  CHECK(lab::front::find_counter("launch__grid_size")->label == "blocks");
  CHECK(lab::front::find_counter("launch__grid") == nullptr);
}
