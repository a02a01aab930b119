#include "harness/front/run/results.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/front/output/format.hpp"
#include "harness/front/process/build_info.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

// Two medians of the same bytes differ by this much from run to run even when each one's spread is small.
constexpr double min_noise = 0.02;
// However unsteady a row is, this much beyond the speed of light is not noise.
constexpr double max_noise = 0.05;

struct interval {
  double lower = 0;
  double upper = 0;
};

// Between which the middle half of the samples lies; of a record that does not tell, as wide about the
// median.
interval quartiles_of(const timing_record& timing) {
  if (timing.upper_quartile > 0) return {timing.lower_quartile, timing.upper_quartile};
  const double half = timing.median * timing.spread / 2;
  return {timing.median - half, timing.median + half};
}

// The same of a row, as wide as the medians of its processes lie apart.
interval likely_times(const result_row& row) {
  interval range = quartiles_of(*row.timing);
  for (const timing_record& process : row.processes) {
    range.lower = std::min(range.lower, process.median);
    range.upper = std::max(range.upper, process.median);
  }
  return range;
}

// base / row, unless the middle halves of their samples overlap: which of the two is faster is then a matter
// of chance. A row is as fast as itself.
std::optional<double> ratio_over(const result_row& base, const char* name, result_row& row) {
  const interval a = likely_times(base);
  const interval b = likely_times(row);
  const bool overlap = a.lower <= b.upper && b.lower <= a.upper;
  if (overlap && &base != &row) {
    row.undecided.emplace_back(name);
    return std::nullopt;
  }
  return base.timing->median / row.timing->median;
}

bool is_faster_than_light(const result_row& row, const ceiling_record& ceiling) {
  const double noise = std::clamp(row.timing->spread + ceiling.timing.spread, min_noise, max_noise);
  return row.speed_of_light.value_or(0) > 1 + noise;
}

}  // namespace

const ceiling_record* roof(const result_group& group, bool of_operations) {
  const ceiling_record* fastest = nullptr;
  for (const ceiling_record& one : group.ceilings) {
    if ((one.operations > 0) != of_operations) continue;
    if (fastest == nullptr || one.timing.median < fastest->timing.median) fastest = &one;
  }
  return fastest;
}

const ceiling_record* speed_of_light(const result_group& group) {
  const ceiling_record* const bytes = roof(group, false);
  const ceiling_record* const operations = roof(group, true);
  if (bytes == nullptr || operations == nullptr) return bytes == nullptr ? operations : bytes;
  return operations->timing.median > bytes->timing.median ? operations : bytes;
}

double process_range(const result_row& row) {
  if (row.processes.size() < 2) return 0;
  const auto [fastest, slowest] =
      std::minmax_element(row.processes.begin(), row.processes.end(),
                          [](const auto& a, const auto& b) { return a.median < b.median; });
  return slowest->median / fastest->median - 1;
}

void add_process(const result_row& before, result_row& row) {
  if (row.status != row_status::ok || !row.timing || !before.timing) return;
  std::vector<timing_record> processes = before.processes;
  if (processes.empty()) processes.push_back(*before.timing);
  processes.push_back(*row.timing);
  std::vector<const timing_record*> by_median;
  for (const timing_record& one : processes) by_median.push_back(&one);
  const auto middle = by_median.begin() + static_cast<std::ptrdiff_t>((by_median.size() - 1) / 2);
  std::nth_element(by_median.begin(), middle, by_median.end(),
                   [](const auto* a, const auto* b) { return a->median < b->median; });
  row.timing = **middle;
  row.processes = std::move(processes);
  if (process_range(row) > unstable_spread) row.timing->unstable = true;
}

void compare_rows(result_group& group) {
  const ceiling_record* ceiling = speed_of_light(group);
  const result_row* library = nullptr;
  for (auto& row : group.rows) {
    row.speed_of_light = row.over_previous = row.over_first = row.over_library = std::nullopt;
    row.undecided.clear();
    if (row.timing && ceiling != nullptr && !ceiling->cached)
      row.speed_of_light = ceiling->timing.median / row.timing->median;
    const bool is_faster = library == nullptr || (row.timing && row.timing->median < library->timing->median);
    if (row.timing && row.library && is_faster) library = &row;
  }
  const result_row* first = nullptr;
  const result_row* previous = nullptr;
  for (auto& row : group.rows) {
    if (!row.timing) continue;
    if (!row.library && first == nullptr) first = &row;
    if (previous != nullptr && !row.library) row.over_previous = ratio_over(*previous, "over_previous", row);
    if (first != nullptr) row.over_first = ratio_over(*first, "over_first", row);
    if (library != nullptr) row.over_library = ratio_over(*library, "over_library", row);
    if (!row.library) previous = &row;
  }
}

void reject_faster_than_light(result_group& group) {
  const ceiling_record* ceiling = speed_of_light(group);
  if (ceiling == nullptr) return;
  for (auto& row : group.rows) {
    if (!row.timing || !is_faster_than_light(row, *ceiling)) continue;
    row.status = row_status::failed;
    row.message = fmt::format("over the speed of light ({}): wrong byte model or a cache",
                              humanised_percentage(*row.speed_of_light));
    row.timing.reset();
    row.processes.clear();
  }
  compare_rows(group);
}

row_counts count_rows(const run_results& results) {
  row_counts counts;
  for (const auto& group : results.groups) {
    for (const auto& row : group.rows) {
      if (row.status == row_status::ok) ++counts.ok;
      if (row.status == row_status::failed) ++counts.failed;
      if (row.status == row_status::skipped) ++counts.skipped;
      if (row.status == row_status::expected_failure) ++counts.expected_failures;
    }
  }
  return counts;
}

int exit_code(const run_results& results) {
  const row_counts counts = count_rows(results);
  if (counts.failed > 0) return exit_stage_failed;
  return counts.ok + counts.expected_failures > 0 ? exit_ok : exit_usage;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

void to_json(nlohmann::json& json, const result_row& row) {
  const auto ratio = [](const std::optional<double>& value, const char* name) -> nlohmann::json {
    if (!value) return nullptr;
    return finite(*value, name);
  };
  json = {{"stage", row.stage},
          {"library", row.library},
          {"idea", row.idea},
          {"status", row_status_names[static_cast<int>(row.status)]},
          {"message", text_or_null(row.message)},
          {"verification", value_or_null(row.verification)},
          {"failure", value_or_null(row.failure)},
          {"proof", text_or_null(row.proof)},
          {"figures", row.figures ? figures_json(*row.figures) : nlohmann::json(nullptr)},
          {"timing", value_or_null(row.timing)},
          {"speed_of_light", ratio(row.speed_of_light, "speed_of_light")},
          {"over_previous", ratio(row.over_previous, "over_previous")},
          {"over_first", ratio(row.over_first, "over_first")},
          {"over_library", ratio(row.over_library, "over_library")},
          {"undecided", row.undecided},
          {"sources", text_or_null(row.sources)}};
  if (!row.processes.empty()) json["processes"] = row.processes;
}

void to_json(nlohmann::json& json, const result_group& group) {
  auto parameters = nlohmann::json::object();
  for (const auto& [name, value] : group.parameters) parameters[name] = value;
  const ceiling_record* ceiling = roof(group, false);
  json = {{"track", group.track},
          {"title", group.title},
          {"parameters", parameters},
          {"l2", to_string(group.l2)},
          {"fewest_bytes", ceiling == nullptr ? nlohmann::json(nullptr) : nlohmann::json(ceiling->bytes)},
          {"ceilings", group.ceilings},
          {"ceiling_problem", text_or_null(group.ceiling_problem)},
          {"rows", group.rows}};
}

void to_json(nlohmann::json& json, const claim_verdict& verdict) {
  json = {{"stage", verdict.stage},
          {"claim", value_or_null(verdict.claim)},
          {"status", claim_status_names[static_cast<int>(verdict.status)]},
          {"figure", value_or_null(verdict.figure)},
          {"modelled", verdict.modelled},
          {"why", text_or_null(verdict.why)}};
}

void to_json(nlohmann::json& json, const run_results& results) {
  // A ladder of which nothing was measured (yet) says nothing.
  auto groups = nlohmann::json::array();
  for (const auto& group : results.groups) {
    if (!group.rows.empty()) groups.push_back(group);
  }
  const build_info& build = this_build();
  json = {{"schema", "kernel-lab-results"},
          {"version", 1},
          {"verb", results.verb},
          {"created", results.created},
          {"complete", results.complete},
          {"program",
           {{"name", "Kernel Lab"},
            {"version", build.version},
            {"commit", build.commit},
            {"dirty", build.dirty},
            {"sources", text_or_null(results.sources)},
            {"compiler", build.compiler},
            {"flags", build.flags}}},
          {"kernels", results.kernels},
          {"device", value_or_null(results.device)},
          {"seed", results.seed},
          {"options", results.options},
          {"floor", value_or_null(results.floor)},
          {"groups", groups}};
  if (results.claims) json["claims"] = *results.claims;
}

}  // namespace lab::front
