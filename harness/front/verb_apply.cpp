#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "harness/front/devices.hpp"
#include "harness/front/errors.hpp"
#include "harness/front/file_output.hpp"
#include "harness/front/ladder.hpp"
#include "harness/front/terminal.hpp"
#include "harness/front/verbs.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;

// The data is a person's own, and may be large.
constexpr double generous_seconds = 600;

std::string readable_input(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw environment_error(fmt::format("no such file: {}", path));
  if (fs::is_directory(path, error)) throw environment_error(fmt::format("{} is a directory", path));
  if (access(path.c_str(), R_OK) != 0) throw environment_error(fmt::format("cannot read {}", path));
  return fs::absolute(path).string();
}

std::string writable_output(const std::string& path, const std::vector<std::string>& inputs) {
  check_writable(path);
  for (const auto& input : inputs) {
    std::error_code error;
    if (fs::equivalent(input, path, error))
      throw usage_error(fmt::format("{} is both input and output", path));
  }
  return fs::absolute(path).string();
}

}  // namespace

int apply_stage(const apply_options& options) {
  std::vector<std::string> inputs;
  for (const auto& path : options.inputs) inputs.push_back(readable_input(path));
  std::vector<std::string> outputs;
  for (const auto& path : options.outputs) outputs.push_back(writable_output(path, inputs));
  if (!options.json_path.empty()) check_writable(options.json_path);

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
  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(generous_seconds));
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

  const result_row row = row_from(*selected.stage, answer, false);
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
  if (row.status == row_status::specimen) {
    std::printf("%s is a specimen, and what it made is wrong (%s)\n", row.stage.c_str(), row.message.c_str());
    for (const auto& path : options.outputs) std::printf("%s: wrote %s\n", row.stage.c_str(), path.c_str());
    return exit_ok;
  }
  std::printf("%s: FAIL: %s\n", row.stage.c_str(), row.message.c_str());
  return exit_stage_failed;
}

}  // namespace lab
