#include "harness/front/claims/predictions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/file.hpp"
#include "harness/front/claims/claims.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

// A prediction this close has understood what happens, and missed an edge of the grid or a partial warp.
constexpr double close_enough = 0.10;

std::string meaning_of(const std::string& metric) {
  const known_counter* known = find_counter(metric);
  return known == nullptr ? metric : fmt::format("{} ({})", metric, known->meaning);
}

// A heading's text where the line begins a section, "**Idea.** ..." or "## Idea"; else nothing.
std::optional<std::string> heading_of(const std::string& line) {
  if (line.rfind("**", 0) == 0 && line.find("**", 2) != std::string::npos) return line.substr(2);
  if (line.rfind("##", 0) == 0) return line.substr(std::min(line.find_first_not_of("# "), line.size()));
  return std::nullopt;
}

}  // namespace

std::vector<std::string> questions_about(const stage_claims& stage, bool modelled) {
  std::vector<std::string> questions;
  std::vector<std::string> candidates = stage.metrics;
  const auto claimed = claimed_counters(stage);
  candidates.insert(candidates.end(), claimed.begin(), claimed.end());
  for (const std::string& metric : candidates) {
    const bool known = modelled ? is_modelled(metric) : !is_own(metric);
    if (known && std::find(questions.begin(), questions.end(), metric) == questions.end())
      questions.push_back(metric);
  }
  return questions;
}

std::optional<double> parse_answer(const std::string& text) {
  const auto parts = matched_groups(text, R"(\s*(\d{1,3}(,\d{3})+|\d+(_\d+)*)(\.\d+)?\s*)");
  if (parts.empty()) return std::nullopt;
  std::string digits = parts[1] + parts[4];
  digits.erase(std::remove_if(digits.begin(), digits.end(), [](char c) { return c == ',' || c == '_'; }),
               digits.end());
  const double value = std::strtod(digits.c_str(), nullptr);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

answers ask(std::istream& in, std::ostream& out, const std::vector<std::string>& metrics) {
  out << "What do you predict? A number for each counter, or ? to skip it.\n";
  answers given;
  for (const std::string& metric : metrics) {
    for (;;) {
      out << "  " << meaning_of(metric) << ": " << std::flush;
      std::string line;
      if (!std::getline(in, line)) {
        out << "\n";
        throw usage_error("the answers ended before the questions; nothing was run");
      }
      if (line.find_first_not_of(" \t\r") != std::string::npos && line.find('?') != std::string::npos) break;
      if (const auto value = parse_answer(line)) {
        given[metric] = *value;
        break;
      }
      out << "  That is neither a number (such as 1024, 1,024 or 8.5) nor ?.\n";
    }
  }
  return given;
}

answers read_answers(const std::string& path, const std::vector<std::string>& metrics) {
  const auto document = nlohmann::json::parse(read_text(path), nullptr, false);
  if (!document.is_object()) {
    throw usage_error(fmt::format("{} must hold one JSON object, metric: number, such as {{\"{}\": 1024}}",
                                  path, metrics.empty() ? "metric" : metrics.front()));
  }
  answers given;
  for (const auto& [metric, value] : document.items()) {
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      throw usage_error(fmt::format("{}: there is no question '{}'; the questions are {}", path, metric,
                                    fmt::join(metrics, ", ")));
    }
    if (!value.is_number() || value.get<double>() < 0) {
      throw usage_error(fmt::format("{}: the answer for {} must be a number from 0 up, not {}", path, metric,
                                    value.dump()));
    }
    given[metric] = value.get<double>();
  }
  return given;
}

std::string verdict_of(const judged_prediction& prediction) {
  if (!prediction.predicted) return "skipped";
  if (!prediction.figure) return "no figure";
  const double predicted = *prediction.predicted;
  const double figure = *prediction.figure;
  // A ratio is shown, and so predicted, with three digits after the point.
  if (predicted == figure || std::abs(predicted - figure) < 0.0005) return "exact";
  if (predicted == 0 || figure == 0)
    return fmt::format("off by {}", plain_figure(std::abs(predicted - figure)));
  const double error = std::abs(predicted / figure - 1);
  if (error <= close_enough) return fmt::format("within {} %", std::ceil(100 * error));
  const double factor = std::max(predicted / figure, figure / predicted);
  return fmt::format("off by a factor of {}",
                     factor < 1000 ? fmt::format("{:.3g}", factor) : plain_figure(std::round(factor)));
}

void to_json(nlohmann::json& json, const judged_prediction& prediction) {
  json = {{"metric", prediction.metric},
          {"predicted", value_or_null(prediction.predicted)},
          {"figure", value_or_null(prediction.figure)},
          {"modelled", prediction.modelled},
          {"verdict", verdict_of(prediction)}};
}

std::vector<judged_prediction> judge(const std::vector<std::string>& metrics, const answers& given,
                                     const profile_record& profile) {
  std::vector<judged_prediction> predictions;
  for (const std::string& metric : metrics) {
    const auto answer = given.find(metric);
    predictions.push_back({.metric = metric,
                           .predicted = answer == given.end() ? std::nullopt : std::optional(answer->second),
                           .figure = metric_of(profile, metric),
                           .modelled = profile.modelled});
  }
  return predictions;
}

std::string predictions_table(const std::vector<judged_prediction>& predictions) {
  table_rows rows{{"", "predicted", "figure", "verdict"}};
  for (const judged_prediction& one : predictions) {
    std::string figure = one.figure ? plain_figure(*one.figure) : "-";
    if (one.figure && one.modelled) figure += " modelled";
    rows.push_back({one.metric, one.predicted ? plain_figure(*one.predicted) : "-", figure, verdict_of(one)});
  }
  return aligned_text(rows, {alignment::left, alignment::right, alignment::right, alignment::left});
}

std::string sections_of(const std::string& page,
                        const std::function<bool(const std::string& heading)>& is_wanted) {
  std::istringstream lines(page);
  std::string text;
  bool wanted = false;
  bool generated = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("<!-- /", 0) == 0) {
      generated = false;
      continue;
    }
    if (line.rfind("<!-- ", 0) == 0) generated = true;
    if (generated) continue;
    if (const auto heading = heading_of(line)) wanted = is_wanted(*heading);
    const bool doubled_gap = line.empty() && (text.empty() || text.rfind("\n\n") == text.size() - 2);
    if (wanted && !doubled_gap) text += line + "\n";
  }
  return text;
}

std::string reasoning_of(const std::string& page) {
  std::string text = sections_of(page, [](const std::string& heading) {
    return heading.starts_with("Predict") || heading.starts_with("Why") || heading.starts_with("What Nsight");
  });
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? text : text + "\n";
}

}  // namespace lab::front
