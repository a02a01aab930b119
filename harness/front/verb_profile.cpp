#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "harness/front/child_process.hpp"
#include "harness/front/devices.hpp"
#include "harness/front/errors.hpp"
#include "harness/front/file_output.hpp"
#include "harness/front/format.hpp"
#include "harness/front/nsight_compute.hpp"
#include "harness/front/terminal.hpp"
#include "harness/front/verbs.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;

// Each metric may take several replays of the kernel.
constexpr double generous_seconds = 600;

// For a stage whose page names no metrics: how long, and how much memory was moved.
const std::vector<std::string> common_metrics{"gpu__time_duration.sum", "dram__bytes_read.sum",
                                              "dram__bytes_write.sum"};

// The values that were given, and the first default of every other parameter.
parameter_values profile_parameters(const track_description& track,
                                    const std::vector<parameter_argument>& arguments) {
  parameter_values values = given_parameters(track, arguments);
  for (const auto& parameter : track.parameters) {
    if (parameter.bench_defaults.empty()) continue;
    values.emplace(parameter.name, parameter.bench_defaults.front());
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

std::string table_text(const std::vector<counter>& counters) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& one : counters) {
    name_width = std::max(name_width, display_width(one.metric));
    value_width = std::max(value_width, display_width(one.value));
  }
  std::string text;
  std::string launch;
  for (const auto& one : counters) {
    const std::string heading = fmt::format("{}: {}\n", one.launch, one.kernel);
    if (heading != launch) text += heading;
    launch = heading;
    text += fmt::format("  {}  {}  {}\n", padded_right(one.metric, name_width),
                        padded_left(one.value, value_width), one.unit);
  }
  return text;
}

}  // namespace

int profile_stage(const profile_options& options) {
  if (!options.json_path.empty()) check_writable(options.json_path);
  connection connected = connect(options.device);
  const stage_selection selected = select_one_stage(connected.description.tracks, options.stage);
  const stage_description& stage = *selected.stage;
  check_parameters({{selected.track, {selected.stage}}}, options.parameters, options.option_names);
  const parameter_values parameters = profile_parameters(*selected.track, options.parameters);
  const device_record& device = *connected.description.device;
  if (is_emulator(device)) {
    throw environment_error("profile needs a CUDA device and Nsight Compute in this version" +
                            (connected.note.empty() ? std::string() : "; here there is " + connected.note));
  }
  if (!stage.runnable)
    throw environment_error(fmt::format("{} does not run here: {}", stage.path, stage.why_not));

  profile_request request;
  request.program = find_nsight_compute();
  request.worker = connected.process.arguments();
  request.message = {
      {"op", "once"}, {"stage", stage.path}, {"parameters", parameters}, {"seed", options.seed}};
  request.stage = stage.path;
  request.metrics = !options.metrics.empty() ? options.metrics
                    : stage.metrics.empty()  ? common_metrics
                                             : stage.metrics;
  const std::string report = report_path(options, stage.path);
  check_writable(report);
  const unfinished_report unfinished(report);
  request.report = unfinished.path();
  // The profiler starts a worker of its own, and the device should be its alone.
  connected.process.stop();

  status_line status;
  status.show(fmt::format("{}: profiling", stage.path));
  const std::chrono::duration<double> timeout(options.timeout_seconds.value_or(generous_seconds));
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  const command_result profiled = run_command(profile_command(request), limit);
  status.clear();
  check_counter_permission(profiled.output);
  if (const auto answer = answer_in(profiled.output)) {
    if (answer->end == answer_end::error)
      throw environment_error(fmt::format("{}: {}", stage.path, answer_text(*answer)));
    if (answer->end == answer_end::failed) {
      std::printf("%s: FAIL: %s\n", stage.path.c_str(), answer_text(*answer).c_str());
      return exit_stage_failed;
    }
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
  const auto counters = parse_counters(imported.output, request.metrics);
  fs::rename(unfinished.path(), report);
  std::printf("%s on %s: %s\n%s\nreport: %s\n", stage.path.c_str(), device.name.c_str(),
              parameters_text(*selected.track, parameters).c_str(), table_text(counters).c_str(),
              report.c_str());
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-profile"},
                                             {"version", 1},
                                             {"stage", stage.path},
                                             {"parameters", parameters},
                                             {"seed", options.seed},
                                             {"device", device},
                                             {"source", "Nsight Compute"},
                                             {"report", report},
                                             {"counters", counters}}));
  }
  return exit_ok;
}

}  // namespace lab
