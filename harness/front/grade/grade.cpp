#include "harness/front/grade/grade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/file.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/grade/replaced_symbols.hpp"
#include "harness/front/grade/sealed_worker.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr double right_points = 20;
constexpr double sound_points = 10;
constexpr double checkpoint_points = 30;
constexpr double prediction_points = 15;
constexpr double explanation_points = 15;
constexpr double gpu_points = 10;
constexpr const char* by_rubric = "the teacher's, by the rubric";

// A kernel that is right takes a second or two.
constexpr double submission_seconds = 20;
constexpr std::uintmax_t most_prediction_bytes = 1 << 16;
// Of all that one submission has started, its compiler included.
constexpr std::size_t most_processes = 128;
constexpr std::uint64_t most_resident_bytes = std::uint64_t{12} << 30;
// While it is timed on a GPU: the harness holds inputs and outputs of gigabytes.
constexpr std::uint64_t most_resident_bytes_with_gpu = std::uint64_t{48} << 30;

constexpr process_limits compiler_limits{.cpu_seconds = 100,
                                         .data_bytes = std::uint64_t{4} << 30,
                                         .file_bytes = std::uint64_t{1} << 30,
                                         .files = 1024,
                                         .processes = 256};

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}
bool is_plain_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

// What one student's path holds; nothing where it holds no source.
std::optional<submission> submission_at(const fs::path& path, const std::string& exercise) {
  const std::string name = cleaned(path.filename().string(), 80);
  if (is_plain_file(path)) return submission{.name = name, .source = path};
  for (const fs::path& folder : {path, path / exercise, path / "exercises" / exercise}) {
    if (!is_plain_directory(folder) || !is_plain_file(folder / "stage.cu")) continue;
    submission found{.name = name, .source = folder / "stage.cu"};
    if (is_plain_file(folder / "predictions.json")) found.predictions = folder / "predictions.json";
    return found;
  }
  return std::nullopt;
}

const check_step& step_named(const examination& found, const std::string& name) {
  return *std::find_if(found.steps.begin(), found.steps.end(),
                       [&](const auto& one) { return one.name == name; });
}

std::string step_text(const check_step& step) {
  return fmt::format("{}: {}{}", step.name, step_status_names[static_cast<int>(step.status)],
                     step.message.empty() ? "" : ": " + step.message);
}

}  // namespace

std::vector<submission> find_submissions(const fs::path& path, const std::string& exercise) {
  std::error_code error;
  const fs::path start = fs::weakly_canonical(path, error);
  if (error || !fs::exists(start)) throw usage_error(fmt::format("{}: there is no such file", path.string()));
  if (const auto one = submission_at(start, exercise)) return {*one};
  if (!fs::is_directory(start))
    throw usage_error(fmt::format("{} is no source and no folder of them", path.string()));
  std::vector<submission> all;
  for (const auto& entry : fs::directory_iterator(start)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.') continue;
    const bool is_candidate = is_plain_directory(entry.path()) || entry.path().extension() == ".cu";
    if (!is_candidate) continue;
    if (const auto one = submission_at(entry.path(), exercise)) {
      all.push_back(*one);
    } else {
      all.push_back({.name = cleaned(name, 80),
                     .problem = fmt::format("no stage.cu in it, nor in {} (links do not count)", exercise)});
    }
  }
  if (all.empty()) throw usage_error(fmt::format("{} holds no submission", path.string()));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

double submission_grade::points() const {
  double sum = 0;
  for (const graded_part& one : parts) sum += one.is_counted ? one.points : 0;
  return sum;
}

double submission_grade::most() const {
  double sum = 0;
  for (const graded_part& one : parts) sum += one.is_counted ? one.most : 0;
  return sum;
}

grader::grader(const std::string& exercise, const grading_key& key, const grading_terms& terms)
    : exercise_(exercise_path(exercise)),
      key_(key),
      terms_(terms),
      confinement_(terms.unconfined),
      folder_("grade") {
  graded_.aims = exercise_of(key_, exercise_);
  graded_.sizes = hidden_sizes(key_, graded_.aims, exercise_);
  graded_.started = [this](const graded_source::command& program) {
    return sealed_worker(confinement_.around(program, {.to_read = {program.front()}}));
  };
  graded_.compiled = {
      .limited =
          [this](const graded_source::command& compiler) {
            return confinement_.limited(compiler, compiler_limits);
          },
      .fault =
          [](const std::string& program, const std::string& of_track) {
            const std::string replaced = replaced_function(program, of_track);
            return replaced.empty()
                       ? ""
                       : replaced + " is defined here, and the harness would call it: give it another name";
          }};
  graded_.also_right = [this](const graded_source::command& worker, const std::string& stage) {
    return fault_on_hidden_inputs({worker, stage}, false);
  };
  find_gpu();
  inputs_ = std::make_unique<hidden_inputs>(graded_.aims, graded_.sizes, number_of(key_, exercise_, "inputs"),
                                            folder_.path());
}

void grader::find_gpu() {
  const bool chosen = !terms_.device.empty();
  if (chosen && parse_device(terms_.device).kind != backend::cuda) {
    gpu_text_ = "not measured: --device names no GPU";
  } else if (!chosen && needed_backends("").front() != backend::cuda) {
    gpu_text_ = has_gpu() ? "not measured: this lab was built without CUDA"
                          : "not measured: this machine has no GPU of NVIDIA's";
  } else {
    try {
      gpu_ = std::make_unique<gpu_part>(graded_.aims, chosen ? terms_.device : "cuda:0", confinement_,
                                        number_of(key_, exercise_, "seed"),
                                        number_of(key_, exercise_, "trials"), terms_.timeout_seconds);
      gpu_text_ = gpu_->text();
    } catch (const environment_error& problem) {
      if (chosen) throw environment_error(std::string("GPU time: ") + problem.what());
      gpu_text_ = std::string("not measured: ") + problem.what();
    }
  }
}

std::string grader::fault_on_hidden_inputs(const stage_worker& submitted, bool on_gpu) {
  // Nobody else's outputs are in reach, and no link of an earlier one's.
  const fs::path outputs = folder_.path() / "outputs";
  fs::remove_all(outputs);
  fs::create_directory(outputs);
  const std::vector<nlohmann::json> requests = inputs_->requests(submitted.stage, outputs);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    visible_files files{.to_read = {submitted.command.front()}, .to_write = {outputs}, .gpus = on_gpu};
    for (const auto& input : requests[k].at("inputs")) files.to_read.emplace_back(input.get<std::string>());
    const process_limits limits = on_gpu ? gpu_worker_limits() : process_limits{};
    worker one = sealed_worker(confinement_.around(submitted.command, files, limits));
    one.set_output_sink([](const std::string&) {});
    const answer_record answer =
        one.request(requests[k], time_limits::seconds(terms_.timeout_seconds.value_or(submission_seconds)));
    if (answer.end != answer_end::ok) return "on hidden inputs: " + answer_text(answer);
    if (std::string fault = inputs_->fault_in(k, outputs); !fault.empty()) return fault;
  }
  return "";
}

std::string grader::derivations_in(const submission& one) const {
  if (one.predictions.empty()) return "no predictions.json was handed in";
  std::error_code error;
  if (fs::file_size(one.predictions, error) > most_prediction_bytes || error)
    return "predictions.json is longer than answers are";
  try {
    std::string text = by_rubric;
    for (const auto& [name, given] : read_predictions(one.predictions, graded_.aims)) {
      text += fmt::format("\n{}: {}, because: {}", name,
                          given.number ? plain_figure(*given.number) : given.choice, given.why);
    }
    return text;
  } catch (const std::exception& problem) {
    // Without the grader's own folders.
    std::string text = problem.what();
    if (text.rfind(shown_path(one.predictions), 0) == 0)
      text = "predictions.json" + text.substr(shown_path(one.predictions).size());
    return cleaned(text, 300);
  }
}

void grader::count_source(submission_grade& grade, const submission& one) {
  graded_.file = one.source;
  const check_request request{.exercise = exercise_,
                              .seed = number_of(key_, exercise_, "seed"),
                              .trial_seed = number_of(key_, exercise_, "trials"),
                              .timeout_seconds = terms_.timeout_seconds.value_or(submission_seconds),
                              .graded = &graded_};
  bool ended_by_watch = false;
  {
    const process_watch watch(most_processes, most_resident_bytes);
    grade.found = examine(request, [](const check_step&, const examination&) {});
    ended_by_watch = watch.has_ended_them();
  }
  const examination& found = grade.found;
  const auto passed = [&](const char* name) { return step_named(found, name).status == step_status::passed; };
  graded_part& correctness = grade.parts[0];
  graded_part& checkpoints = grade.parts[1];
  if (passed("right")) correctness.points += right_points;
  if (passed("right") && passed("sound")) correctness.points += sound_points;
  for (const char* name : {"builds", "right", "sound"})
    correctness.text += step_text(step_named(found, name)) + "\n";
  if (ended_by_watch) {
    correctness.points = 0;
    correctness.text += "it was ended: it used more processes or more memory than a kernel has a use for\n";
  }
  const bool is_sound = correctness.points == correctness.most;
  if (!is_sound) {
    checkpoints.text = counted_when_right;
    return;
  }
  const auto count = static_cast<double>(graded_.aims.checkpoints.size());
  const auto reached = static_cast<double>(std::count_if(found.checkpoints.begin(), found.checkpoints.end(),
                                                         [](const auto& its) { return its.reached; }));
  checkpoints.points = count == 0 ? checkpoint_points : checkpoint_points * reached / count;
  checkpoints.text = step_named(found, "checkpoints").message + "\n";
  for (const checked_checkpoint& its : found.checkpoints)
    checkpoints.text +=
        fmt::format("{}: {}: {}\n", its.name, its.reached ? "reached" : "MISSED", checkpoint_text(its));
}

void grader::count_time(submission_grade& grade, const submission& one) {
  graded_part& part = grade.parts[4];
  if (grade.parts[0].points < grade.parts[0].most) {
    part.text = counted_when_right;
    return;
  }
  const std::string solution = read_text(stages_directory() / graded_.aims.stage / "stage.cu");
  const std::string source =
      put_in(lines_of(read_text(one.source)), lines_of(solution), graded_.aims, name_of_submission()).text;
  const process_watch watch(most_processes, most_resident_bytes_with_gpu);
  timed_submission timed;
  try {
    timed = gpu_->time(
        source, solution, graded_.compiled,
        [this](const stage_worker& submitted) { return fault_on_hidden_inputs(submitted, true); },
        graded_.shown_as);
  } catch (const environment_error&) {
    // The watch ends every process of the call, the reference's among them.
    if (!watch.has_ended_them()) throw;
  }
  if (watch.has_ended_them())
    timed = {.fault = "it was ended: it used more processes or more memory than a kernel has a use for"};
  if (timed.ratio) {
    part.points = part.most * share_of_points(*timed.ratio);
    part.text = fmt::format("{} the reference's time: {} and {}, the reference {} and {}",
                            humanised_ratio(*timed.ratio), humanised_time(timed.times.front()),
                            humanised_time(timed.times.back()), humanised_time(timed.reference_times.front()),
                            humanised_time(timed.reference_times.back()));
  } else {
    part.text = "on the GPU: " + timed.fault;
  }
  grade.timed = std::move(timed);
}

submission_grade grader::grade(const submission& one, const std::string& shown_as) {
  graded_.shown_as = shown_as;
  const auto began = std::chrono::steady_clock::now();
  submission_grade grade{
      .name = one.name,
      .parts = {{.name = "correctness", .most = right_points + sound_points},
                {.name = "checkpoints", .most = checkpoint_points},
                {.name = "prediction", .most = prediction_points, .is_counted = false},
                {.name = "explanation", .most = explanation_points, .is_counted = false, .text = by_rubric},
                {.name = "GPU time",
                 .most = gpu_points,
                 .is_counted = gpu_ != nullptr,
                 .text = gpu_ ? "" : gpu_text_ + ". These points are in no sum"}}};
  if (!one.problem.empty()) {
    for (graded_part& part : grade.parts) {
      if (part.is_counted) part.text = one.problem;
    }
    return grade;
  }
  grade.parts[2].text = derivations_in(one);
  try {
    count_source(grade, one);
    if (gpu_) count_time(grade, one);
  } catch (const interrupted&) {
    throw;
  } catch (const file_error& problem) {
    grade.parts[0].text = "stage.cu cannot be read";
  } catch (const std::exception& problem) {
    grade.lab_fault = cleaned(problem.what(), 400);
  }
  for (graded_part& part : grade.parts) {
    while (!part.text.empty() && part.text.back() == '\n') part.text.pop_back();
  }
  grade.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return grade;
}

void to_json(nlohmann::json& json, const submission_grade& grade) {
  nlohmann::json parts = nlohmann::json::array();
  for (const graded_part& one : grade.parts) {
    parts.push_back({{"part", one.name},
                     {"points", one.is_counted ? nlohmann::json(one.points) : nlohmann::json()},
                     {"most", one.most},
                     {"text", one.text}});
  }
  json = {{"submission", grade.name},
          {"parts", parts},
          {"points", grade.points()},
          {"most", grade.most()},
          {"seconds", grade.seconds},
          {"not_graded", text_or_null(grade.lab_fault)},
          {"gpu_time", value_or_null(grade.timed)},
          {"check", grade.found}};
}

}  // namespace lab::front
