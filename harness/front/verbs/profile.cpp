#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

#include "common/file.hpp"
#include "harness/front/claims/claims.hpp"
#include "harness/front/claims/predictions.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/counters/nsight_compute.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/results.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// Each metric may take several replays of the kernel.
constexpr double profile_timeout_seconds = 600;

// Every stage's, beside those that its page speaks of: what is shown beside lines, which the emulator models
// too, so that the two devices can be compared.
std::vector<std::string> common_metrics() {
  std::vector<std::string> names;
  for (const known_counter& one : known_counters()) {
    if (!one.column.empty()) names.push_back(one.name);
  }
  return names;
}

// The values that were given, and the first of the emulator's defaults for every other parameter: the same
// sizes on either device, so that their counters can be compared.
parameter_values profile_parameters(const track_description& track,
                                    const std::vector<parameter_argument>& arguments) {
  parameter_values values = given_parameters(track, arguments);
  for (const auto& parameter : track.parameters) {
    if (parameter.verify_defaults.empty()) continue;
    values.emplace(parameter.name, parameter.verify_defaults.front());
  }
  return values;
}

std::string report_path(const profile_options& options, const std::string& stage) {
  std::string path = options.output;
  if (path.empty()) {
    path = stage;
    std::replace(path.begin(), path.end(), '/', '_');
  }
  const std::string extension = ".ncu-rep";
  const bool has_extension = path.size() > extension.size() &&
                             path.compare(path.size() - extension.size(), extension.size(), extension) == 0;
  return fs::absolute(has_extension ? path : path + extension).string();
}

// The report while it is made, under a name of its own, so that a run that fails neither destroys nor shows
// an older one.
class unfinished_report {
 public:
  explicit unfinished_report(const fs::path& report)
      : path_((report.parent_path() / fmt::format(".{}-{}", getpid(), report.filename().string())).string()) {
  }
  unfinished_report(const unfinished_report&) = delete;
  unfinished_report& operator=(const unfinished_report&) = delete;
  ~unfinished_report() {
    std::error_code error;
    fs::remove(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The closing line of the worker's answer, which stands among what Nsight Compute prints.
std::optional<answer_record> answer_in(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("end")) return json.get<answer_record>();
  }
  return std::nullopt;
}

// Refuses what cannot be counted on this device, before anything is.
void check_metrics(const std::vector<std::string>& metrics, const device_record& device) {
  for (const std::string& metric : metrics) {
    if (is_emulator(device)) {
      if (is_modelled(metric)) continue;
      std::vector<std::string> known;
      for (const auto& counter : known_counters()) {
        if (counter.modelled) known.push_back(counter.name);
      }
      throw usage_error(fmt::format("--metrics: the emulator does not model '{}'; it models {}", metric,
                                    fmt::join(known, ", ")));
    }
    if (is_own(metric))
      throw usage_error(fmt::format("--metrics: only the emulator counts '{}' (--device emulator)", metric));
    if (!is_metric_name(metric))
      throw usage_error(fmt::format("--metrics: '{}' is no name of a metric", metric));
  }
}

// How an expected failure failed; empty where the answer is of a stage that is right.
std::string expected_failure_in(const answer_record& answer) {
  const auto verification = optional_member<verification_record>(answer.content, "verification");
  if (!verification || !verification->failed_as_expected || !verification->failure) return "";
  return failure_text(*verification->failure);
}

// What Nsight Compute counts when nobody says what: the common counters, those that the stage's page speaks
// of, and those that it or another stage of its track claims.
std::vector<std::string> wanted_metrics(const track_selection& of, const stage_description& stage,
                                        const claims_by_stage& claims) {
  std::vector<std::string> wanted = common_metrics();
  const auto add = [&wanted](const std::vector<std::string>& metrics) {
    for (const std::string& metric : metrics) {
      if (!is_own(metric) && std::find(wanted.begin(), wanted.end(), metric) == wanted.end())
        wanted.push_back(metric);
    }
  };
  // The stage before a claim's is counted too, and may not be among those that were asked for.
  if (const auto own = claims.find(stage.path); own != claims.end()) add(own->second.metrics);
  for (const stage_description* one : of.stages) add(claimed_counters(claims.at(one->path)));
  return wanted;
}

// Runs Nsight Compute over one run of the stage. Every launch is a line of its table; a kernel's launches are
// added up.
stage_profile measure_counters(const profile_options& options, const std::vector<std::string>& worker,
                               const std::vector<std::string>& wanted, const stage_description& stage,
                               const parameter_values& parameters) {
  stage_profile result{.stage = stage.path};
  profile_request request;
  request.program = find_nsight_compute();
  request.worker = worker;
  request.message = {
      {"op", "once"}, {"stage", stage.path}, {"parameters", parameters}, {"seed", options.seed}};
  request.stage = stage.path;
  request.metrics = options.metrics.empty() ? wanted : options.metrics;
  const std::string report = report_path(options, stage.path);
  require_writable(report);
  const unfinished_report unfinished(report);
  request.report = unfinished.path();

  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(profile_timeout_seconds));
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  const command_result profiled = run_command(profile_command(request), limit);
  check_counter_permission(profiled.output);
  if (const auto answer = answer_in(profiled.output)) {
    if (answer->end == answer_end::error)
      throw environment_error(fmt::format("{}: {}", stage.path, answer_text(*answer)));
    if (answer->end == answer_end::failed) {
      result.failure = answer_text(*answer);
      return result;
    }
    result.expected_failure = expected_failure_in(*answer);
  }
  if (!options.metrics.empty() && profiled.output.find("Failed to find metric") != std::string::npos) {
    throw usage_error(fmt::format("--metrics: Nsight Compute does not know one of {}:\n{}",
                                  fmt::join(options.metrics, ", "), profiled.output));
  }
  if (profiled.ending.by_signal || profiled.ending.code != 0) {
    throw environment_error(
        fmt::format("Nsight Compute {}:\n{}", profiled.ending.description(), profiled.output));
  }
  if (!fs::exists(request.report)) {
    throw environment_error("Nsight Compute found no kernel in the stage's range:\n" + profiled.output);
  }

  const command_result imported = run_command(import_command(request), limit);
  if (imported.ending.by_signal || imported.ending.code != 0) {
    throw environment_error(
        fmt::format("Nsight Compute {}:\n{}", imported.ending.description(), imported.output));
  }
  result.counters = parse_counters(imported.output, request.metrics);
  result.profile = profile_of(result.counters);
  // Claims are tested at many sizes; nobody looks at a report of each.
  if (options.check) return result;
  fs::rename(unfinished.path(), report);
  result.report = report;
  return result;
}

// Asks the worker whose kernels are observed.
stage_profile model_counters(const profile_options& options, const worker_set& observed,
                             const stage_description& stage, const parameter_values& parameters) {
  stage_profile result{.stage = stage.path};
  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(profile_timeout_seconds));
  const answer_record answer = observed.request(
      {{"op", "counters"}, {"stage", stage.path}, {"parameters", parameters}, {"seed", options.seed}},
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  if (answer.end == answer_end::error) {
    if (answer.error != error_kind::unsupported && answer.error != error_kind::memory) {
      throw environment_error(fmt::format("{}: {}", stage.path, answer_text(answer)));
    }
    result.skipped = answer_text(answer);
    return result;
  }
  if (answer.end == answer_end::failed) result.failure = answer_text(answer);
  result.expected_failure = expected_failure_in(answer);
  if (const auto profile = optional_member<profile_record>(answer.content, "profile"))
    result.profile = *profile;
  return result;
}

// The page that explains the stage, or "" where the sources are not at hand.
std::string page_of(const stage_description& stage) {
  std::ifstream page(fmt::format("{}/stages/{}/README.md", LAB_SOURCE_ROOT, stage.path));
  return {std::istreambuf_iterator<char>(page), {}};
}

nlohmann::json profile_json(const stage_profile& found, const parameter_values& parameters) {
  nlohmann::json json = found;
  json["parameters"] = parameters;
  json["sources"] = text_or_null(digest_of(read_source_digests(), found.stage));
  return json;
}

void write_profile(const profile_options& options, const device_record& device, const nlohmann::json& found) {
  if (options.json_path.empty()) return;
  nlohmann::json document{{"schema", "kernel-lab-profile"},
                          {"version", 2},
                          {"seed", options.seed},
                          {"sources", text_or_null(read_source_digests().tree)},
                          {"device", device},
                          {"source", is_emulator(device) ? "emulator, modelled" : "Nsight Compute"}};
  document.update(found);
  write_file(options.json_path, json_text(document));
}

// A stage's counters at a track's parameters.
using counter_of_stages = std::function<stage_profile(
    const track_selection& of, const stage_description& stage, const parameter_values& parameters)>;

int check_claims(const profile_options& options, const std::vector<track_selection>& selections,
                 const claims_by_stage& claims, const device_record& device, const counter_of_stages& count) {
  std::vector<claim_verdict> verdicts;
  for (const auto& selection : selections) {
    check_counter_claims(
        selection, claims, device, profile_parameters(*selection.track, options.parameters),
        [&](const auto& stage, const auto& parameters) { return count(selection, stage, parameters); },
        [&](const claim_verdict& verdict) {
          std::printf("%s\n", verdict_text(verdict).c_str());
          std::fflush(stdout);
          verdicts.push_back(verdict);
        });
  }
  std::printf("%s (of counters; 'lab run --check' tests those of time)\n",
              verdicts_summary(verdicts).c_str());
  write_profile(options, device, {{"claims", verdicts}});
  return exit_code(verdicts);
}

int predict_counters(const profile_options& options, const track_selection& selection,
                     const claims_by_stage& claims, const device_record& device,
                     const counter_of_stages& count) {
  const stage_description& stage = *selection.stages.front();
  if (!stage.runnable) throw usage_error(fmt::format("{}: {}", stage.path, stage.why_not));
  const stage_claims& own = claims.at(stage.path);
  if (!own.problem.empty()) throw usage_error(own.problem);
  const auto questions = questions_about(own, is_emulator(device));
  if (questions.empty())
    throw usage_error(fmt::format("{}: its page speaks of no counter that can be had here", stage.path));
  const parameter_values parameters = profile_parameters(*selection.track, options.parameters);
  const std::string title =
      fmt::format("{} on {}: {}", stage.path, device.name, parameters_text(*selection.track, parameters));
  answers given;
  if (!options.answers.empty()) {
    given = read_answers(options.answers, questions);
  } else if (isatty(STDIN_FILENO) != 0) {
    std::cout << title << "\n";
    given = ask(std::cin, std::cout, questions);
  } else {
    throw usage_error(fmt::format(
        "--predict asks on a terminal, and there is none; --answers FILE answers for it: a JSON object of {}",
        fmt::join(questions, ", ")));
  }

  const stage_profile found = count(selection, stage, parameters);
  nlohmann::json json = profile_json(found, parameters);
  const auto predictions = judge(questions, given, found.profile);
  json["predictions"] = predictions;
  write_profile(options, device, {{"stages", nlohmann::json::array({json})}});
  if (!found.failure.empty() || !found.skipped.empty()) {
    std::printf(
        "%s: %s\n", stage.path.c_str(),
        found.failure.empty() ? ("skipped: " + found.skipped).c_str() : ("FAIL: " + found.failure).c_str());
    return exit_stage_failed;
  }
  std::printf("\n%s\n%s", title.c_str(), predictions_table(predictions).c_str());
  const std::string reasoning = reasoning_of(page_of(stage));
  if (!reasoning.empty())
    std::printf("\nstages/%s/README.md says:\n\n%s", stage.path.c_str(), reasoning.c_str());
  return exit_ok;
}

}  // namespace

int profile_stages(const profile_options& options) {
  check_files({{"--answers", options.answers}}, {{"--json", options.json_path}});
  const stage_selector profiled = select_some(options.patterns);
  const connection connected = connect(options.device, with_whole_tracks(profiled, options.check));
  const auto selections = profiled(connected.description.tracks);
  check_parameters(selections, options.parameters, options.option_names);
  const device_record& device = *connected.description.device;
  const bool modelled = is_emulator(device);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  const bool several = selections.size() > 1 || selections.front().stages.size() > 1;
  if (options.predict && several)
    throw usage_error("--predict is about one stage, and several were asked for");
  if (!options.metrics.empty() && (options.predict || options.check))
    throw usage_error("--metrics chooses what is counted, and --check and --predict know that themselves");
  check_metrics(options.metrics, device);
  if (options.predict && options.check) throw usage_error("--predict and --check exclude each other");
  if (!modelled && !options.output.empty() && several)
    throw usage_error("--output names one report, and several stages were asked for");
  if (!modelled && !options.check) {
    std::vector<named_file> written{{"--json", options.json_path}};
    for (const auto& selection : selections) {
      for (const auto* stage : selection.stages)
        written.push_back({"the report of " + stage->path, report_path(options, stage->path)});
    }
    check_files({{"--answers", options.answers}}, written);
  }
  const worker_set observed(backend::observed);
  if (modelled && !observed.problem().empty()) throw environment_error(observed.problem());

  const claims_by_stage claims = read_claims(selections);
  const counter_of_stages count = [&](const track_selection& of, const stage_description& stage,
                                      const parameter_values& parameters) {
    if (!stage.broken.empty()) return stage_profile{.stage = stage.path, .failure = stage.broken};
    if (!stage.runnable) return stage_profile{.stage = stage.path, .skipped = stage.why_not};
    status_line status;
    status.show(fmt::format("{}: counting", stage.path));
    return modelled ? model_counters(options, observed, stage, parameters)
                    : measure_counters(options, connected.workers.command({{"stage", stage.path}}),
                                       wanted_metrics(of, stage, claims), stage, parameters);
  };
  if (options.check) return check_claims(options, selections, claims, device, count);
  if (options.predict) return predict_counters(options, selections.front(), claims, device, count);
  for (const auto& [path, own] : claims) {
    if (!own.problem.empty()) std::fprintf(stderr, "lab: %s\n", own.problem.c_str());
  }

  bool failed = false;
  nlohmann::json stages = nlohmann::json::array();
  for (const auto& selection : selections) {
    const parameter_values parameters = profile_parameters(*selection.track, options.parameters);
    std::vector<stage_profile> profiles;
    for (const stage_description* stage : selection.stages) {
      stage_profile found = count(selection, *stage, parameters);
      failed = failed || !found.failure.empty();
      stages.push_back(profile_json(found, parameters));
      profiles.push_back(std::move(found));
    }
    std::printf("\n%s on %s: %s\n%s", selection.track->name.c_str(), device.name.c_str(),
                parameters_text(*selection.track, parameters).c_str(),
                counters_table(profiles, options.metrics).c_str());
    if (options.source) std::printf("%s", annotated_sources(profiles).c_str());
    for (const auto& profile : profiles) {
      if (!profile.report.empty()) std::printf("report: %s\n", profile.report.c_str());
    }
    std::fflush(stdout);
  }
  write_profile(options, device, {{"stages", stages}});
  return failed ? exit_stage_failed : exit_ok;
}

}  // namespace lab::front
