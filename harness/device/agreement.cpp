#include "harness/device/agreement.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "common/process_group.hpp"

namespace lab {
namespace {

nlohmann::json json_of(const check_result& result) {
  return {{"compared", result.compared},
          {"largest_error", number_or_name(result.largest_error)},
          {"relative_error", number_or_name(result.relative_error)},
          {"failure", value_or_null(result.failure)}};
}

std::string rank_text(std::size_t rank) {
  return " on rank " + std::to_string(rank) + " of " + std::to_string(processes::count());
}

}  // namespace

check_result agreed(check_result own) {
  if (!processes::are_several()) return own;
  // Everybody has sent what he sends before anybody has all of these.
  processes::meet();
  if (std::string rest = processes::left_over(); !rest.empty() && !own.failure)
    own.failure = failure_record{.kind = failure_kind::wrong, .found = std::move(rest)};
  const std::vector<std::string> all = processes::gather(text_of(json_of(own)));
  own.compared = 0;
  own.failure.reset();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const nlohmann::json theirs = json_from(all[rank]);
    own.compared += theirs.at("compared").get<std::int64_t>();
    own.largest_error = std::max(own.largest_error, number_from(theirs.at("largest_error")));
    own.relative_error = std::max(own.relative_error, number_from(theirs.at("relative_error")));
    auto failure = optional_member<failure_record>(theirs, "failure");
    // Without an index it is nobody's output, and comes first.
    const bool is_earlier =
        failure && (!own.failure || failure->index.value_or(-1) < own.failure->index.value_or(-1));
    if (!is_earlier) continue;
    failure->found += rank_text(rank);
    own.failure = std::move(failure);
  }
  return own;
}

answer_record agreed(const answer_record& own) {
  if (!processes::are_several()) return own;
  nlohmann::json references = nlohmann::json::object();
  std::optional<answer_record> chosen;
  const std::vector<std::string> all = processes::gather(text_of(own));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const nlohmann::json theirs = json_from(all[rank]);
    if (theirs.contains("references")) references.update(theirs.at("references"));
    auto answer = theirs.get<answer_record>();
    const bool is_first_fault = answer.end != answer_end::ok && (!chosen || chosen->end == answer_end::ok);
    if (is_first_fault && rank > 0) answer.message += rank_text(rank);
    if (!chosen || is_first_fault) chosen = std::move(answer);
  }
  if (!references.empty()) chosen->content["references"] = std::move(references);
  return *chosen;
}

}  // namespace lab
