#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

// The data is a person's own, and may be large.
constexpr double apply_timeout_seconds = 600;

// Each path with the option that named it.
std::vector<named_file> named(const char* option, const std::vector<std::string>& paths) {
  std::vector<named_file> files;
  for (const auto& path : paths) files.push_back({option, path});
  return files;
}

std::vector<std::string> paths_for_worker(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const auto& path : paths) absolute.push_back(path_for_worker(path));
  return absolute;
}

// The stage that is applied, and to what.
struct application {
  stage_selection selected;
  parameter_values parameters;
  std::vector<std::string> inputs;  // absolute, as the worker is told of them
  std::vector<std::string> outputs;
};

answer_record ask_worker(const apply_options& options, connection& connected, const application& asked) {
  const std::string& stage = asked.selected.stage->path;
  status_line status;
  connected.workers.set_output_sink([&](const std::string& line) { status.print(line); });
  status.show(stage);
  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(apply_timeout_seconds));
  const answer_record answer = connected.workers.request(
      {{"op", "apply"},
       {"stage", stage},
       {"parameters", asked.parameters},
       {"inputs", asked.inputs},
       {"outputs", asked.outputs}},
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
      [&](const std::string& progress) { status.show(fmt::format("{}: {}", stage, progress)); });
  status.clear();
  if (answer.end == answer_end::error)
    throw environment_error(fmt::format("{}: {}", stage, answer_text(answer)));
  return answer;
}

// Says what became of the stage, and returns the exit code.
int tell(const result_row& row, const std::vector<std::string>& outputs) {
  if (row.status != row_status::ok && row.status != row_status::expected_failure) {
    std::printf("%s: FAIL: %s\n", row.stage.c_str(), row.message.c_str());
    return exit_stage_failed;
  }
  if (row.status == row_status::expected_failure) {
    std::printf("%s is an expected failure, and what it made is wrong (%s)\n", row.stage.c_str(),
                row.message.c_str());
  }
  for (const auto& path : outputs) std::printf("%s: wrote %s\n", row.stage.c_str(), path.c_str());
  return exit_ok;
}

}  // namespace

int apply_stage(const apply_options& options) {
  auto written = named("--output", options.outputs);
  written.push_back({"--json", options.json_path});
  check_files(named("--input", options.inputs), written);
  application asked{.inputs = paths_for_worker(options.inputs), .outputs = paths_for_worker(options.outputs)};

  connection connected = connect(options.device, select_one(options.stage));
  asked.selected = select_one_stage(connected.description.tracks, options.stage);
  const auto& [track, stage] = asked.selected;
  if (track->inputs > 0 && asked.inputs.empty())
    throw usage_error(fmt::format("--input is required: {} works on data", stage->path));
  check_parameters({{track, {stage}}}, options.parameters, options.option_names);
  asked.parameters = given_parameters(*track, options.parameters);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  if (!stage->broken.empty()) {
    std::printf("%s: FAIL: %s\n", stage->path.c_str(), stage->broken.c_str());
    return exit_stage_failed;
  }
  if (!stage->runnable)
    throw environment_error(fmt::format("{} does not run here: {}", stage->path, stage->why_not));

  result_row row = row_from(*stage, ask_worker(options, connected, asked), false);
  row.sources = digest_of(read_source_digests(), row.stage);
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-apply"},
                                             {"version", 1},
                                             {"device", value_or_null(connected.description.device)},
                                             {"parameters", asked.parameters},
                                             {"inputs", asked.inputs},
                                             {"outputs", asked.outputs},
                                             {"row", row}}));
  }
  return tell(row, options.outputs);
}

}  // namespace lab::front
