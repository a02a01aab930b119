#include "harness/front/grade/time_against_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/front/grade/sealed_worker.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/workers/worker.hpp"

namespace lab::front {
namespace {

using std::chrono::milliseconds;

// Of the slower of the reference's medians over the faster, less one.
constexpr double steady_range = 0.1;
constexpr int most_attempts = 3;
// Inputs of many gigabytes are made and compared within one answer.
constexpr std::chrono::seconds reference_patience{180};
// A submission that needs more than so many times as long as the reference, everything counted, has no points
// for its time.
constexpr int patience_factor = 4;

}  // namespace

double share_of_points(double ratio) {
  return std::clamp((no_points_from - ratio) / (no_points_from - all_points_until), 0.0, 1.0);
}

void to_json(nlohmann::json& json, const timed_submission& timed) {
  json = {{"fault", text_or_null(timed.fault)},
          {"times_ns", timed.times},
          {"reference_times_ns", timed.reference_times},
          {"ratio", value_or_null(timed.ratio)}};
}

bool is_steady(const std::vector<double>& reference_times) {
  const auto [fastest, slowest] = std::minmax_element(reference_times.begin(), reference_times.end());
  return *slowest <= (1 + steady_range) * *fastest;
}

double ratio_of(const std::vector<double>& times, const std::vector<double>& reference_times) {
  return *std::min_element(times.begin(), times.end()) /
         *std::max_element(reference_times.begin(), reference_times.end());
}

time_against_reference::time_against_reference(stage_worker reference, timing_terms terms)
    : reference_(std::move(reference)), terms_(std::move(terms)) {
  const auto require_ok = [&](const result_row& row) {
    if (row.status != row_status::ok)
      throw environment_error(fmt::format("{} itself: {}", reference_.stage, row.message));
  };
  const result_row first = verified(reference_, reference_patience);
  require_ok(first);
  proved_ = first.verification;
  const auto began = std::chrono::steady_clock::now();
  answer_record answer;
  const result_row row = measured(reference_, *proved_, reference_patience, &answer);
  require_ok(row);
  const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
  patience_ = std::max(terms_.patience, patience_factor * took);
  reference_time_ = row.timing->median;
  const auto worked_out = answer.content.find("references");
  if (worked_out != answer.content.end()) references_ = worked_out->get<std::map<std::string, std::string>>();
}

answer_record time_against_reference::ask(const stage_worker& of, nlohmann::json message,
                                          milliseconds patience) const {
  message["stage"] = of.stage;
  message["seed"] = terms_.seed;
  message["trial_seed"] = terms_.trial_seed;
  message["references"] = references_;
  worker one = of.is_sealed ? sealed_worker(of.command) : worker(of.command);
  one.set_output_sink([](const std::string&) {});
  answer_record answer = one.request(message, patience);
  // The reference had room: what there is none for now, somebody else has taken.
  if (answer.end == answer_end::error && answer.error == error_kind::memory)
    throw environment_error(fmt::format("{}: {}", of.stage, answer.message));
  return answer;
}

result_row time_against_reference::verified(const stage_worker& of, milliseconds patience) const {
  const answer_record answer = ask(of, {{"op", "verify"}, {"thorough", false}}, patience);
  return row_from({.path = of.stage}, answer, false);
}

result_row time_against_reference::measured(const stage_worker& of, const verification_record& proved,
                                            milliseconds patience, answer_record* answer) const {
  answer_record found = ask(of,
                            {{"op", "measure"},
                             {"parameters", terms_.parameters},
                             {"plan", terms_.sampling},
                             {"proved", proved},
                             {"whole", true}},
                            patience);
  result_row row = row_from({.path = of.stage}, found, true);
  if (answer != nullptr) *answer = std::move(found);
  return row;
}

double time_against_reference::reference_again() const {
  const result_row row = measured(reference_, *proved_, reference_patience);
  if (row.status != row_status::ok)
    throw environment_error(
        fmt::format("{} itself was right before, and is not now: {}", reference_.stage, row.message));
  return row.timing->median;
}

timed_submission time_against_reference::time(const stage_worker& submitted) const {
  const result_row tried = verified(submitted, patience_);
  if (tried.status != row_status::ok) return {.fault = tried.message};
  for (int attempt = 1;; ++attempt) {
    timed_submission found;
    result_group both;
    if (terms_.ceiling) both.ceilings.push_back(*terms_.ceiling);
    found.reference_times.push_back(reference_again());
    for (int process = 0; process < 2; ++process) {
      result_row row = measured(submitted, *tried.verification, patience_);
      if (row.status != row_status::ok) return {.fault = row.message};
      found.times.push_back(row.timing->median);
      both.rows.push_back(std::move(row));
    }
    found.reference_times.push_back(reference_again());
    compare_rows(both);
    reject_faster_than_light(both);
    for (const result_row& row : both.rows) {
      if (row.status != row_status::ok) return {.fault = row.message};
    }
    if (is_steady(found.reference_times)) {
      found.ratio = ratio_of(found.times, found.reference_times);
      return found;
    }
    if (attempt == most_attempts) {
      throw environment_error(fmt::format(
          "{} itself took {} and then {}: something else works on this device", reference_.stage,
          humanised_time(found.reference_times.front()), humanised_time(found.reference_times.back())));
    }
  }
}

}  // namespace lab::front
