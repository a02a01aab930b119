#include "harness/protocol.hpp"

#include <cmath>
#include <map>
#include <variant>
#include <vector>

template class nlohmann::basic_json<>;

namespace lab {

std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json json_from(std::string_view text) {
  return nlohmann::json::parse(text);
}

nlohmann::json number_or_name(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const auto name = value.get<std::string>();
  if (name == "nan") return std::nan("");
  if (name == "inf") return HUGE_VAL;
  if (name == "-inf") return -HUGE_VAL;
  throw protocol_error("not a number: " + name);
}

double finite(double value, const char* name) {
  if (!std::isfinite(value)) throw protocol_error(std::string(name) + " is not a finite number");
  return value;
}

nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

void to_json(nlohmann::json& json, const parameter_value& value) {
  switch (value.kind()) {
    case parameter_kind::whole:
      json = value.whole();
      return;
    case parameter_kind::real:
      json = value.real();
      return;
    case parameter_kind::word:
      json = value.word();
  }
}

void from_json(const nlohmann::json& json, parameter_value& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
  } else if (json.is_number_unsigned() &&
             json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    throw std::invalid_argument("a parameter of more than 64 bits: " + json.dump());
  } else if (json.is_number_integer()) {
    value = json.get<std::int64_t>();
  } else if (json.is_number() && std::isfinite(json.get<double>())) {
    value = json.get<double>();
  } else {
    throw std::invalid_argument("a parameter is a number or a word, not " + json.dump());
  }
}

void to_json(nlohmann::json& json, const failure_record& failure) {
  json = {{"kind", to_string(failure.kind)},
          {"index", value_or_null(failure.index)},
          {"expected", text_or_null(failure.expected)},
          {"found", text_or_null(failure.found)},
          {"block", text_or_null(failure.block)},
          {"thread", text_or_null(failure.thread)},
          {"case", text_or_null(failure.test_case)}};
}

void from_json(const nlohmann::json& json, failure_record& failure) {
  failure.kind = enumerator_from<failure_kind>(json.at("kind"), failure_kind_names);
  failure.index = optional_member<std::int64_t>(json, "index");
  failure.expected = member_or<std::string>(json, "expected", "");
  failure.found = member_or<std::string>(json, "found", "");
  failure.block = member_or<std::string>(json, "block", "");
  failure.thread = member_or<std::string>(json, "thread", "");
  failure.test_case = member_or<std::string>(json, "case", "");
}

void to_json(nlohmann::json& json, const verification_record& verification) {
  json = {{"passed", verification.passed},
          {"cases", verification.cases},
          {"compared", verification.compared},
          {"largest_error", number_or_name(verification.largest_error)},
          {"relative_error", number_or_name(verification.relative_error)},
          {"relative_bound", number_or_name(verification.relative_bound)},
          {"reproducible", verification.reproducible},
          {"seeds", verification.seeds},
          {"failed_as_expected", verification.failed_as_expected},
          {"declared_bound", finite(verification.declared_bound, "declared_bound")},
          {"trials", verification.trials},
          {"skipped", verification.skipped},
          {"kept_bytes", verification.kept_bytes},
          {"longest_trial", verification.longest_trial},
          {"failure", value_or_null(verification.failure)}};
}

void from_json(const nlohmann::json& json, verification_record& verification) {
  verification.passed = json.at("passed").get<bool>();
  verification.cases = json.at("cases").get<std::int64_t>();
  verification.compared = json.at("compared").get<std::int64_t>();
  verification.largest_error = number_from(json.at("largest_error"));
  verification.reproducible = member_or(json, "reproducible", true);
  if (json.contains("relative_error")) verification.relative_error = number_from(json.at("relative_error"));
  if (json.contains("relative_bound")) verification.relative_bound = number_from(json.at("relative_bound"));
  verification.seeds = json.at("seeds").get<std::vector<std::uint64_t>>();
  verification.failed_as_expected = member_or(json, "failed_as_expected", false);
  verification.declared_bound = member_or(json, "declared_bound", 0.0);
  verification.trials = member_or(json, "trials", std::int64_t{0});
  verification.skipped = member_or(json, "skipped", std::int64_t{0});
  verification.kept_bytes = member_or(json, "kept_bytes", std::int64_t{0});
  verification.longest_trial = member_or(json, "longest_trial", 0.0);
  verification.failure = optional_member<failure_record>(json, "failure");
}

void to_json(nlohmann::json& json, const sampling_options& sampling) {
  json = {{"minimum_samples", sampling.minimum_samples},
          {"time_limit_seconds", finite(sampling.time_limit_seconds, "time_limit_seconds")},
          {"spread_target", finite(sampling.spread_target, "spread_target")},
          {"warmups", sampling.warmups},
          {"l2", to_string(sampling.l2)}};
}

void from_json(const nlohmann::json& json, sampling_options& sampling) {
  sampling.minimum_samples = json.at("minimum_samples").get<std::int64_t>();
  sampling.time_limit_seconds = json.at("time_limit_seconds").get<double>();
  sampling.spread_target = json.at("spread_target").get<double>();
  sampling.warmups = json.at("warmups").get<std::int64_t>();
  sampling.l2 = enumerator_from<cache_state>(json.at("l2"), cache_state_names);
}

void to_json(nlohmann::json& json, const clock_record& clock) {
  json = {{"median", finite(clock.median, "median clock")},
          {"minimum", finite(clock.minimum, "minimum clock")},
          {"maximum", finite(clock.maximum, "maximum clock")}};
}

void from_json(const nlohmann::json& json, clock_record& clock) {
  clock.median = json.at("median").get<double>();
  clock.minimum = json.at("minimum").get<double>();
  clock.maximum = json.at("maximum").get<double>();
}

void to_json(nlohmann::json& json, const timing_record& timing) {
  for (const double sample : timing.samples) finite(sample, "sample");
  json = {{"unit", "ns"},
          {"median", finite(timing.median, "median")},
          {"minimum", finite(timing.minimum, "minimum")},
          {"maximum", finite(timing.maximum, "maximum")},
          {"lower_quartile", finite(timing.lower_quartile, "lower_quartile")},
          {"upper_quartile", finite(timing.upper_quartile, "upper_quartile")},
          {"interquartile_range", finite(timing.interquartile_range, "interquartile_range")},
          {"spread", finite(timing.spread, "spread")},
          {"samples", timing.samples},
          {"launches_per_sample", timing.launches_per_sample},
          {"method", timing.method},
          {"l2", to_string(timing.l2)},
          {"stopped_by", timing.stopped_by},
          {"sm_clock_mhz", value_or_null(timing.sm_clock_mhz)},
          {"unstable", timing.unstable},
          {"retried", timing.retried},
          {"preparation", finite(timing.preparation, "preparation")}};
}

void from_json(const nlohmann::json& json, timing_record& timing) {
  if (json.at("unit") != "ns") throw protocol_error("a timing must be in nanoseconds");
  timing.median = json.at("median").get<double>();
  timing.minimum = json.at("minimum").get<double>();
  timing.maximum = json.at("maximum").get<double>();
  timing.lower_quartile = member_or(json, "lower_quartile", 0.0);
  timing.upper_quartile = member_or(json, "upper_quartile", 0.0);
  timing.interquartile_range = json.at("interquartile_range").get<double>();
  timing.spread = json.at("spread").get<double>();
  timing.samples = json.at("samples").get<std::vector<double>>();
  timing.launches_per_sample = json.at("launches_per_sample").get<std::int64_t>();
  timing.method = json.at("method").get<std::string>();
  timing.l2 = enumerator_from<cache_state>(json.at("l2"), cache_state_names);
  timing.stopped_by = json.at("stopped_by").get<std::string>();
  timing.sm_clock_mhz = optional_member<clock_record>(json, "sm_clock_mhz");
  timing.unstable = json.at("unstable").get<bool>();
  timing.retried = json.at("retried").get<std::int64_t>();
  timing.preparation = member_or(json, "preparation", 0.0);
}

void to_json(nlohmann::json& json, const link_record& link) {
  json = {{"direct", link.direct},
          {"bytes", link.bytes},
          {"timing", link.timing},
          {"of_8_bytes", link.of_8_bytes}};
}

void from_json(const nlohmann::json& json, link_record& link) {
  link.direct = json.at("direct").get<bool>();
  link.bytes = json.at("bytes").get<std::int64_t>();
  link.timing = json.at("timing").get<timing_record>();
  link.of_8_bytes = json.at("of_8_bytes").get<timing_record>();
}

void to_json(nlohmann::json& json, const ceiling_record& ceiling) {
  json = {{"kind", ceiling.kind},
          {"operation", ceiling.operation},
          {"bytes", ceiling.bytes},
          {"cached", ceiling.cached},
          {"timing", ceiling.timing}};
  if (ceiling.operations > 0) json["operations"] = ceiling.operations;
  if (ceiling.link) json["link"] = *ceiling.link;
}

void from_json(const nlohmann::json& json, ceiling_record& ceiling) {
  ceiling.kind = json.at("kind").get<std::string>();
  ceiling.operation = member_or<std::string>(json, "operation", "");
  ceiling.bytes = json.at("bytes").get<std::int64_t>();
  ceiling.operations = member_or(json, "operations", 0.0);
  ceiling.cached = member_or(json, "cached", false);
  ceiling.timing = json.at("timing").get<timing_record>();
  ceiling.link = optional_member<link_record>(json, "link");
}

void to_json(nlohmann::json& json, const device_record& device) {
  json = {{"id", device.id},
          {"name", device.name},
          {"compute_capability", text_or_null(device.compute_capability)},
          {"driver", text_or_null(device.driver)},
          {"toolkit", text_or_null(device.toolkit)},
          {"multiprocessors", value_or_null(device.multiprocessors)},
          {"memory_bytes", value_or_null(device.memory_bytes)},
          {"l2_bytes", value_or_null(device.l2_bytes)},
          {"sm_clock_mhz", value_or_null(device.sm_clock_mhz)},
          {"memory_clock_mhz", value_or_null(device.memory_clock_mhz)}};
}

void from_json(const nlohmann::json& json, device_record& device) {
  device.id = json.at("id").get<std::string>();
  device.name = json.at("name").get<std::string>();
  device.compute_capability = member_or<std::string>(json, "compute_capability", "");
  device.driver = member_or<std::string>(json, "driver", "");
  device.toolkit = member_or<std::string>(json, "toolkit", "");
  device.multiprocessors = optional_member<std::int64_t>(json, "multiprocessors");
  device.memory_bytes = optional_member<std::int64_t>(json, "memory_bytes");
  device.l2_bytes = optional_member<std::int64_t>(json, "l2_bytes");
  device.sm_clock_mhz = optional_member<double>(json, "sm_clock_mhz");
  device.memory_clock_mhz = optional_member<double>(json, "memory_clock_mhz");
}

void to_json(nlohmann::json& json, const parameter_description& parameter) {
  json = {{"name", parameter.name},
          {"meaning", parameter.meaning},
          {"kind", parameter_kind_names[static_cast<int>(parameter.kind)]},
          {"minimum", parameter.minimum},
          {"maximum", parameter.maximum},
          {"choices", parameter.choices},
          {"choice_numbers", parameter.choice_numbers},
          {"defaults", {{"verify", parameter.verify_defaults}, {"bench", parameter.bench_defaults}}}};
}

void from_json(const nlohmann::json& json, parameter_description& parameter) {
  const auto one_or_more = [](const nlohmann::json& value) {
    if (value.is_array()) return value.get<std::vector<parameter_value>>();
    return std::vector<parameter_value>{value.get<parameter_value>()};
  };
  parameter.name = json.at("name").get<std::string>();
  parameter.meaning = json.at("meaning").get<std::string>();
  if (json.contains("kind"))
    parameter.kind = enumerator_from<parameter_kind>(json.at("kind"), parameter_kind_names);
  parameter.minimum = json.at("minimum").get<parameter_value>();
  parameter.maximum = member_or(json, "maximum", parameter.maximum);
  parameter.choices = member_or<std::vector<parameter_value>>(json, "choices", {});
  parameter.choice_numbers = member_or<std::vector<std::int64_t>>(json, "choice_numbers", {});
  parameter.verify_defaults = one_or_more(json.at("defaults").at("verify"));
  parameter.bench_defaults = one_or_more(json.at("defaults").at("bench"));
}

namespace {

nlohmann::json json_of(const std::map<std::string, trait_value>& traits) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : traits) {
    std::visit([&json, &trait = name](auto held) { json[trait] = held; }, value);
  }
  return json;
}

std::map<std::string, trait_value> traits_from(const nlohmann::json& json) {
  std::map<std::string, trait_value> traits;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean()) {
      traits[name] = value.get<bool>();
    } else {
      traits[name] = value.get<std::int64_t>();
    }
  }
  return traits;
}

}  // namespace

void to_json(nlohmann::json& json, const stage_description& stage) {
  json = {{"name", stage.name},
          {"path", stage.path},
          {"idea", stage.idea},
          {"traits", json_of(stage.traits)},
          {"needs", stage.needs},
          {"library", stage.library},
          {"runnable", stage.runnable},
          {"why_not", stage.why_not},
          {"expected_failure", stage.expected_failure},
          {"broken", text_or_null(stage.broken)}};
}

void from_json(const nlohmann::json& json, stage_description& stage) {
  stage.name = json.at("name").get<std::string>();
  stage.path = json.at("path").get<std::string>();
  stage.idea = json.at("idea").get<std::string>();
  stage.traits = traits_from(json.value("traits", nlohmann::json::object()));
  stage.needs = member_or<std::string>(json, "needs", "");
  stage.library = member_or(json, "library", false);
  stage.expected_failure = member_or<std::string>(json, "expected_failure", "");
  stage.runnable = member_or(json, "runnable", true);
  stage.why_not = member_or<std::string>(json, "why_not", "");
  stage.broken = member_or<std::string>(json, "broken", "");
}

void to_json(nlohmann::json& json, const worker_description& description) {
  json = {{"protocol", description.protocol},
          {"device", value_or_null(description.device)},
          {"no_device", description.no_device},
          {"build", description.build},
          {"tracks", description.tracks}};
}

void from_json(const nlohmann::json& json, worker_description& description) {
  description.protocol = json.at("protocol").get<int>();
  description.device = optional_member<device_record>(json, "device");
  description.no_device = member_or<std::string>(json, "no_device", "");
  description.build = member_or<build_record>(json, "build", {});
  description.tracks = json.at("tracks").get<std::vector<track_description>>();
}

void to_json(nlohmann::json& json, const answer_record& answer) {
  json = answer.content;
  json["end"] = to_string(answer.end);
  if (!answer.message.empty()) json["message"] = answer.message;
  if (answer.error) json["kind"] = to_string(*answer.error);
  if (answer.needed_bytes) json["needed_bytes"] = *answer.needed_bytes;
  if (answer.free_bytes) json["free_bytes"] = *answer.free_bytes;
  if (answer.failure) json["failure"] = *answer.failure;
}

void from_json(const nlohmann::json& json, answer_record& answer) {
  answer.end = enumerator_from<answer_end>(json.at("end"), answer_end_names);
  answer.message = member_or<std::string>(json, "message", "");
  if (answer.end == answer_end::error) {
    answer.error = enumerator_from<error_kind>(json.at("kind"), error_kind_names);
  }
  answer.needed_bytes = optional_member<std::int64_t>(json, "needed_bytes");
  answer.free_bytes = optional_member<std::int64_t>(json, "free_bytes");
  answer.failure = optional_member<failure_record>(json, "failure");
  answer.content = json;
}

}  // namespace lab
