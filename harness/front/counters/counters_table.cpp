#include "harness/front/counters/counters_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "harness/front/counters/known_counters.hpp"
#include "harness/front/output/table.hpp"

namespace lab::front {
namespace {

bool is_sum(const std::string& metric) {
  const std::string suffix = ".sum";
  return metric.size() > suffix.size() &&
         metric.compare(metric.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string marked(const std::string& text, bool modelled) {
  return modelled ? text + " modelled" : text;
}

// A metric's name with its unit, where Nsight Compute has told one.
std::string with_unit(const std::string& metric, const std::vector<stage_profile>& stages) {
  for (const auto& stage : stages) {
    for (const auto& one : stage.counters) {
      if (one.metric == metric && !one.unit.empty()) return fmt::format("{} ({})", metric, one.unit);
    }
  }
  return metric;
}

std::string stage_name(const std::string& path) {
  return path.substr(path.find('/') + 1);
}

std::vector<std::string> metrics_of(const std::vector<stage_profile>& stages) {
  std::set<std::string> names;
  for (const auto& stage : stages) {
    for (const auto& kernel : stage.profile.kernels) {
      for (const auto& [name, value] : kernel.metrics) {
        if (value != 0) names.insert(name);
      }
    }
  }
  return {names.begin(), names.end()};
}

// What is shown beside a line: the counters that stages are about, in few columns.
struct line_column {
  std::string heading;
  std::vector<std::string> metrics;  // more than one are shown with a stroke between
};

const std::vector<line_column>& line_columns() {
  static const std::vector<line_column> columns = [] {
    std::vector<line_column> all;
    for (const known_counter& counter : known_counters()) {
      if (counter.column.empty()) continue;
      if (all.empty() || all.back().heading != counter.column) all.push_back({counter.column, {}});
      all.back().metrics.push_back(counter.name);
    }
    return all;
  }();
  return columns;
}

std::string cell(const metric_values& metrics, const line_column& column) {
  std::string text;
  bool any = false;
  for (const std::string& metric : column.metrics) {
    const auto found = metrics.find(metric);
    const double value = found == metrics.end() ? 0 : found->second;
    any = any || value != 0;
    text += (text.empty() ? "" : "/") + (is_sum(metric) ? plain_figure(value) : fmt::format("{:.1f}", value));
  }
  return any ? text : "";
}

void add_file(std::string& text, const std::string& file, const std::string& source,
              const std::map<std::int64_t, metric_values>& lines, const stage_profile& stage) {
  std::vector<const line_column*> shown;
  for (const auto& column : line_columns()) {
    const bool used = std::any_of(lines.begin(), lines.end(),
                                  [&](const auto& line) { return !cell(line.second, column).empty(); });
    if (used) shown.push_back(&column);
  }
  text += fmt::format(
      "\n{}: global memory: requests/sectors; shared memory: wavefronts/conflicts; lanes: active, on "
      "average{}\n",
      file, stage.profile.modelled ? "; all modelled" : "");
  table_rows rows{{}};
  for (const auto* column : shown) rows.front().push_back(column->heading);
  const bool has_accesses = !stage.accesses.empty();
  if (has_accesses) rows.front().push_back("accesses");
  rows.front().push_back("line");
  std::istringstream stream(source);
  std::int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    const auto found = lines.find(++number);
    std::vector<std::string> row;
    for (const auto* column : shown) row.push_back(found == lines.end() ? "" : cell(found->second, *column));
    if (has_accesses) {
      const auto how = stage.accesses.find({file, number});
      row.push_back(how == stage.accesses.end() ? "" : how->second);
    }
    row.push_back(std::to_string(number));
    row.push_back(line);
    rows.push_back(std::move(row));
  }
  std::vector<alignment> columns(shown.size() + (has_accesses ? 2 : 1), alignment::right);
  columns.push_back(alignment::left);
  text += aligned_text(rows, columns);
}

}  // namespace

std::string plain_figure(double value) {
  return value == std::round(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.3f}", value);
}

void to_json(nlohmann::json& json, const stage_profile& stage) {
  json = {{"stage", stage.stage},
          {"skipped", text_or_null(stage.skipped)},
          {"failure", text_or_null(stage.failure)},
          {"expected_failure", text_or_null(stage.expected_failure)},
          {"profile", stage.profile},
          {"report", text_or_null(stage.report)},
          {"counters", stage.counters}};
}

profile_record profile_of(const std::vector<counter>& counters) {
  profile_record profile{.modelled = false};
  std::map<std::string, std::set<std::string>> launches;
  for (const counter& one : counters) {
    double value = 0;
    std::size_t used = 0;
    try {
      value = std::stod(one.value, &used);
    } catch (const std::exception&) {  // "n/a"
    }
    if (used == 0 || used != one.value.size()) continue;
    auto kernel = std::find_if(profile.kernels.begin(), profile.kernels.end(),
                               [&](const auto& known) { return known.name == one.kernel; });
    if (kernel == profile.kernels.end()) kernel = profile.kernels.insert(kernel, {.name = one.kernel});
    launches[one.kernel].insert(one.launch);
    kernel->launches = static_cast<std::int64_t>(launches[one.kernel].size());
    kernel->metrics[one.metric] += value;
  }
  for (auto& kernel : profile.kernels) {
    for (auto& [name, value] : kernel.metrics) {
      if (!is_sum(name)) value /= static_cast<double>(kernel.launches);
    }
  }
  return profile;
}

std::optional<double> metric_of(const profile_record& profile, const std::string& metric) {
  double sum = 0;
  int kernels = 0;
  for (const auto& kernel : profile.kernels) {
    const auto found = kernel.metrics.find(metric);
    if (found == kernel.metrics.end()) continue;
    sum += found->second;
    ++kernels;
  }
  if (kernels == 0) return std::nullopt;
  return is_sum(metric) ? sum : sum / kernels;
}

std::string counters_table(const std::vector<stage_profile>& stages,
                           const std::vector<std::string>& metrics) {
  const std::vector<std::string> rows = metrics.empty() ? metrics_of(stages) : metrics;
  table_rows table(1 + rows.size());
  table[0].push_back("");
  for (std::size_t row = 0; row < rows.size(); ++row) table[row + 1].push_back(with_unit(rows[row], stages));
  for (const auto& stage : stages) {
    if (!stage.skipped.empty()) continue;
    table[0].push_back(stage_name(stage.stage));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto value = metric_of(stage.profile, rows[row]);
      table[row + 1].push_back(value ? marked(plain_figure(*value), stage.profile.modelled) : "-");
    }
  }
  std::string text = aligned_text(table, {alignment::left, alignment::right});
  for (const auto& stage : stages) {
    for (const auto& kernel : stage.profile.kernels) {
      text += fmt::format("{}: {}, launched {}\n", stage_name(stage.stage), kernel.name,
                          kernel.launches == 1 ? "once" : fmt::format("{} times", kernel.launches));
    }
    if (!stage.skipped.empty()) text += fmt::format("{}: skipped: {}\n", stage.stage, stage.skipped);
    if (!stage.failure.empty()) text += fmt::format("{}: FAIL: {}\n", stage.stage, stage.failure);
    if (!stage.expected_failure.empty()) {
      text +=
          fmt::format("{}: expected failure, fails as expected: {}\n", stage.stage, stage.expected_failure);
    }
    for (const auto& diagnostic : stage.profile.diagnostics)
      text += fmt::format("{}: {}\n", stage.stage, diagnostic);
  }
  return text;
}

std::string annotated_sources(const std::vector<stage_profile>& stages) {
  std::string text;
  for (const auto& stage : stages) {
    for (const auto& [file, source] : stage.profile.sources) {
      // A line that stands in several functions is shown with the counters of all of them.
      std::map<std::int64_t, metric_values> lines;
      for (const auto& kernel : stage.profile.kernels) {
        for (const auto& line : kernel.lines) {
          if (line.file != file) continue;
          for (const auto& [name, value] : line.metrics) {
            double& shown = lines[line.line][name];
            shown = is_sum(name) ? shown + value : std::max(shown, value);
          }
        }
      }
      add_file(text, file, source, lines, stage);
    }
  }
  return text;
}

}  // namespace lab::front
