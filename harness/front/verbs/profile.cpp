#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>

#include "harness/front/claims/claims.hpp"
#include "harness/front/claims/predictions.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/counters/nsight_compute.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/counting.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

constexpr std::chrono::minutes occupancy_timeout{10};  // nvcc compiles a stage six times

// By default the emulator's, the same on either device, so that their counters can be compared; or those that
// the stage's page times it with.
parameter_values profile_parameters(const track_description& track, const profile_options& options) {
  return completed_parameters(track, options.parameters,
                              options.bench_size ? default_set::bench : default_set::verify);
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
        selection, claims, device, profile_parameters(*selection.track, options),
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
  const parameter_values parameters = profile_parameters(*selection.track, options);
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

// Refuses options that make no sense together, or on this device.
void check_options(const profile_options& options, const std::vector<track_selection>& selections,
                   const device_record& device) {
  const bool modelled = is_emulator(device);
  const bool several = selections.size() > 1 || selections.front().stages.size() > 1;
  if (options.predict && several)
    throw usage_error("--predict is about one stage, and several were asked for");
  if (!options.metrics.empty() && (options.predict || options.check))
    throw usage_error("--metrics chooses what is counted, and --check and --predict know that themselves");
  check_metrics(options.metrics, device);
  if (!options.baseline.empty() && (options.predict || options.check))
    throw usage_error("--baseline shows two stages side by side, and --check and --predict show no table");
  if (options.full && (options.predict || options.check))
    throw usage_error("--full keeps a report to look at, and --check and --predict answer without one");
  if (options.full && modelled)
    throw usage_error(
        "--full keeps a report with all sections of Nsight Compute, which needs a GPU; the emulator models "
        "the "
        "counters that 'lab profile' shows without it");
  if (options.predict && options.check) throw usage_error("--predict and --check exclude each other");
  if (options.occupancy && (options.predict || options.check))
    throw usage_error("--occupancy is shown below the counters, and --check and --predict show no table");
  if (options.occupancy && !modelled)
    throw usage_error("--occupancy is arithmetic about a launch on the emulator: --device emulator");
  if (options.occupancy && find_program("nvcc", {"/usr/local/cuda/bin"}).empty())
    throw environment_error("--occupancy needs nvcc, of the CUDA Toolkit");
  if (!modelled && !options.output.empty() && several)
    throw usage_error("--output names one report, and several stages were asked for");
  if (modelled || options.check) return;
  std::vector<named_file> written{{"--json", options.json_path}};
  for (const auto& selection : selections) {
    for (const auto* stage : selection.stages)
      written.push_back({"the report of " + stage->path, report_path(options, stage->path)});
  }
  check_files({{"--answers", options.answers}}, written);
}

// Where the reports are, and the command that opens them.
void show_reports(const std::vector<stage_profile>& profiles, bool with_baseline) {
  std::vector<std::string> reports;
  for (const auto& profile : profiles) {
    if (profile.report.empty()) continue;
    std::printf("report: %s\n", profile.report.c_str());
    reports.push_back(profile.report);
  }
  if (reports.empty()) return;
  std::printf("open:   %s\n", open_command(reports).c_str());
  if (with_baseline && reports.size() == 2)
    std::printf("        'Add Baseline' in the first report shows the second's figures beside its own\n");
}

// What fits into a multiprocessor: reports/occupancy.py, which `lab view` shows as well.
nlohmann::json occupancy_of(const profile_options& options, const stage_profile& of,
                            const parameter_values& parameters) {
  if (!options.occupancy || !of.failure.empty() || !of.skipped.empty()) return nullptr;
  nlohmann::json kernels = nlohmann::json::array();
  for (const kernel_record& kernel : of.profile.kernels)
    kernels.push_back({{"name", kernel.name}, {"metrics", kernel.metrics}});
  std::vector<std::string> command{"/usr/bin/env",
                                   "python3",
                                   "-B",
                                   LAB_SOURCE_ROOT "/reports/occupancy.py",
                                   std::filesystem::read_symlink("/proc/self/exe"),
                                   of.stage,
                                   kernels.dump()};
  for (const auto& [name, value] : parameters) command.insert(command.end(), {"--" + name, value.text()});
  const command_result done = run_command(command, occupancy_timeout);
  if (!done.ending.is_success())
    throw environment_error(fmt::format("--occupancy: {}: {}", of.stage, done.output));
  return nlohmann::json::parse(done.output);
}

std::string occupancy_text(const std::string& stage, const nlohmann::json& kernels) {
  std::string text;
  for (const auto& kernel : kernels) {
    text += fmt::format("\n{}: {}: what fits into a multiprocessor, in blocks of {} threads\n", stage,
                        kernel.at("kernel").get<std::string>(), kernel.at("threads").get<std::int64_t>());
    table_rows rows{kernel.at("headings").get<std::vector<std::string>>()};
    for (const auto& row : kernel.at("rows")) rows.push_back(row.get<std::vector<std::string>>());
    text += aligned_text(rows, {alignment::left, alignment::right, alignment::right, alignment::right,
                                alignment::right, alignment::left});
  }
  return text;
}

int show_counters(const profile_options& options, const std::vector<track_selection>& selections,
                  const claims_by_stage& claims, const device_record& device,
                  const counter_of_stages& count) {
  for (const auto& [path, own] : claims) {
    if (!own.problem.empty()) std::fprintf(stderr, "lab: %s\n", own.problem.c_str());
  }
  bool failed = false;
  nlohmann::json stages = nlohmann::json::array();
  for (const auto& selection : selections) {
    const parameter_values parameters = profile_parameters(*selection.track, options);
    std::vector<stage_profile> profiles;
    std::string occupancies;
    for (const stage_description* stage : selection.stages) {
      stage_profile found = count(selection, *stage, parameters);
      failed = failed || !found.failure.empty();
      stages.push_back(profile_json(found, parameters));
      const nlohmann::json occupancy = occupancy_of(options, found, parameters);
      if (!occupancy.is_null()) stages.back()["occupancy"] = occupancy;
      occupancies += occupancy_text(found.stage, occupancy);
      profiles.push_back(std::move(found));
    }
    std::printf("\n%s on %s: %s\n%s", selection.track->name.c_str(), device.name.c_str(),
                parameters_text(*selection.track, parameters).c_str(),
                counters_table(profiles, options.metrics).c_str());
    if (options.source) std::printf("%s", annotated_sources(profiles).c_str());
    std::printf("%s", occupancies.c_str());
    show_reports(profiles, !options.baseline.empty());
    std::fflush(stdout);
  }
  nlohmann::json found{{"stages", stages}};
  if (!options.baseline.empty()) found["baseline"] = selections.front().stages.front()->path;
  write_profile(options, device, found);
  return failed ? exit_stage_failed : exit_ok;
}

int profile_stages(const profile_options& given) {
  profile_options options = given;
  check_files({{"--answers", options.answers}}, {{"--json", options.json_path}});
  const stage_selector profiled = with_baseline(select_some(options.patterns), options.baseline);
  const connection connected = connect(options.device, with_whole_tracks(profiled, options.check));
  const auto selections = profiled(connected.description.tracks);
  check_parameters(selections, options.parameters, options.option_names);
  const device_record& device = *connected.description.device;
  const bool modelled = is_emulator(device);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  check_options(options, selections, device);
  // A report that somebody opens should show what the page's times are of.
  options.bench_size = options.bench_size || options.full;
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
  return show_counters(options, selections, claims, device, count);
}

void add_predictions(CLI::App& app, profile_options& options) {
  app.add_flag("--predict", options.predict,
               "of one stage: ask for the counters first, then compare and explain");
  app.add_option("--answers", options.answers,
                 "answers for --predict: a JSON object, metric: number (default: the terminal asks)")
      ->type_name("FILE");
  app.callback([&options] { options.predict = options.predict || !options.answers.empty(); });
}

}  // namespace

verb profile_verb(CLI::App& program) {
  const auto options = std::make_shared<profile_options>();
  CLI::App* app = add_verb(program, "profile");
  app->add_option("stage", options->patterns,
                  "one stage: its path, or the beginning of it; or patterns, shell-style")
      ->type_name("STAGE")
      ->required();
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_names(*app, "--metrics", options->metrics,
            "Nsight Compute's names (default: those that the stages' pages speak of and those that the "
            "emulator models)")
      ->type_name("NAME[,NAME]");
  app->add_flag("--source", options->source, "show the source, with the counters of each line (emulator)");
  app->add_flag(
      "--occupancy", options->occupancy,
      "compile each kernel for sm_75 to sm_100 with nvcc, and name its registers, its shared memory and "
      "what limits the blocks on a multiprocessor; needs no GPU");
  app->add_flag("--check", options->check,
                "test what the stages' pages claim of their counters, and that expected failures fail");
  add_predictions(*app, *options);
  app->add_flag(
      "--full", options->full,
      "keep a report with all sections of Nsight Compute and the sources, at the sizes of 'lab run'");
  app->add_flag("--bench-size", options->bench_size, "take the sizes of 'lab run' for what is not given");
  app->add_option("--baseline", options->baseline,
                  "profile this stage of the track, too, and show it first, to compare with")
      ->type_name("STAGE");
  app->add_option("--output", options->output,
                  "the report that is kept on a GPU (default: the stage's name here)")
      ->type_name("FILE.ncu-rep");
  add_seed(*app, options->seed);
  app->footer(
      std::string(parameter_help) +
      "\nBy default they have the emulator's sizes on either device, so that the counters can be compared.");
  return {.app = app,
          .perform = [options] { return profile_stages(*options); },
          .needs =
              [options] {
                return build_request{
                    .device = options->device,
                    .select = with_whole_tracks(
                        with_baseline(select_some(options->patterns), options->baseline), options->check),
                    .counts = true};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

}  // namespace lab::front
