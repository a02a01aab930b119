#include "harness/front/exercises/examination.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/file.hpp"
#include "common/run_time/cache_key.hpp"
#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/slot.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/selection/parameters.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// A kernel that is right takes a second or two; one that does not end is ended.
constexpr double answer_seconds = 30;
constexpr std::chrono::seconds build_timeout{300};
// No kernel is longer, and a file without end is not read.
constexpr std::uintmax_t max_source_bytes = 1 << 20;

std::string track_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}

// Who is asked: the workers of the source that is checked.
struct asked_workers {
  std::string stage;
  std::vector<std::string> plain;
  std::vector<std::string> observed;
};

class checking {
 public:
  checking(const check_request& options, step_told told) : options_(options), told_(std::move(told)) {
    result_.exercise = exercise_path(options.exercise);
    if (options.graded != nullptr) {
      exercise_ = options.graded->aims;
    } else {
      exercise_ = find_exercise(result_.exercise);
      folder_ = exercises_directory() / result_.exercise;
    }
    for (const char* name : {"prediction", "builds", "right", "sound", "checkpoints"})
      result_.steps.push_back({.name = name});
  }

  examination run() {
    if (options_.solution) {
      if (!exercise_) refuse_unknown();
      if (!fs::exists(own_file()))
        throw usage_error(
            fmt::format("{} is not there: a student edition has no solutions", shown_path(own_file())));
      check_student(options_.student);
      result_.student = options_.student;
    } else if (options_.graded == nullptr) {
      require_folder();
      result_.record = read_record(folder_);
      result_.student = result_.record.student;
    }
    if (exercise_) {
      result_.sizes =
          options_.graded != nullptr ? options_.graded->sizes : sizes_of(*exercise_, result_.student);
      values_ = values_of(result_.sizes);
    }
    result_.passed = predicted() && builds() && right() && sound() && reaches_checkpoints();
    if (result_.passed && options_.graded == nullptr) judge_predictions();
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse_unknown() const {
    const auto near = near_names(result_.exercise, exercise_paths());
    throw usage_error(near.empty() ? fmt::format("there is no exercise '{}'", result_.exercise)
                                   : fmt::format("there is no exercise '{}'; did you mean {}?",
                                                 result_.exercise, fmt::join(near, " or ")));
  }
  void require_folder() const {
    std::error_code error;
    if (fs::is_directory(folder_, error)) return;
    if (!exercise_) refuse_unknown();
    throw usage_error(fmt::format("{} is not there: lab new --exercise {} makes it", shown_path(folder_),
                                  result_.exercise));
  }

  // The student's source, or the lab's own that is checked; and the name by which messages know it.
  [[nodiscard]] fs::path own_file() const {
    if (options_.graded != nullptr) return options_.graded->file;
    return options_.solution ? stages_directory() / exercise_->stage / "stage.cu" : folder_ / "stage.cu";
  }
  [[nodiscard]] std::string own_name() const {
    return options_.graded != nullptr ? name_of_submission() : own_file().string();
  }

  bool ends(std::size_t step, bool passed, const std::string& message, std::size_t column = 0) {
    result_.steps[step].status = passed ? step_status::passed : step_status::failed;
    result_.steps[step].message = without_scopes(message);
    if (!passed) {
      result_.steps[step].at = line_in(result_.steps[step].message, shown_path(own_name()), own_file());
      result_.steps[step].at.column = column;
    }
    const auto now = std::chrono::steady_clock::now();
    result_.steps[step].seconds =
        std::chrono::duration<double>(now - std::exchange(step_began_, now)).count();
    told_(result_.steps[step], result_);
    return passed;
  }

  // The answers are kept before anything of the student's runs.
  bool predicted() {
    if (options_.solution) return ends(0, true, "not asked of the stage itself");
    if (options_.graded != nullptr) return ends(0, true, "counted apart from the source");
    if (!exercise_) return ends(0, true, "a stage of your own: nothing is asked");
    const given_predictions given = read_predictions(folder_ / "predictions.json", *exercise_);
    const std::string missing = missing_prediction(given, *exercise_, values_);
    if (!missing.empty() && result_.record.digest.empty())
      return ends(0, false, fmt::format("{}: {}", shown_path(folder_ / "predictions.json"), missing));
    const std::string digest = digest_of(given, result_.exercise, result_.student);
    if (result_.record.digest.empty()) {
      result_.record.predictions = predictions_json(given);
      result_.record.digest = digest;
      result_.record.kept_at = utc_now();
    }
    result_.predictions_changed = digest != result_.record.digest;
    ++result_.record.checks;
    write_record(folder_, result_.record);
    return ends(
        0, true,
        fmt::format("kept {}, digest {}{}", result_.record.kept_at, result_.record.digest.substr(0, 12),
                    result_.predictions_changed
                        ? "; predictions.json was CHANGED since: the answers that were kept count"
                        : ""));
  }

  bool builds() {
    const fs::path stage = exercise_source(exercise_ ? exercise_->stage : result_.exercise);
    if (options_.solution) {
      const worker_set plain(backend::emulator);
      const worker_set observed(backend::observed);
      for (const worker_set* one : {&plain, &observed}) {
        if (const std::string problem = one->problem(); !problem.empty()) throw environment_error(problem);
      }
      const nlohmann::json message{{"stage", exercise_->stage}};
      asked_ = {exercise_->stage, plain.command(message), observed.command(message)};
      result_.source_digest = run_time::cache_key().add("source", read_text(stage)).digest();
      return ends(1, true, "as the stage is built");
    }
    // A submission's own name may hold anything, and the compiler is told it.
    const fs::path file = own_file();
    const std::string name = own_name();
    std::error_code error;
    if (fs::file_size(file, error) > max_source_bytes && !error) {
      if (options_.graded != nullptr) return ends(1, false, "stage.cu is larger than a kernel can be");
      throw usage_error(fmt::format("{} is larger than a kernel can be", shown_path(file)));
    }
    std::string text = read_text(file);
    const std::string solution = exercise_ ? read_text(stage) : "";
    if (exercise_) {
      try {
        const written_source written = put_in(lines_of(text), lines_of(solution), *exercise_, name);
        text = written.text;
        if (written.changed_outside != 0) {
          result_.notice = fmt::format(
              "{}:{}: this is changed outside of the markers and has no effect: the lab's own text is "
              "checked there",
              shown_path(name), written.changed_outside);
        }
      } catch (const source_error& fault) {
        return ends(1, false,
                    fault.line == 0 ? fmt::format("{}: {}", shown_path(name), fault.what())
                                    : fmt::format("{}:{}: {}", shown_path(name), fault.line, fault.what()));
      }
    } else {
      text = line_directive(1, name) + text;
    }
    slot_.emplace(track_of(result_.exercise), options_.graded != nullptr);
    result_.source_digest = run_time::cache_key().add("source", text).digest();
    status_line status;
    status.show(doing("compiling"));
    constexpr auto both = exercise_slot::part::emulator;
    const slot_build build = options_.graded == nullptr
                                 ? slot_->build(both, text, build_timeout)
                                 : slot_->build_submission(both, text, solution, options_.graded->compiled);
    status.clear();
    if (!build.built) return ends(1, false, build.error, column_of(build, text, name, file));
    asked_ = {slot_->stage(),
              {slot_->worker(exercise_slot::part::emulator), "--device", "0"},
              {slot_->observed_worker(), "--device", "0"}};
    return ends(1, true, "plain and observed");
  }

  // Where in its line the student has written what the compiler found; 0 where it is not the student's line.
  static std::size_t column_of(const slot_build& build, const std::string& compiled, const std::string& name,
                               const fs::path& file) {
    const std::vector<std::string> written = lines_of(read_text(file));
    const std::string of_file = shown_path(name) + ":";
    if (build.column == 0 || build.error.rfind(of_file, 0) != 0) return 0;
    const auto line = static_cast<std::size_t>(std::atoll(build.error.c_str() + of_file.size()));
    const std::optional<std::string> text = compiled_line(compiled, line);
    if (!text || line > written.size()) return 0;
    return column_in_written(without_tabs(*text), without_tabs(written[line - 1]), build.column);
  }

  [[nodiscard]] std::string doing(const char* what) const {
    return options_.graded == nullptr ? what : options_.graded->shown_as + ": " + what;
  }

  void keep_line(const std::string& line) {
    printed_output& printed = result_.printed;
    if (printed.lines++ < printed_output::most_lines) printed.first.push_back(line);
  }

  // `printed`: what is done with a line that the worker prints.
  answer_record ask(
      const std::vector<std::string>& command, nlohmann::json message, const char* what,
      const worker::line_sink& printed = [](const std::string&) {}) {
    message["stage"] = asked_.stage;
    message["seed"] = options_.seed;
    worker one = options_.graded != nullptr ? options_.graded->started(command) : worker(command);
    one.set_output_sink(printed);
    status_line status;
    status.show(doing(what));
    return one.request(message, time_limits::seconds(options_.timeout_seconds.value_or(answer_seconds)),
                       [this](const std::string& progress) { keep_warning(progress); });
  }

  // Only observed kernels are warned of, in step 4 (sound).
  void keep_warning(const std::string& progress) {
    constexpr std::string_view mark = "warning: ";
    if (progress.starts_with(mark))
      result_.steps[3].warning = without_scopes(cleaned(progress.substr(mark.size())));
  }

  // What the answer says against the source; empty where nothing.
  static std::string fault_in(const answer_record& answer) {
    return answer.end == answer_end::ok ? "" : answer_text(answer);
  }

  bool right() {
    const answer_record answer = ask(asked_.plain,
                                     {{"op", "verify"},
                                      {"trial_seed", options_.trial_seed},
                                      {"thorough", false},
                                      {"references", nlohmann::json::object()}},
                                     "verifying", [this](const std::string& line) { keep_line(line); });
    if (const std::string fault = fault_in(answer); !fault.empty()) {
      ends(2, false, fault);
      // A wrong result is often a race, and observed kernels know its lines. A kernel that never ends would
      // be waited for once more.
      const bool never_ends = (answer.failure && answer.failure->kind == failure_kind::hang) ||
                              fault.find("waits in a loop for ever") != std::string::npos;
      if (!never_ends) sound();
      return false;
    }
    if (options_.graded != nullptr) {
      const std::string fault = options_.graded->also_right(asked_.plain, asked_.stage);
      if (!fault.empty()) return ends(2, false, fault);
    }
    const auto verification = optional_member<verification_record>(answer.content, "verification");
    return ends(
        2, true,
        fmt::format("{} inputs, in both orders of the threads", verification ? verification->cases : 0));
  }

  bool sound() {
    const answer_record answer =
        ask(asked_.observed, {{"op", "observe"}, {"trial_seed", options_.trial_seed}}, "observing");
    if (const std::string fault = fault_in(answer); !fault.empty()) return ends(3, false, fault);
    const bool was_right = result_.steps[2].status == step_status::passed;
    return ends(3, true,
                was_right ? "no race, and nothing read that was not written"
                          : "no race, and nothing read that was not written: step 3 is what is wrong");
  }

  // The checkpoint's parameters: the student's sizes, its own, and for the rest what the emulator uses.
  parameter_values parameters_of(const track_description& track,
                                 const exercise_checkpoint& checkpoint) const {
    std::map<std::string, std::string> texts = result_.sizes;
    for (const auto& [name, text] : checkpoint.at) texts[name] = text;
    parameter_values values;
    for (const parameter_description& parameter : track.parameters) {
      const auto given = texts.find(parameter.name);
      if (given != texts.end()) {
        values[parameter.name] = parse_value(track, parameter, given->second);
        texts.erase(given);
      } else if (!parameter.verify_defaults.empty()) {
        values[parameter.name] = parameter.verify_defaults.front();
      }
    }
    if (!texts.empty())
      throw usage_error(fmt::format("{} has no parameter '{}', and exercises.json of {} names it", track.name,
                                    texts.begin()->first, exercise_->stage));
    return values;
  }

  bool reaches_checkpoints() {
    if (!exercise_ || exercise_->checkpoints.empty()) return ends(4, true, "none");
    const std::string track_name = track_of(exercise_->stage);
    const connection connected = connect("emulator", [&](const std::vector<track_description>& tracks) {
      std::vector<track_selection> selected;
      for (const auto& one : tracks) {
        if (one.name == track_name) selected.push_back({&one, {}});
      }
      return selected;
    });
    if (connected.description.tracks.empty())
      throw environment_error(fmt::format("the emulator knows no track '{}'", track_name));
    const track_description& track = connected.description.tracks.front();
    std::map<parameter_values, profile_record> counted;
    for (const exercise_checkpoint& checkpoint : exercise_->checkpoints) {
      const parameter_values parameters = parameters_of(track, checkpoint);
      if (!counted.contains(parameters)) {
        const answer_record answer =
            ask(asked_.observed, {{"op", "counters"}, {"parameters", parameters}}, "counting");
        if (const std::string fault = fault_in(answer); !fault.empty())
          return ends(4, false, fmt::format("at {}: {}", parameters_text(track, parameters), fault));
        counted[parameters] = answer.content.at("profile").get<profile_record>();
      }
      result_.checkpoints.push_back(
          judged(checkpoint, counted.at(parameters), parameters_text(track, parameters)));
    }
    const auto missed = std::count_if(result_.checkpoints.begin(), result_.checkpoints.end(),
                                      [](const auto& one) { return !one.reached; });
    return ends(4, missed == 0,
                missed == 0 ? fmt::format("{0} of {0} reached", result_.checkpoints.size())
                            : fmt::format("{} of {} missed", missed, result_.checkpoints.size()));
  }

  checked_checkpoint judged(const exercise_checkpoint& checkpoint, const profile_record& profile,
                            const std::string& at) const {
    checked_checkpoint found{.name = checkpoint.name, .aim = checkpoint.aim};
    expression_values values = values_;
    for (const auto& [name, value] : values_of(checkpoint.at)) values[name] = value;
    found.aim.value = evaluate(checkpoint.value, values);
    found.aim.because = filled_in(checkpoint.aim.because, values);
    found.aim.at_text = at;
    found.figure = claimed_figure(found.aim, profile, {});
    found.reached = found.figure && holds(found.aim, *found.figure);
    if (!found.reached) blame_line(found, profile);
    return found;
  }

  // The line that has most to do with a miss: whose own figure is furthest from the aim, weighed by how much
  // it adds. Of a sum alone, the line that has most of it.
  void blame_line(checked_checkpoint& missed, const profile_record& profile) const {
    const auto of = [](const line_record& line, const std::string& metric) {
      const auto found = line.metrics.find(metric);
      return found == line.metrics.end() ? 0.0 : found->second;
    };
    double furthest = 0;
    for (const kernel_record& kernel : profile.kernels) {
      for (const line_record& line : kernel.lines) {
        const double metric = of(line, missed.aim.metric);
        const double away =
            missed.aim.per.empty() ? metric : std::abs(metric - missed.aim.value * of(line, missed.aim.per));
        if (away <= furthest) continue;
        furthest = away;
        missed.file = line.file;
        missed.line = line.line;
      }
    }
    missed.file = shown_path(missed.file);
    const fs::path file =
        missed.file == shown_path(own_name()) ? own_file() : fs::path(LAB_SOURCE_ROOT) / missed.file;
    missed.code = read_line(file, missed.file, missed.line).code;
  }

  void judge_predictions() {
    if (!exercise_ || options_.solution) return;
    for (const exercise_prediction& asked : exercise_->predictions) {
      judged_answer judged{.name = asked.name,
                           .question = filled_in(asked.question, values_),
                           .because = filled_in(asked.because, values_)};
      const auto& kept = result_.record.predictions;
      const nlohmann::json answer = kept.contains(asked.name)
                                        ? kept.at(asked.name).value("answer", nlohmann::json())
                                        : nlohmann::json();
      judged.why = kept.contains(asked.name) ? cleaned(kept.at(asked.name).value("why", ""), 1000) : "";
      if (asked.choices.empty()) {
        const double right = evaluate(asked.answer, values_);
        judged.answer = fmt::format("{:.6g}", right);
        if (answer.is_number()) {
          judged.given = fmt::format("{:.6g}", answer.get<double>());
          judged.right = std::abs(answer.get<double>() - right) <= asked.tolerance * std::abs(right) + 1e-12;
        }
      } else {
        judged.answer = asked.answer;
        if (answer.is_string()) judged.given = cleaned(answer.get<std::string>(), 200);
        judged.right = judged.given == judged.answer;
      }
      result_.predictions.push_back(std::move(judged));
    }
  }

  const check_request& options_;
  step_told told_;
  std::optional<exercise> exercise_;  // nothing: a stage of the student's own
  fs::path folder_;
  expression_values values_;
  std::optional<exercise_slot> slot_;
  asked_workers asked_;
  std::chrono::steady_clock::time_point step_began_ = std::chrono::steady_clock::now();
  examination result_;
};

}  // namespace

std::string name_of_submission() {
  return LAB_SOURCE_ROOT "/stage.cu";
}

examination examine(const check_request& options, const step_told& told) {
  return checking(options, told).run();
}

std::string figure_text(const checked_checkpoint& checkpoint) {
  constexpr const char* words[] = {"", "at most ", "at least "};
  return fmt::format("is {}, the aim is {}{}",
                     checkpoint.figure ? plain_figure(*checkpoint.figure) : "not there",
                     words[static_cast<int>(checkpoint.aim.holds)], plain_figure(checkpoint.aim.value));
}

std::string checkpoint_text(const checked_checkpoint& checkpoint) {
  const claim& aim = checkpoint.aim;
  return fmt::format("{}{} {} ({})", aim.metric, aim.per.empty() ? "" : " / " + aim.per,
                     figure_text(checkpoint), aim.at_text);
}

std::vector<std::string> take_hints(const check_request& options) {
  const std::string path = exercise_path(options.exercise);
  const std::optional<exercise> found = find_exercise(path);
  if (!found) throw usage_error(fmt::format("there is no exercise '{}', and so no hint", path));
  const int number = *options.hint;
  if (number < 1 || static_cast<std::size_t>(number) > found->hints.size())
    throw usage_error(fmt::format("--hint takes 1 to {}, not {}", found->hints.size(), number));
  const fs::path folder = exercises_directory() / path;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw usage_error(
        fmt::format("{} is not there: lab new --exercise {} makes it", shown_path(folder), path));
  workbook_record record = read_record(folder);
  if (record.digest.empty())
    throw usage_error(
        fmt::format("predict first: hints follow the first 'lab check {}' that keeps your answers", path));
  record.hints = std::max<std::int64_t>(record.hints, number);
  write_record(folder, record);
  const expression_values values = values_of(sizes_of(*found, record.student));
  std::vector<std::string> hints;
  for (int k = 0; k < number; ++k)
    hints.push_back(filled_in(found->hints[static_cast<std::size_t>(k)], values));
  return hints;
}

void to_json(nlohmann::json& json, const examination& examination) {
  nlohmann::json steps = nlohmann::json::array();
  for (const check_step& one : examination.steps) {
    steps.push_back({{"step", one.name},
                     {"status", step_status_names[static_cast<int>(one.status)]},
                     {"message", text_or_null(one.message)},
                     {"file", text_or_null(one.at.file)},
                     {"line", one.at.line},
                     {"column", one.at.column},
                     {"warning", text_or_null(one.warning)},
                     {"code", text_or_null(one.at.code)}});
  }
  nlohmann::json checkpoints = nlohmann::json::array();
  for (const checked_checkpoint& one : examination.checkpoints) {
    checkpoints.push_back({{"name", one.name},
                           {"metric", one.aim.metric},
                           {"per", text_or_null(one.aim.per)},
                           {"holds", relation_names[static_cast<int>(one.aim.holds)]},
                           {"value", one.aim.value},
                           {"at", one.aim.at_text},
                           {"figure", value_or_null(one.figure)},
                           {"reached", one.reached},
                           {"file", text_or_null(one.file)},
                           {"line", one.line},
                           {"because", one.reached ? text_or_null(one.aim.because) : nlohmann::json()}});
  }
  nlohmann::json predictions = nlohmann::json::array();
  for (const judged_answer& one : examination.predictions) {
    predictions.push_back({{"name", one.name},
                           {"given", text_or_null(one.given)},
                           {"why", text_or_null(one.why)},
                           {"answer", one.answer},
                           {"right", one.right},
                           {"because", one.because}});
  }
  const workbook_record& record = examination.record;
  json = {{"exercise", examination.exercise},
          {"student", text_or_null(examination.student)},
          {"sizes", examination.sizes},
          {"passed", examination.passed},
          {"steps", steps},
          {"printed", examination.printed.first},
          {"checkpoints", checkpoints},
          {"predictions", predictions},
          {"prediction_digest", text_or_null(record.digest)},
          {"predictions_kept_at", text_or_null(record.kept_at)},
          {"predictions_changed_since", examination.predictions_changed},
          {"checks", record.checks},
          {"hints", record.hints},
          {"notice", text_or_null(examination.notice)},
          {"source_digest", text_or_null(examination.source_digest)}};
}

stage_selector select_exercise(const std::string& exercise, bool with_stage) {
  return [exercise, with_stage](const std::vector<track_description>& tracks) {
    const std::string path = exercise_path(exercise);
    const std::string stage = path.substr(0, path.find('.'));
    std::vector<track_selection> selected;
    for (const track_description& track : tracks) {
      if (stage.rfind(track.name + "/", 0) != 0) continue;
      selected.push_back({&track, {}});
      for (const stage_description& one : track.stages) {
        if (with_stage && one.path == stage) selected.back().stages.push_back(&one);
      }
    }
    return selected;
  };
}

}  // namespace lab::front
