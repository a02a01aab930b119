#include "harness/front/exercises/exercise_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/file.hpp"
#include "common/run_time/cache_key.hpp"
#include "harness/front/claims/claims_file.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/located_json.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hints_of_each = 3;
constexpr double default_tolerance = 0.02;

std::string name_of(const json_node& given) {
  std::string name = given.text();
  if (!is_match(name, "[a-z][a-z0-9_]{0,39}"))
    given.refuse_value("a name of small letters, digits and underscores");
  return name;
}

template <class Named>
void refuse_repeated(const std::vector<Named>& all, const json_node& list) {
  std::set<std::string> names;
  for (const Named& one : all) {
    if (!names.insert(one.name).second) list.refuse(fmt::format("'{}' stands twice", one.name));
  }
}

std::vector<std::string> texts_of(const json_node& list) {
  std::vector<std::string> texts;
  for (const json_node& one : list.elements()) texts.push_back(one.text());
  return texts;
}

// A number as it was written, or a text.
std::string value_text(const json_node& given) {
  if (given.value().is_string()) return given.text();
  if (!given.value().is_number()) given.refuse_value("a number or a text");
  const double number = given.number();
  return number == std::floor(number) && std::abs(number) < 1e15
             ? std::to_string(static_cast<std::int64_t>(number))
             : given.value().dump();
}

// What is written between the braces of a text must be something that can be worked out.
std::string filled_text(const json_node& given, const expression_values& sizes) {
  std::string text = given.text();
  try {
    (void)filled_in(text, sizes);
  } catch (const expression_error& error) {
    given.refuse(error.what());
  }
  return text;
}

std::string expression_text(const json_node& given, const expression_values& sizes) {
  std::string text = value_text(given);
  try {
    (void)evaluate(text, sizes);
  } catch (const expression_error& error) {
    given.refuse(error.what());
  }
  return text;
}

exercise_region region_from(const json_node& given) {
  given.check_members({"name", "lines", "start"});
  exercise_region region{.name = name_of(given.needed("name", "a region"))};
  const json_node lines = given.needed("lines", "a region");
  if (!lines.value().is_number_integer() || lines.number() < 1 || lines.number() > 200)
    lines.refuse_value("a number of lines from 1 to 200");
  region.lines = lines.value().get<std::int64_t>();
  if (given.has("start")) region.start = texts_of(given.at("start"));
  return region;
}

std::string counter_of(const json_node& given) {
  std::string name = given.text();
  if (!is_modelled(name))
    given.refuse(fmt::format("the emulator models no counter '{}'", cleaned(name, 100)));
  return name;
}

exercise_checkpoint checkpoint_from(const json_node& given, expression_values sizes) {
  given.check_members({"name", "metric", "per", "holds", "value", "at", "because"});
  exercise_checkpoint checkpoint{.name = name_of(given.needed("name", "a checkpoint"))};
  claim& aim = checkpoint.aim;
  aim.metric = counter_of(given.needed("metric", "a checkpoint"));
  if (given.has("per")) aim.per = counter_of(given.at("per"));
  aim.holds = relation_of(given.needed("holds", "a checkpoint"));
  if (given.has("at")) {
    for (const json_node& one : given.at("at").members()) {
      checkpoint.at[one.name()] = value_text(one);
      if (one.value().is_number()) sizes[one.name()] = one.number();
    }
  }
  checkpoint.value = expression_text(given.needed("value", "a checkpoint"), sizes);
  aim.because = filled_text(given.needed("because", "a checkpoint"), sizes);
  return checkpoint;
}

exercise_prediction prediction_from(const json_node& given, const expression_values& sizes,
                                    const std::vector<exercise_checkpoint>& checkpoints) {
  given.check_members({"name", "question", "choices", "answer", "tolerance", "because", "checkpoint"});
  exercise_prediction prediction{.name = name_of(given.needed("name", "a prediction")),
                                 .question = filled_text(given.needed("question", "a prediction"), sizes)};
  const json_node answer = given.needed("answer", "a prediction");
  if (given.has("choices")) {
    prediction.choices = texts_of(given.at("choices"));
    prediction.answer = answer.text();
    if (prediction.choices.size() < 2) given.at("choices").refuse("a choice needs at least two");
    if (std::find(prediction.choices.begin(), prediction.choices.end(), prediction.answer) ==
        prediction.choices.end())
      answer.refuse("the answer is none of the choices");
  } else {
    prediction.answer = expression_text(answer, sizes);
    prediction.tolerance = given.has("tolerance") ? given.at("tolerance").number() : default_tolerance;
    if (!(prediction.tolerance >= 0 && prediction.tolerance <= 0.5))
      given.at("tolerance").refuse_value("a fraction of the answer from 0 to 0.5");
  }
  if (given.has("checkpoint") == given.has("because"))
    given.refuse("a prediction needs 'checkpoint', whose explanation is its own, or 'because', and not both");
  if (given.has("because")) {
    prediction.because = filled_text(given.at("because"), sizes);
    return prediction;
  }
  const json_node explained = given.at("checkpoint");
  const auto found = std::find_if(checkpoints.begin(), checkpoints.end(),
                                  [&](const auto& one) { return one.name == explained.text(); });
  if (found == checkpoints.end()) explained.refuse("there is no such checkpoint");
  prediction.because = found->aim.because;
  return prediction;
}

std::map<std::string, std::vector<std::string>> sizes_from(const json_node& given) {
  std::map<std::string, std::vector<std::string>> sizes;
  for (const json_node& one : given.members()) {
    std::vector<std::string>& values = sizes[one.name()];
    for (const json_node& value : one.elements()) values.push_back(value_text(value));
    if (values.empty()) one.refuse("a parameter needs at least one size");
  }
  return sizes;
}

template <class Read>
auto all_of(const json_node& exercise, const char* member, const Read& read) {
  std::vector<decltype(read(exercise))> all;
  if (!exercise.has(member)) return all;
  const json_node list = exercise.at(member);
  for (const json_node& one : list.elements()) {
    if (!one.value().is_object()) one.refuse_value("an object");
    all.push_back(read(one));
  }
  refuse_repeated(all, list);
  return all;
}

exercise exercise_from(const json_node& given, const std::string& stage) {
  if (!given.value().is_object()) given.refuse("an exercise must be an object");
  given.check_members({"name", "title", "task", "regions", "cut_comments", "words", "sizes", "predictions",
                       "checkpoints", "hints", "questions", "start_fails"});
  exercise read{.stage = stage,
                .name = name_of(given.needed("name", "an exercise")),
                .title = given.needed("title", "an exercise").text()};
  read.sizes = sizes_from(given.needed("sizes", "an exercise"));
  const expression_values sizes = values_of(sizes_of(read, ""));
  read.task = filled_text(given.needed("task", "an exercise"), sizes);
  (void)given.needed("regions", "an exercise");
  read.regions = all_of(given, "regions", region_from);
  if (read.regions.empty()) given.at("regions").refuse("an exercise needs a region");
  if (given.has("cut_comments")) read.cut_comments = texts_of(given.at("cut_comments"));
  if (given.has("words")) read.words = texts_of(given.at("words"));
  read.checkpoints =
      all_of(given, "checkpoints", [&](const json_node& one) { return checkpoint_from(one, sizes); });
  read.predictions = all_of(given, "predictions", [&](const json_node& one) {
    return prediction_from(one, sizes, read.checkpoints);
  });
  if (read.predictions.empty()) given.refuse("an exercise needs a prediction");
  const json_node hints = given.needed("hints", "an exercise");
  for (const json_node& one : hints.elements()) read.hints.push_back(filled_text(one, sizes));
  if (read.hints.size() != hints_of_each) hints.refuse("an exercise needs three hints");
  if (given.has("questions")) read.questions = texts_of(given.at("questions"));
  read.start_fails = given.needed("start_fails", "an exercise").text();
  return read;
}

std::vector<exercise> exercises_from(const json_node& document, const std::string& stage) {
  if (!document.value().is_object()) document.refuse("the file must hold one JSON object");
  document.check_members({"$schema", "exercises"});
  std::vector<exercise> all;
  const json_node list = document.needed("exercises", "the file");
  for (const json_node& one : list.elements()) all.push_back(exercise_from(one, stage));
  refuse_repeated(all, list);
  if (all.empty()) list.refuse("the list is empty");
  return all;
}

}  // namespace

fs::path exercise_source(const std::string& stage) {
  const fs::path folder = stages_directory() / stage;
  return fs::exists(folder / "exercise.cu") ? folder / "exercise.cu" : folder / "stage.cu";
}

std::vector<exercise> parse_exercises(const std::string& text, const std::string& file,
                                      const std::string& stage) {
  try {
    const located_json document(text);
    return exercises_from(document.root(), stage);
  } catch (const json_mistake& found) {
    throw usage_error(fmt::format("{}:{}: {}", file, found.line, cleaned(found.text)));
  }
}

std::string turned(std::string text) {
  constexpr int first = '!', kinds = '~' - '!' + 1;
  for (char& c : text) {
    if (c >= first && c < first + kinds) c = static_cast<char>(first + (c - first + kinds / 2) % kinds);
  }
  return text;
}

std::vector<exercise> read_exercises(const std::string& stage) {
  const fs::path file = stages_directory() / stage / "exercises.json";
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  if (fs::exists(file.parent_path() / "link.cmake", error)) {
    throw usage_error(
        fmt::format("{}: the stage is linked with more than the harness (link.cmake), and no exercise can be",
                    file.string()));
  }
  const std::string text = read_text(file);
  return parse_exercises(text.rfind(turned("{"), 0) == 0 ? turned(text) : text, file.string(), stage);
}

std::vector<std::string> exercise_paths() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& track : fs::directory_iterator(stages_directory(), error)) {
    for (const auto& stage : fs::directory_iterator(track.path(), error)) {
      const std::string path = track.path().filename().string() + "/" + stage.path().filename().string();
      const std::vector<exercise> all = read_exercises(path);
      for (std::size_t k = 0; k < all.size(); ++k) paths.push_back(k == 0 ? path : path + "." + all[k].name);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<exercise> find_exercise(const std::string& path) {
  const std::size_t dot = path.find('.');
  const std::vector<exercise> all = read_exercises(path.substr(0, dot));
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (dot == std::string::npos ? k == 0 : k > 0 && all[k].name == path.substr(dot + 1)) return all[k];
  }
  return std::nullopt;
}

std::map<std::string, std::string> sizes_of(const exercise& exercise, const std::string& student) {
  std::map<std::string, std::string> sizes;
  for (const auto& [parameter, values] : exercise.sizes) {
    std::size_t chosen = 0;
    if (!student.empty()) {
      const std::string digest = run_time::cache_key()
                                     .add("student", student)
                                     .add("exercise", exercise.stage + "." + exercise.name)
                                     .add("parameter", parameter)
                                     .digest();
      chosen = std::stoull(digest.substr(0, 12), nullptr, 16) % values.size();
    }
    sizes[parameter] = values[chosen];
  }
  return sizes;
}

expression_values values_of(const std::map<std::string, std::string>& sizes) {
  expression_values values;
  for (const auto& [name, text] : sizes) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0') values[name] = value;
  }
  return values;
}

}  // namespace lab::front
