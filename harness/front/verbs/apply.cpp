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

}  // namespace

int apply_stage(const apply_options& options) {
  auto written = named("--output", options.outputs);
  written.push_back({"--json", options.json_path});
  check_files(named("--input", options.inputs), written);
  const auto inputs = paths_for_worker(options.inputs);
  const auto outputs = paths_for_worker(options.outputs);

  connection connected = connect(options.device, select_one(options.stage));
  const stage_selection selected = select_one_stage(connected.description.tracks, options.stage);
  if (selected.track->inputs > 0 && inputs.empty())
    throw usage_error(fmt::format("--input is required: {} works on data", selected.stage->path));
  check_parameters({{selected.track, {selected.stage}}}, options.parameters, options.option_names);
  const parameter_values parameters = given_parameters(*selected.track, options.parameters);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  if (!selected.stage->broken.empty()) {
    std::printf("%s: FAIL: %s\n", selected.stage->path.c_str(), selected.stage->broken.c_str());
    return exit_stage_failed;
  }
  if (!selected.stage->runnable) {
    throw environment_error(
        fmt::format("{} does not run here: {}", selected.stage->path, selected.stage->why_not));
  }

  status_line status;
  connected.workers.set_output_sink([&](const std::string& line) { status.print(line); });
  status.show(selected.stage->path);
  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(apply_timeout_seconds));
  const answer_record answer = connected.workers.request(
      {{"op", "apply"},
       {"stage", selected.stage->path},
       {"parameters", parameters},
       {"inputs", inputs},
       {"outputs", outputs}},
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout), [&](const std::string& progress) {
        status.show(fmt::format("{}: {}", selected.stage->path, progress));
      });
  status.clear();
  if (answer.end == answer_end::error)
    throw environment_error(fmt::format("{}: {}", selected.stage->path, answer_text(answer)));

  result_row row = row_from(*selected.stage, answer, false);
  row.sources = digest_of(read_source_digests(), row.stage);
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-apply"},
                                             {"version", 1},
                                             {"device", value_or_null(connected.description.device)},
                                             {"parameters", parameters},
                                             {"inputs", inputs},
                                             {"outputs", outputs},
                                             {"row", row}}));
  }
  if (row.status == row_status::ok) {
    for (const auto& path : options.outputs) std::printf("%s: wrote %s\n", row.stage.c_str(), path.c_str());
    return exit_ok;
  }
  if (row.status == row_status::expected_failure) {
    std::printf("%s is an expected failure, and what it made is wrong (%s)\n", row.stage.c_str(),
                row.message.c_str());
    for (const auto& path : options.outputs) std::printf("%s: wrote %s\n", row.stage.c_str(), path.c_str());
    return exit_ok;
  }
  std::printf("%s: FAIL: %s\n", row.stage.c_str(), row.message.c_str());
  return exit_stage_failed;
}

}  // namespace lab::front
