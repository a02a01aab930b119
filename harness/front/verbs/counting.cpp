#include "harness/front/verbs/counting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "common/file.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/counters/nsight_compute.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"

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

time_limits::seconds timeout_of(const profile_options& options) {
  return time_limits::seconds(options.timeout_seconds.value_or(profile_timeout_seconds));
}

// Whether the stage ran, and right. What cannot run with these parameters is skipped. Throws
// environment_error.
void read_end(const answer_record& answer, stage_profile& result) {
  if (answer.end == answer_end::error) {
    if (answer.error != error_kind::unsupported && answer.error != error_kind::memory)
      throw environment_error(fmt::format("{}: {}", result.stage, answer_text(answer)));
    result.skipped = answer_text(answer);
  } else if (answer.end == answer_end::failed) {
    result.failure = answer_text(answer);
  } else {
    result.expected_failure = expected_failure_in(answer);
  }
}

// What the worker says of the stage, among what Nsight Compute prints.
void read_answer(const std::string& output, stage_profile& result) {
  check_counter_permission(output);
  const auto answer = answer_in(output);
  if (!answer) return;
  result.outputs = answer->content.value("outputs", std::int64_t{0});
  read_end(*answer, result);
}

void check_ending(const command_result& done) {
  if (!done.ending.is_success())
    throw environment_error(fmt::format("Nsight Compute {}:\n{}", done.ending.description(), done.output));
}

// That Nsight Compute counted, and left a report.
void check_profiled(const profile_options& options, const profile_request& request,
                    const command_result& profiled) {
  if (!options.metrics.empty() && profiled.output.find("Failed to find metric") != std::string::npos) {
    throw usage_error(fmt::format("--metrics: Nsight Compute does not know one of {}:\n{}",
                                  fmt::join(options.metrics, ", "), profiled.output));
  }
  check_ending(profiled);
  if (!fs::exists(request.report))
    throw environment_error("Nsight Compute found no kernel in the stage's range:\n" + profiled.output);
}

}  // namespace

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

stage_profile measure_counters(const profile_options& options, const std::vector<std::string>& worker,
                               const std::vector<std::string>& wanted, const stage_description& stage,
                               const parameter_values& parameters) {
  const std::string report = report_path(options, stage.path);
  require_writable(report);
  const unfinished_report unfinished(report);
  const profile_request request{
      .program = find_nsight_compute(),
      .worker = worker,
      .message = {{"op", "once"}, {"stage", stage.path}, {"parameters", parameters}, {"seed", options.seed}},
      .stage = stage.path,
      .metrics = options.metrics.empty() ? wanted : options.metrics,
      .full = options.full,
      .report = unfinished.path()};
  const command_result profiled = run_command(profile_command(request), timeout_of(options));
  stage_profile result{.stage = stage.path};
  read_answer(profiled.output, result);
  if (!result.failure.empty() || !result.skipped.empty()) return result;
  check_profiled(options, request, profiled);
  const command_result imported = run_command(import_command(request), timeout_of(options));
  check_ending(imported);
  result.counters = parse_counters(imported.output, request.metrics);
  result.profile = profile_of(result.counters);
  // Claims are tested at many sizes; nobody looks at a report of each.
  if (options.check) return result;
  fs::rename(unfinished.path(), report);
  result.report = report;
  return result;
}

stage_profile model_counters(const profile_options& options, const worker_set& observed,
                             const stage_description& stage, const parameter_values& parameters) {
  stage_profile result{.stage = stage.path};
  const answer_record answer = observed.request(
      {{"op", "counters"}, {"stage", stage.path}, {"parameters", parameters}, {"seed", options.seed}},
      timeout_of(options));
  read_end(answer, result);
  if (const auto profile = optional_member<profile_record>(answer.content, "profile"))
    result.profile = *profile;
  return result;
}

}  // namespace lab::front
