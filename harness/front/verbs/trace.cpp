#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "common/utf8.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/draw/png_picture.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/timeline/timeline.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

struct trace_options {
  std::string stage;
  std::string baseline;  // a second stage of the track; empty: none
  std::string device;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::string
      output;  // the files' names without their endings; empty: named as the stage and what is chosen, here
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};

constexpr double trace_timeout_seconds = 600;

time_limits::seconds trace_timeout(const trace_options& options) {
  return time_limits::seconds(options.timeout_seconds.value_or(trace_timeout_seconds));
}

// "redact_04_two_pass.rows_600000": the stage and what was chosen.
std::string default_stem(const trace_options& options, const std::string& stage) {
  std::vector<parameter_argument> choices = options.parameters;
  if (options.device != trace_options{}.device) choices.push_back({"device", options.device});
  if (options.seed != trace_options{}.seed) choices.push_back({"seed", std::to_string(options.seed)});
  return stem_of_call(stage, choices);
}

struct trace_files {
  std::string perfetto;
  std::string picture;
  std::string report;  // Nsight Systems'
};

// Of NAME, or of the name of one of the files; NAME.png has the picture as PNG.
trace_files files_of(std::string stem) {
  const bool is_png = stem.ends_with(".png");
  for (const std::string ending : {".trace.json", ".svg", ".png", ".nsys-rep"}) {
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  }
  return {stem + ".trace.json", stem + (is_png ? ".png" : ".svg"), stem + ".nsys-rep"};
}

nlohmann::json trace_request(const char* op, const stage_description& stage,
                             const parameter_values& parameters, std::uint64_t seed) {
  return {{"op", op}, {"stage", stage.path}, {"parameters", parameters}, {"seed", seed}};
}

// Where Nsight Systems is; empty where it is not.
std::string find_nsight_systems() {
  std::vector<std::string> directories{"/usr/local/cuda/bin"};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/opt/nvidia/nsight-systems", error))
    directories.push_back((entry.path() / "bin").string());
  std::sort(directories.begin() + 1, directories.end(), std::greater<>());  // the newest first
  return find_program("nsys", directories);
}

// Nsight Systems' report of one run of the stage. Its trouble is told, and the timeline goes on without.
void keep_report(const trace_options& options, const std::vector<std::string>& worker,
                 const nlohmann::json& message, const std::string& report) {
  const std::string program = find_nsight_systems();
  if (program.empty()) {
    std::printf(
        "no report of Nsight Systems: nsys is not here (package nsight-systems); the timeline is CUPTI's\n");
    return;
  }
  std::vector<std::string> command{program,    "profile", "--trace=cuda,nvtx", "--force-overwrite=true",
                                   "--output", report};
  command.insert(command.end(), worker.begin(), worker.end());
  command.insert(command.end(), {"--once", message.dump()});
  const command_result done = run_command(command, trace_timeout(options));
  if (!done.ending.is_success()) {
    std::printf("no report of Nsight Systems: it %s\n", done.ending.description().c_str());
    return;
  }
  std::printf("report: %s\nopen:   nsys-ui %s\n", report.c_str(), report.c_str());
}

// The files of each stage. With a baseline --output names the stage's files, and the baseline keeps its own
// name; without it the name of the picture says that there are two. Throws where one cannot be written.
std::vector<trace_files> checked_files(const trace_options& options, const track_selection& selection,
                                       bool modelled) {
  std::vector<named_file> written{{"--json", options.json_path}};
  const stage_description* const asked = selection.stages.back();
  std::vector<trace_files> files;
  for (const stage_description* stage : selection.stages) {
    const bool is_named = stage == asked && !options.output.empty();
    files.push_back(files_of(is_named ? options.output : default_stem(options, stage->path)));
    written.push_back({"the trace of " + stage->path, files.back().perfetto});
    if (!modelled) written.push_back({"the report of " + stage->path, files.back().report});
  }
  if (selection.stages.size() > 1 && options.output.empty()) {
    files.back().picture =
        stem_of_call(default_stem(options, asked->path), {{"baseline", selection.stages.front()->path}}) +
        ".svg";
  }
  written.push_back({"the picture", files.back().picture});
  check_files({}, written);
  return files;
}

// Nothing where the stage has failed, which is told.
std::optional<stage_timeline> traced(const worker_set& workers, const stage_description& stage,
                                     const parameter_values& parameters, const trace_options& options) {
  if (!stage.broken.empty()) throw environment_error(fmt::format("{}: {}", stage.path, stage.broken));
  if (!stage.runnable) throw usage_error(fmt::format("{}: {}", stage.path, stage.why_not));
  status_line status;
  status.show(fmt::format("{}: tracing", stage.path));
  const answer_record answer =
      workers.request(trace_request("trace", stage, parameters, options.seed), trace_timeout(options));
  status.clear();
  if (answer.end == answer_end::error)
    throw environment_error(fmt::format("{}: {}", stage.path, answer_text(answer)));
  if (answer.end == answer_end::failed) {
    std::printf("%s: FAIL: %s\n", stage.path.c_str(), answer_text(answer).c_str());
    return std::nullopt;
  }
  return stage_timeline{stage.path, answer.content.at("trace").get<trace_record>()};
}

// Tells what the timelines show, and writes the traces and the picture.
void print_and_write(const std::vector<stage_timeline>& timelines, const std::vector<trace_files>& files,
                     const std::string& svg_program) {
  std::printf("%s", figures_table(timelines).c_str());
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    std::printf("\n%s\n%s", timelines[i].stage.c_str(), events_table(timelines[i]).c_str());
    write_file(files[i].perfetto, json_text(perfetto_json(timelines[i])));
  }
  const std::string picture = timeline_svg(timelines);
  write_file(files.back().picture, svg_program.empty() ? picture : png_of(picture, svg_program));
  std::printf("\n");
  for (const trace_files& one : files)
    std::printf("trace:   %s (https://ui.perfetto.dev opens it)\n", one.perfetto.c_str());
  std::printf("picture: %s\n", files.back().picture.c_str());
}

int trace_stage(const trace_options& options) {
  const stage_selector select = with_baseline(select_one(options.stage), options.baseline);
  const connection connected = connect(options.device, select);
  const track_selection selection = select(connected.description.tracks).front();
  check_parameters({selection}, options.parameters, options.option_names);
  const device_record& device = *connected.description.device;
  const bool modelled = is_emulator(device);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());

  const std::vector<trace_files> files = checked_files(options, selection, modelled);
  const std::string drawn_by = files.back().picture.ends_with(".png") ? svg_program() : "";
  // The page's sizes on a GPU, the emulator's own there.
  const parameter_values parameters = completed_parameters(
      *selection.track, options.parameters, modelled ? default_set::verify : default_set::bench);
  std::vector<stage_timeline> timelines;
  for (const stage_description* stage : selection.stages) {
    auto one = traced(connected.workers, *stage, parameters, options);
    if (!one) return exit_stage_failed;
    timelines.push_back(std::move(*one));
  }

  std::printf("\n%s on %s: %s\n", selection.track->name.c_str(), device.name.c_str(),
              parameters_text(*selection.track, parameters).c_str());
  if (modelled) {
    std::printf(
        "  times are this host's, not a GPU's: the emulator runs a kernel within the call that launches "
        "it\n");
  }
  print_and_write(timelines, files, drawn_by);
  for (std::size_t i = 0; i < timelines.size() && !modelled; ++i) {
    keep_report(options, connected.workers.command({{"stage", timelines[i].stage}}),
                trace_request("once", *selection.stages[i], parameters, options.seed), files[i].report);
  }
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-trace"},
                                             {"version", 1},
                                             {"device", device},
                                             {"parameters", parameters},
                                             {"seed", options.seed},
                                             {"emulated", modelled},
                                             {"stages", timelines}}));
  }
  return exit_ok;
}

}  // namespace

verb trace_verb(CLI::App& program) {
  const auto options = std::make_shared<trace_options>();
  CLI::App* app = add_verb(program, "trace");
  add_stage(*app, options->stage);
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->add_option("--baseline", options->baseline, "trace this stage of the track, too, to compare with")
      ->type_name("STAGE");
  app->add_option(
         "--output", options->output,
         "of the files, without .trace.json, .svg, .nsys-rep, or with .png for a picture of that form "
         "(default: as the stage and the options, here)")
      ->type_name("NAME");
  add_seed(*app, options->seed);
  app->footer(parameter_help);
  return {.app = app,
          .perform = [options] { return trace_stage(*options); },
          .needs =
              [options] {
                return build_request{options->device,
                                     with_baseline(select_one(options->stage), options->baseline)};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

}  // namespace lab::front
