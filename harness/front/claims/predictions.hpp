// Predict, then measure: what a person expects of a stage's counters, and how far it is from the figures
// (docs/predict.md).
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/claims/claims_file.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// What a person is asked about a stage: the counters that its page and its claims speak of, as far as the
// device has them.
[[nodiscard]] std::vector<std::string> questions_about(const stage_claims& stage, bool modelled);

using answers = std::map<std::string, double>;  // a metric that is not in it was skipped

// A number as people write it: 1024, 1,024 or 1_024, 0.5. Nothing for anything else, and below zero.
[[nodiscard]] std::optional<double> parse_answer(const std::string& text);

// Asks for each metric until the answer is a number, or "?" to skip it. Throws usage_error when `in` ends
// before.
[[nodiscard]] answers ask(std::istream& in, std::ostream& out, const std::vector<std::string>& metrics);

// An object of metrics and numbers. Throws usage_error for anything else, and for a metric that is not among
// `metrics`.
[[nodiscard]] answers read_answers(const std::string& path, const std::vector<std::string>& metrics);

struct judged_prediction {
  std::string metric;
  std::optional<double> predicted;  // nothing: skipped
  std::optional<double> figure;     // nothing: it was not found out
  bool modelled = false;
};
void to_json(nlohmann::json& json, const judged_prediction& prediction);

// "exact", "within 3 %", "off by a factor of 8", "off by 31", "skipped", "no figure". Up to 10 % is within.
[[nodiscard]] std::string verdict_of(const judged_prediction& prediction);

[[nodiscard]] std::vector<judged_prediction> judge(const std::vector<std::string>& metrics,
                                                   const answers& given, const profile_record& profile);

[[nodiscard]] std::string predictions_table(const std::vector<judged_prediction>& predictions);

// The lines of a page's sections, "**Idea.** ..." or "## Idea", whose heading `is_wanted` takes. Tables
// between markers are left out, and gaps are of one line.
[[nodiscard]] std::string sections_of(const std::string& page,
                                      const std::function<bool(const std::string& heading)>& is_wanted);

// The sections of a page that explain its figures: those whose headings begin with Predict, Why or What
// Nsight.
[[nodiscard]] std::string reasoning_of(const std::string& page);

}  // namespace lab::front
