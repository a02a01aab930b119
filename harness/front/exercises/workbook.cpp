#include "harness/front/exercises/workbook.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/file.hpp"
#include "common/run_time/cache_key.hpp"
#include "common/utf8.hpp"
#include "harness/front/claims/predictions.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* record_schema = "kernel-lab-exercise";

// Fewer words are no sentence.
constexpr std::ptrdiff_t fewest_words = 3;

bool is_unanswered(const exercise_prediction& asked, const given_prediction& given) {
  return asked.choices.empty() ? !given.number : given.choice.empty();
}

std::ptrdiff_t words_in(const std::string& text) {
  std::istringstream words(text);
  std::ptrdiff_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

bool tells_no_outcome(const std::string& heading) {
  return is_match(heading, "(The )?([Pp]roblem|[Bb]ottleneck|[Ii]dea)\\b.*");
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Links of a page in stages/TRACK/STAGE, as one in exercises/TRACK/NAME must write them.
std::string moved_links(const std::string& line, const std::string& track) {
  std::string moved = replaced(line, R"(\]\(\.\./\.\./\.\./)", "](@root/");
  moved = replaced(moved, R"(\]\(\.\./\.\./)", "](@root/stages/");
  moved = replaced(moved, R"(\]\(\.\./)", fmt::format("](@root/stages/{}/", track));
  return replaced(moved, "@root/", "../../../");
}

nlohmann::ordered_json empty_predictions(const exercise& exercise) {
  nlohmann::ordered_json answers = nlohmann::ordered_json::object();
  for (const exercise_prediction& one : exercise.predictions)
    answers[one.name] = {{"answer", nullptr}, {"why", ""}};
  return answers;
}

std::string predictions_section(const exercise& exercise, const expression_values& sizes) {
  std::string text =
      "## Predict first\n\nAnswer in `predictions.json`, and say why in one sentence each. Do it before you "
      "read on: the "
      "stage's own page, below, gives some of it away. The first check keeps the answers.\n\n";
  for (const exercise_prediction& one : exercise.predictions) {
    text += fmt::format("* `{}`: {}", one.name, filled_in(one.question, sizes));
    text += one.choices.empty() ? " (a number)\n" : " One of:\n";
    for (const std::string& choice : one.choices) text += fmt::format("  * `{}`\n", choice);
  }
  return text + "\n";
}

std::string exercise_page(const std::string& path, const exercise& exercise,
                          const std::map<std::string, std::string>& sizes) {
  const expression_values values = values_of(sizes);
  std::string text = fmt::format("# {}\n\n{}\n\n", exercise.title, filled_in(exercise.task, values));
  text += "In `stage.cu`, between the markers:\n\n";
  for (const exercise_region& one : exercise.regions)
    text +=
        fmt::format("* `// exercise: {}`: about {} line{}\n", one.name, one.lines, one.lines == 1 ? "" : "s");
  std::vector<std::string> shown;
  for (const auto& [name, value] : sizes) shown.push_back(fmt::format("{} = {}", name, value));
  text +=
      fmt::format("\nChanges outside the markers have no effect. Your sizes: {}.", fmt::join(shown, ", "));
  text += fmt::format(
      "\n\nThe problem, its inputs and its outputs: [stages/{0}](../../../stages/{0}/). The terms: "
      "[glossary](../../../docs/glossary.md).\n\n",
      exercise.stage.substr(0, exercise.stage.find('/')));
  text += predictions_section(exercise, values);
  text += fmt::format(
      "## Check\n\n```\n./lab check {0}\n./lab check {0} --hint 1\n```\n\nThere are {1} hints.\n\n", path,
      exercise.hints.size());
  if (!exercise.questions.empty()) {
    text += "## Questions\n\n";
    for (const std::string& one : exercise.questions) text += "* " + one + "\n";
    text += "\n";
  }
  const fs::path page = stages_directory() / exercise.stage / "README.md";
  std::error_code error;
  if (fs::exists(page, error)) {
    text += "## The stage\n\n" +
            page_without_figures(read_text(page), exercise.stage.substr(0, exercise.stage.find('/')));
  }
  return text;
}

std::string number_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

fs::path exercises_directory() {
  const char* const directory = std::getenv("LAB_EXERCISES");
  if (directory != nullptr && *directory != '\0') return fs::absolute(directory).lexically_normal();
  return fs::path(LAB_SOURCE_ROOT) / "exercises";
}

std::string shown_path(const fs::path& path) {
  const std::string root = LAB_SOURCE_ROOT "/";
  const std::string text = path.string();
  return text.rfind(root, 0) == 0 ? text.substr(root.size()) : text;
}

std::string exercise_path(const std::string& text) {
  std::string path = text;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  for (const std::string& root :
       {exercises_directory().string() + "/", std::string("./exercises/"), std::string("exercises/")}) {
    if (path.rfind(root, 0) == 0) {
      path.erase(0, root.size());
      break;
    }
  }
  if (!is_match(path, "[A-Za-z0-9_]{1,60}/[A-Za-z0-9_]{1,60}(\\.[a-z][a-z0-9_]{0,39})?")) {
    throw usage_error(fmt::format("an exercise is named TRACK/STAGE, as moving_average/04_padded, not '{}'",
                                  cleaned(text, 100)));
  }
  std::error_code error;
  if (find_exercise(path) || fs::exists(exercises_directory() / path, error)) return path;
  std::vector<std::string> begun;
  for (std::string& one : exercise_paths()) {
    if (one.rfind(path, 0) == 0 && one.find('.', path.size()) == std::string::npos)
      begun.push_back(std::move(one));
  }
  if (begun.size() > 1) {
    throw usage_error(fmt::format("'{}' means more than one exercise: {}", path, fmt::join(begun, ", ")));
  }
  return begun.empty() ? path : begun[0];
}

void check_student(const std::string& student) {
  if (!student.empty() && !is_match(student, "[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")) {
    throw usage_error(
        fmt::format("--student takes up to 64 letters, digits and . _ - @, the first of them a letter or a "
                    "digit, not '{}'",
                    cleaned(student, 80)));
  }
}

void make_folder(const fs::path& folder, const file_texts& files) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    throw usage_error(fmt::format("{} is there already, and nothing in it was touched: move it away first",
                                  shown_path(folder)));
  }
  const fs::path unfinished =
      folder.parent_path() / fmt::format(".{}.{}", folder.filename().string(), getpid());
  try {
    fs::create_directories(unfinished);
    for (const auto& [name, text] : files) write_file((unfinished / name).string(), text);
    fs::rename(unfinished, folder);
  } catch (const std::exception& failure) {
    fs::remove_all(unfinished, error);
    throw environment_error(fmt::format("{} cannot be made: {}", shown_path(folder), failure.what()));
  }
}

file_texts exercise_files(const std::string& path, const exercise& exercise, const std::string& student) {
  const fs::path source = exercise_source(exercise.stage);
  file_texts files;
  try {
    for (const std::string& line : cut(lines_of(read_text(source)), exercise))
      files["stage.cu"] += line + "\n";
  } catch (const source_error& error) {
    throw environment_error(fmt::format("{}:{}: {}", shown_path(source), error.line, error.what()));
  }
  files["README.md"] = exercise_page(path, exercise, sizes_of(exercise, student));
  files["predictions.json"] = empty_predictions(exercise).dump(2) + "\n";
  files["exercise.json"] =
      nlohmann::ordered_json{{"schema", record_schema}, {"version", 1}, {"exercise", path},
                             {"student", student},      {"checks", 0},  {"hints", 0},
                             {"kept", nullptr}}
          .dump(2) +
      "\n";
  return files;
}

std::string page_without_figures(const std::string& page, const std::string& track) {
  const auto link_in = [](const std::string& line) { return matched_groups(line, R"((\[[^\]]+\]): (.*))"); };
  std::string text;
  // The page's own head is the exercise's.
  for (const std::string& line : lines_of(sections_of(page, tells_no_outcome))) {
    if (link_in(line).empty()) text += moved_links(line, track) + "\n";
  }
  // Their targets stand behind all of the text: those that it uses. As in Markdown, [gap] is a use of [Gap].
  const std::string uses = lower_case(text);
  std::string links;
  for (const std::string& line : lines_of(page)) {
    if (const auto parts = link_in(line);
        !parts.empty() && uses.find(lower_case(parts[1])) != std::string::npos)
      links += moved_links(fmt::format("{}]({}", parts[1], parts[2]), track) + "\n";
  }
  return text + replaced(links, R"(\]\]\()", "]: ");
}

given_predictions read_predictions(const fs::path& file, const exercise& exercise) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error(fmt::format("{}: {}", shown_path(file), why));
  };
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(read_text(file));
  } catch (const nlohmann::json::exception& error) {
    const std::string words = error.what();
    const std::size_t reason = words.find("] ");
    refuse("this is no JSON: " + cleaned(words.substr(reason == std::string::npos ? 0 : reason + 2), 200));
  }
  if (!document.is_object()) refuse("it must hold one JSON object, a member for each question");
  given_predictions given;
  for (const auto& [name, value] : document.items()) {
    const auto asked = std::find_if(exercise.predictions.begin(), exercise.predictions.end(),
                                    [&, &wanted = name](const auto& one) { return one.name == wanted; });
    if (asked == exercise.predictions.end())
      refuse(fmt::format("there is no question '{}'", cleaned(name, 60)));
    if (!value.is_object()) refuse(fmt::format("'{}' must be {{\"answer\": ..., \"why\": \"...\"}}", name));
    for (const auto& [member, unused] : value.items()) {
      if (member != "answer" && member != "why")
        refuse(fmt::format("'{}' has 'answer' and 'why', and no '{}'", name, cleaned(member, 60)));
    }
    given_prediction& one = given[name];
    const nlohmann::json why = value.value("why", nlohmann::json(""));
    if (!why.is_string()) refuse(fmt::format("the why of '{}' must be a text", name));
    one.why = cleaned(why.get<std::string>(), 1000);
    const nlohmann::json answer = value.value("answer", nlohmann::json(nullptr));
    if (answer.is_null()) continue;
    if (!asked->choices.empty()) {
      if (!answer.is_string() || std::find(asked->choices.begin(), asked->choices.end(),
                                           answer.get<std::string>()) == asked->choices.end()) {
        refuse(fmt::format("the answer of '{}' must be one of the choices of README.md, not {}", name,
                           cleaned(answer.dump(), 80)));
      }
      one.choice = answer.get<std::string>();
      continue;
    }
    if (!answer.is_number() || !std::isfinite(answer.get<double>()))
      refuse(fmt::format("the answer of '{}' must be a number, not {}", name, cleaned(answer.dump(), 80)));
    one.number = answer.get<double>();
  }
  return given;
}

std::string missing_prediction(const given_predictions& given, const exercise& exercise,
                               const expression_values& sizes) {
  for (const exercise_prediction& asked : exercise.predictions) {
    const auto found = given.find(asked.name);
    if (found == given.end() || is_unanswered(asked, found->second))
      return fmt::format("'{}' has no answer yet: {}", asked.name, filled_in(asked.question, sizes));
    if (words_in(found->second.why) < fewest_words)
      return fmt::format("'{}' has no reason yet: its \"why\" needs at least {} words", asked.name,
                         fewest_words);
  }
  return "";
}

nlohmann::json predictions_json(const given_predictions& given) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, one] : given) {
    json[name] = {{"answer", one.number ? nlohmann::json(*one.number) : text_or_null(one.choice)},
                  {"why", one.why}};
  }
  return json;
}

std::string digest_of(const given_predictions& given, const std::string& path, const std::string& student) {
  run_time::cache_key key;
  key.add("exercise", path).add("student", student);
  const nlohmann::json kept = predictions_json(given);
  for (const auto& [name, value] : kept.items()) {
    key.add("question", name)
        .add("answer", number_text(value.at("answer")))
        .add("why", number_text(value.at("why")));
  }
  return key.digest();
}

workbook_record read_record(const fs::path& folder) {
  const fs::path file = folder / "exercise.json";
  const std::string name = shown_path(file);
  try {
    const auto json = nlohmann::json::parse(read_text(file));
    if (json.at("schema") != record_schema || json.at("version") != 1)
      throw usage_error(fmt::format("{} is none of the lab's", name));
    workbook_record record{.exercise = json.at("exercise"),
                           .student = json.at("student"),
                           .checks = json.at("checks"),
                           .hints = json.at("hints")};
    check_student(record.student);
    const auto& kept = json.at("kept");
    if (kept.is_null()) return record;
    record.predictions = kept.at("predictions");
    record.digest = cleaned(kept.at("digest").get<std::string>(), 64);
    record.kept_at = cleaned(kept.at("at").get<std::string>(), 40);
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format(
        "{} is not as 'lab new' wrote it ({}): make the exercise again, and copy your stage.cu and "
        "predictions.json into it",
        name, cleaned(error.what(), 120)));
  }
}

void write_record(const fs::path& folder, const workbook_record& record) {
  nlohmann::ordered_json kept = nullptr;
  if (!record.digest.empty()) {
    kept = {{"at", record.kept_at},
            {"digest", record.digest},
            {"predictions", nlohmann::ordered_json(record.predictions)}};
  }
  write_file((folder / "exercise.json").string(), nlohmann::ordered_json{{"schema", record_schema},
                                                                         {"version", 1},
                                                                         {"exercise", record.exercise},
                                                                         {"student", record.student},
                                                                         {"checks", record.checks},
                                                                         {"hints", record.hints},
                                                                         {"kept", kept}}
                                                          .dump(2) +
                                                      "\n");
}

}  // namespace lab::front
