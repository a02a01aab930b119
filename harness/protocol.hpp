// The words that the front and its workers share: messages and result records, and their JSON.
// docs/architecture.md describes the conversation. Nothing here knows of CUDA.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/claim.hpp"
#include "harness/failure_kind.hpp"
#include "harness/parameter_value.hpp"

namespace lab {

// A worker answers `describe` with this number; the front refuses a worker built from other words.
inline constexpr int protocol_version = 2;

// Where a worker finds its two pipes.
inline constexpr int request_descriptor = 3;
inline constexpr int answer_descriptor = 4;

// The NVTX domain of the harness: a stage's range is "kernel_lab@<stage path>" to Nsight Compute.
inline constexpr const char* nvtx_domain = "kernel_lab";

// A message that does not follow the protocol.
class protocol_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---------------------------------------------------------------------------------------------------------------
// JSON helpers

// A number, or its name where JSON has none: "nan", "inf", "-inf".
inline nlohmann::json number_or_name(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// The inverse of number_or_name.
inline double number_from(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const auto name = value.get<std::string>();
  if (name == "nan") return std::nan("");
  if (name == "inf") return HUGE_VAL;
  if (name == "-inf") return -HUGE_VAL;
  throw protocol_error("not a number: " + name);
}

// `value`, which must be finite: a time or a ratio that is not has no place in a record.
inline double finite(double value, const char* name) {
  if (!std::isfinite(value)) throw protocol_error(std::string(name) + " is not a finite number");
  return value;
}

template <class T>
nlohmann::json value_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

inline nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

// The member `name`, or nothing where it is absent or null.
template <class T>
std::optional<T> optional_member(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->template get<T>();
}

template <class T>
T member_or(const nlohmann::json& object, const char* name, T otherwise) {
  return optional_member<T>(object, name).value_or(std::move(otherwise));
}

// A name for each enumerator, in the order of the enumerators.
template <class Enumeration, std::size_t count>
Enumeration enumerator_from(const nlohmann::json& value, const char* const (&names)[count]) {
  const auto text = value.get<std::string>();
  for (std::size_t i = 0; i < count; ++i) {
    if (text == names[i]) return static_cast<Enumeration>(i);
  }
  throw protocol_error("unknown word: " + text);
}

// ---------------------------------------------------------------------------------------------------------------
// Verification

// The first thing that was wrong. What is not known is empty. Values are text, so that "nan" and strings fit.
struct failure_record {
  failure_kind kind = failure_kind::wrong;
  std::optional<std::int64_t> index;  // of the first bad output
  std::string expected;
  std::string found;
  std::string block;      // that computed the output, such as "12" or "(12, 0, 3)"
  std::string thread;     // within the block
  std::string test_case;  // "case" in JSON: the input and parameters that showed it
};

inline void to_json(nlohmann::json& json, const failure_record& failure) {
  json = {{"kind", to_string(failure.kind)},
          {"index", value_or_null(failure.index)},
          {"expected", text_or_null(failure.expected)},
          {"found", text_or_null(failure.found)},
          {"block", text_or_null(failure.block)},
          {"thread", text_or_null(failure.thread)},
          {"case", text_or_null(failure.test_case)}};
}

inline void from_json(const nlohmann::json& json, failure_record& failure) {
  failure.kind = enumerator_from<failure_kind>(json.at("kind"), failure_kind_names);
  failure.index = optional_member<std::int64_t>(json, "index");
  failure.expected = member_or<std::string>(json, "expected", "");
  failure.found = member_or<std::string>(json, "found", "");
  failure.block = member_or<std::string>(json, "block", "");
  failure.thread = member_or<std::string>(json, "thread", "");
  failure.test_case = member_or<std::string>(json, "case", "");
}

struct verification_record {
  bool passed = false;
  std::int64_t cases = 0;     // inputs that were tried
  std::int64_t compared = 0;  // outputs compared with the reference
  double largest_error = 0;   // as a fraction of its bound: at most 1 when passed; may be NaN when not
  double relative_error = 0;  // at the measured size: the largest, as a fraction of the output's own scale
  double relative_bound = 0;  // what of that scale is allowed at the measured size; 0 asks for equality
  bool reproducible = true;   // the same bits in every run; false: declared, and checked, not to be
  std::vector<std::uint64_t> seeds;  // of the inputs
  bool as_announced = false;         // of a specimen: it failed, and in a way that it announces
  double declared_bound = 0;  // a larger error than the default that the stage declares; 0: the default holds
  std::int64_t trials = 0;    // that the track has for the stage
  std::int64_t skipped = 0;   // of them: the stage called them unsupported, or wanted too much memory
  std::int64_t kept_bytes = 0;  // device memory that the stage keeps between launches
  std::optional<failure_record> failure;
};

inline void to_json(nlohmann::json& json, const verification_record& verification) {
  json = {{"passed", verification.passed},
          {"cases", verification.cases},
          {"compared", verification.compared},
          {"largest_error", number_or_name(verification.largest_error)},
          {"relative_error", number_or_name(verification.relative_error)},
          {"relative_bound", number_or_name(verification.relative_bound)},
          {"reproducible", verification.reproducible},
          {"seeds", verification.seeds},
          {"as_announced", verification.as_announced},
          {"declared_bound", finite(verification.declared_bound, "declared_bound")},
          {"trials", verification.trials},
          {"skipped", verification.skipped},
          {"kept_bytes", verification.kept_bytes},
          {"failure", value_or_null(verification.failure)}};
}

inline void from_json(const nlohmann::json& json, verification_record& verification) {
  verification.passed = json.at("passed").get<bool>();
  verification.cases = json.at("cases").get<std::int64_t>();
  verification.compared = json.at("compared").get<std::int64_t>();
  verification.largest_error = number_from(json.at("largest_error"));
  verification.reproducible = member_or(json, "reproducible", true);
  if (json.contains("relative_error")) verification.relative_error = number_from(json.at("relative_error"));
  if (json.contains("relative_bound")) verification.relative_bound = number_from(json.at("relative_bound"));
  verification.seeds = json.at("seeds").get<std::vector<std::uint64_t>>();
  verification.as_announced = member_or(json, "as_announced", false);
  verification.declared_bound = member_or(json, "declared_bound", 0.0);
  verification.trials = member_or(json, "trials", std::int64_t{0});
  verification.skipped = member_or(json, "skipped", std::int64_t{0});
  verification.kept_bytes = member_or(json, "kept_bytes", std::int64_t{0});
  verification.failure = optional_member<failure_record>(json, "failure");
}

// ---------------------------------------------------------------------------------------------------------------
// Timing

// What the L2 cache holds when a sample begins; `none` where there is no such cache (the emulator).
enum class cache_state { cold, warm, none };
inline constexpr const char* cache_state_names[] = {"cold", "warm", "none"};
inline std::string to_string(cache_state state) {
  return cache_state_names[static_cast<int>(state)];
}

// How the sampler decides how many samples to take.
struct measure_plan {
  std::int64_t minimum_samples = 10;
  double time_limit_seconds = 2;
  double spread_target = 0.005;  // inter-quartile range over median at which sampling stops
  std::int64_t warmups = 3;
  cache_state l2 = cache_state::cold;
};

inline void to_json(nlohmann::json& json, const measure_plan& plan) {
  json = {{"minimum_samples", plan.minimum_samples},
          {"time_limit_seconds", finite(plan.time_limit_seconds, "time_limit_seconds")},
          {"spread_target", finite(plan.spread_target, "spread_target")},
          {"warmups", plan.warmups},
          {"l2", to_string(plan.l2)}};
}

inline void from_json(const nlohmann::json& json, measure_plan& plan) {
  plan.minimum_samples = json.at("minimum_samples").get<std::int64_t>();
  plan.time_limit_seconds = json.at("time_limit_seconds").get<double>();
  plan.spread_target = json.at("spread_target").get<double>();
  plan.warmups = json.at("warmups").get<std::int64_t>();
  plan.l2 = enumerator_from<cache_state>(json.at("l2"), cache_state_names);
}

// The SM clock during the samples, in MHz.
struct clock_record {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};

inline void to_json(nlohmann::json& json, const clock_record& clock) {
  json = {{"median", finite(clock.median, "median clock")},
          {"minimum", finite(clock.minimum, "minimum clock")},
          {"maximum", finite(clock.maximum, "maximum clock")}};
}

inline void from_json(const nlohmann::json& json, clock_record& clock) {
  clock.median = json.at("median").get<double>();
  clock.minimum = json.at("minimum").get<double>();
  clock.maximum = json.at("maximum").get<double>();
}

// Above this spread the median moves from run to run by more than most steps of a ladder: such a timing is
// unstable (docs/measuring.md).
inline constexpr double unstable_spread = 0.03;

// The time of one launch, in nanoseconds.
struct timing_record {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  double lower_quartile = 0;  // a quarter of the samples is faster
  double upper_quartile = 0;  // a quarter is slower
  double interquartile_range = 0;
  double spread = 0;            // interquartile_range / median
  std::vector<double> samples;  // in the order taken, each already divided by launches_per_sample
  std::int64_t launches_per_sample = 1;
  std::string method = "events";  // or "graph", "host clock"
  cache_state l2 = cache_state::cold;
  std::string stopped_by = "spread";  // or "time limit", "sample limit"
  std::optional<clock_record> sm_clock_mhz;
  bool unstable = false;     // throttled, or its spread is above unstable_spread
  std::int64_t retried = 0;  // samples thrown away because the clock fell
  double preparation = 0;    // nanoseconds of the host's clock that the stage's preparation took, once
};

inline void to_json(nlohmann::json& json, const timing_record& timing) {
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

inline void from_json(const nlohmann::json& json, timing_record& timing) {
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

// The speed of light: the fewest bytes that the track's problem must move, moved by a plain copy (or read).
struct ceiling_record {
  std::string kind = "copy";  // or "read", "write"
  std::string operation;      // the fastest of those tried: "memcpy", "copy kernel, 4 x 16 bytes a thread"
  std::int64_t bytes = 0;     // the fewest bytes, read and written together
  bool cached = false;        // so few that the L2 cache has a hand in it: no measure of the memory
  timing_record timing;
};

inline void to_json(nlohmann::json& json, const ceiling_record& ceiling) {
  json = {{"kind", ceiling.kind},
          {"operation", ceiling.operation},
          {"bytes", ceiling.bytes},
          {"cached", ceiling.cached},
          {"timing", ceiling.timing}};
}

inline void from_json(const nlohmann::json& json, ceiling_record& ceiling) {
  ceiling.kind = json.at("kind").get<std::string>();
  ceiling.operation = member_or<std::string>(json, "operation", "");
  ceiling.bytes = json.at("bytes").get<std::int64_t>();
  ceiling.cached = member_or(json, "cached", false);
  ceiling.timing = json.at("timing").get<timing_record>();
}

// ---------------------------------------------------------------------------------------------------------------
// Counters

// By Nsight Compute's names; names that begin with lab__ are the lab's own.
using metric_values = std::map<std::string, double>;

// The counters of one line of the source. A line of an inlined or generic function may appear once per
// function.
struct line_record {
  std::string file;  // from the repository's root
  std::int64_t line = 0;
  std::string function;
  metric_values metrics;
};

inline void to_json(nlohmann::json& json, const line_record& line) {
  json = {{"file", line.file}, {"line", line.line}, {"function", line.function}, {"metrics", line.metrics}};
}

inline void from_json(const nlohmann::json& json, line_record& line) {
  line.file = json.at("file").get<std::string>();
  line.line = json.at("line").get<std::int64_t>();
  line.function = member_or<std::string>(json, "function", "");
  line.metrics = json.at("metrics").get<metric_values>();
}

struct kernel_record {
  std::string name;
  std::int64_t launches = 0;
  metric_values metrics;  // of all launches together
  std::vector<line_record> lines;
};

inline void to_json(nlohmann::json& json, const kernel_record& kernel) {
  json = {{"name", kernel.name},
          {"launches", kernel.launches},
          {"metrics", kernel.metrics},
          {"lines", kernel.lines}};
}

inline void from_json(const nlohmann::json& json, kernel_record& kernel) {
  kernel.name = json.at("name").get<std::string>();
  kernel.launches = json.at("launches").get<std::int64_t>();
  kernel.metrics = json.at("metrics").get<metric_values>();
  kernel.lines = member_or<std::vector<line_record>>(json, "lines", {});
}

// What the kernels of one run of a stage did.
struct profile_record {
  bool modelled = true;  // by the emulator; false: measured by a GPU's counters
  std::vector<kernel_record> kernels;
  std::vector<std::string> diagnostics;  // what was wrong, and what need not work on a GPU
  std::map<std::string, std::string>
      sources;  // the text of each file that `lines` name, where it could be read
};

inline void to_json(nlohmann::json& json, const profile_record& profile) {
  json = {{"modelled", profile.modelled},
          {"kernels", profile.kernels},
          {"diagnostics", profile.diagnostics},
          {"sources", profile.sources}};
}

inline void from_json(const nlohmann::json& json, profile_record& profile) {
  profile.modelled = json.at("modelled").get<bool>();
  profile.kernels = json.at("kernels").get<std::vector<kernel_record>>();
  profile.diagnostics = member_or<std::vector<std::string>>(json, "diagnostics", {});
  profile.sources = member_or<std::map<std::string, std::string>>(json, "sources", {});
}

// ---------------------------------------------------------------------------------------------------------------
// Description

struct device_record {
  std::string id;                  // "cuda:0" or "emulator"
  std::string name;                // "NVIDIA H200", or the host's processor
  std::string compute_capability;  // "9.0"; empty on the emulator, as are all fields below
  std::string driver;              // "580.65.06 (CUDA 13.0)"
  std::string toolkit;             // of the runtime in use: "13.0"
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> l2_bytes;
  std::optional<double> sm_clock_mhz;  // the highest that the device allows
  std::optional<double> memory_clock_mhz;
};

inline bool is_emulator(const device_record& device) {
  return device.id == "emulator";
}

inline void to_json(nlohmann::json& json, const device_record& device) {
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

inline void from_json(const nlohmann::json& json, device_record& device) {
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

// How a worker was built.
struct build_record {
  std::string compiler;
  std::string flags;
};

inline void to_json(nlohmann::json& json, const build_record& build) {
  json = {{"compiler", build.compiler}, {"flags", build.flags}};
}

inline void from_json(const nlohmann::json& json, build_record& build) {
  build.compiler = json.at("compiler").get<std::string>();
  build.flags = json.at("flags").get<std::string>();
}

// One parameter of a track. Defaults are those of the worker's own device; several values are a sweep.
struct parameter_description {
  std::string name;
  std::string meaning;
  parameter_kind kind = parameter_kind::whole;
  parameter_value minimum = 0;  // of numbers
  parameter_value maximum = std::numeric_limits<std::int64_t>::max();
  std::vector<parameter_value> choices;      // empty: any number from the minimum up
  std::vector<std::int64_t> choice_numbers;  // by which words were once known, and may be given; or empty
  std::vector<parameter_value> verify_defaults;
  std::vector<parameter_value> bench_defaults;
};

inline void to_json(nlohmann::json& json, const parameter_description& parameter) {
  json = {{"name", parameter.name},
          {"meaning", parameter.meaning},
          {"kind", parameter_kind_names[static_cast<int>(parameter.kind)]},
          {"minimum", parameter.minimum},
          {"maximum", parameter.maximum},
          {"choices", parameter.choices},
          {"choice_numbers", parameter.choice_numbers},
          {"defaults", {{"verify", parameter.verify_defaults}, {"bench", parameter.bench_defaults}}}};
}

inline void from_json(const nlohmann::json& json, parameter_description& parameter) {
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

inline void to_json(nlohmann::json& json, const claim& claim) {
  json = {{"metric", claim.metric},
          {"per", text_or_null(claim.per)},
          {"over_previous", claim.over_previous},
          {"holds", relation_names[static_cast<int>(claim.holds)]},
          {"value", finite(claim.value, "value of a claim")},
          {"at", claim.at},
          {"device", text_or_null(claim.device)},
          {"compute_capability", text_or_null(claim.compute_capability)}};
}

inline void from_json(const nlohmann::json& json, claim& claim) {
  claim.metric = json.at("metric").get<std::string>();
  claim.per = member_or<std::string>(json, "per", "");
  claim.over_previous = member_or(json, "over_previous", false);
  claim.holds = enumerator_from<relation>(json.at("holds"), relation_names);
  claim.value = json.at("value").get<double>();
  claim.at = member_or<parameter_values>(json, "at", {});
  claim.device = member_or<std::string>(json, "device", "");
  claim.compute_capability = member_or<std::string>(json, "compute_capability", "");
}

struct stage_description {
  std::string name;  // "02_tree"
  std::string path;  // "reduction/02_tree"
  std::string idea;
  nlohmann::json traits = nlohmann::json::object();
  std::string needs;     // "GPU, compute capability 9.0"; empty when nothing special
  bool library = false;  // somebody else's kernel, there to be compared with
  std::string specimen;  // wrong on purpose: how it must fail; empty for a stage that must be right
  std::vector<std::string>
      metrics;  // Nsight Compute's names, of the counters that the stage's page speaks of
  std::vector<claim> claims;
  bool runnable = true;  // on the worker's device
  std::string why_not;
  std::string broken;  // what its worker did instead of describing it; the front alone knows
};

inline void to_json(nlohmann::json& json, const stage_description& stage) {
  json = {{"name", stage.name},       {"path", stage.path},         {"idea", stage.idea},
          {"traits", stage.traits},   {"needs", stage.needs},       {"library", stage.library},
          {"metrics", stage.metrics}, {"claims", stage.claims},     {"runnable", stage.runnable},
          {"why_not", stage.why_not}, {"specimen", stage.specimen}, {"broken", text_or_null(stage.broken)}};
}

inline void from_json(const nlohmann::json& json, stage_description& stage) {
  stage.name = json.at("name").get<std::string>();
  stage.path = json.at("path").get<std::string>();
  stage.idea = json.at("idea").get<std::string>();
  stage.traits = json.value("traits", nlohmann::json::object());
  stage.needs = member_or<std::string>(json, "needs", "");
  stage.library = member_or(json, "library", false);
  stage.specimen = member_or<std::string>(json, "specimen", "");
  stage.metrics = member_or<std::vector<std::string>>(json, "metrics", {});
  stage.claims = member_or<std::vector<claim>>(json, "claims", {});
  stage.runnable = member_or(json, "runnable", true);
  stage.why_not = member_or<std::string>(json, "why_not", "");
  stage.broken = member_or<std::string>(json, "broken", "");
}

// Stages come in the order of their ladder.
struct track_description {
  std::string name;
  std::string title;
  std::string unit;         // what an output is: "float", "row"
  std::int64_t inputs = 1;  // files that `apply` needs
  bool draws =
      false;  // its output is an image, and `apply` draws a second: the difference from what is right
  std::vector<parameter_description> parameters;
  std::vector<stage_description> stages;
};

inline void to_json(nlohmann::json& json, const track_description& track) {
  json = {{"name", track.name},     {"title", track.title}, {"unit", track.unit},
          {"inputs", track.inputs}, {"draws", track.draws}, {"parameters", track.parameters},
          {"stages", track.stages}};
}

inline void from_json(const nlohmann::json& json, track_description& track) {
  track.name = json.at("name").get<std::string>();
  track.title = json.at("title").get<std::string>();
  track.unit = member_or<std::string>(json, "unit", "");
  track.inputs = member_or(json, "inputs", std::int64_t{1});
  track.draws = member_or(json, "draws", false);
  track.parameters = json.at("parameters").get<std::vector<parameter_description>>();
  track.stages = json.at("stages").get<std::vector<stage_description>>();
}

// The answer to `describe`. A worker without a device still describes its tracks and says why there is none.
struct worker_description {
  int protocol = protocol_version;
  std::optional<device_record> device;
  std::string no_device;
  build_record build;
  std::vector<track_description> tracks;
};

inline void to_json(nlohmann::json& json, const worker_description& description) {
  json = {{"protocol", description.protocol},
          {"device", value_or_null(description.device)},
          {"no_device", description.no_device},
          {"build", description.build},
          {"tracks", description.tracks}};
}

inline void from_json(const nlohmann::json& json, worker_description& description) {
  description.protocol = json.at("protocol").get<int>();
  description.device = optional_member<device_record>(json, "device");
  description.no_device = member_or<std::string>(json, "no_device", "");
  description.build = member_or<build_record>(json, "build", {});
  description.tracks = json.at("tracks").get<std::vector<track_description>>();
}

// ---------------------------------------------------------------------------------------------------------------
// Answers

enum class answer_end {
  ok,
  failed,
  error
};  // all well; the stage is at fault; the request or the machine is
inline constexpr const char* answer_end_names[] = {"ok", "failed", "error"};
inline std::string to_string(answer_end end) {
  return answer_end_names[static_cast<int>(end)];
}

enum class error_kind { usage, memory, unsupported, environment };
inline constexpr const char* error_kind_names[] = {"usage", "memory", "unsupported", "environment"};
inline std::string to_string(error_kind kind) {
  return error_kind_names[static_cast<int>(kind)];
}

// The closing line of an answer. The records that an operation promises stand in the same object and are kept
// in `content`; from_json fills it with the whole object.
struct answer_record {
  answer_end end = answer_end::ok;
  std::string message;                       // one line for a person; empty when ok
  std::optional<error_kind> error;           // "kind" in JSON; only when end is error
  std::optional<std::int64_t> needed_bytes;  // with error_kind::memory
  std::optional<std::int64_t> free_bytes;
  std::optional<failure_record> failure;  // when end is failed, where known
  bool sticky = false;                    // the worker cannot go on and exits
  nlohmann::json content = nlohmann::json::object();
};

inline void to_json(nlohmann::json& json, const answer_record& answer) {
  json = answer.content;
  json["end"] = to_string(answer.end);
  if (!answer.message.empty()) json["message"] = answer.message;
  if (answer.error) json["kind"] = to_string(*answer.error);
  if (answer.needed_bytes) json["needed_bytes"] = *answer.needed_bytes;
  if (answer.free_bytes) json["free_bytes"] = *answer.free_bytes;
  if (answer.failure) json["failure"] = *answer.failure;
  if (answer.sticky) json["sticky"] = true;
}

inline void from_json(const nlohmann::json& json, answer_record& answer) {
  answer.end = enumerator_from<answer_end>(json.at("end"), answer_end_names);
  answer.message = member_or<std::string>(json, "message", "");
  if (answer.end == answer_end::error) {
    answer.error = enumerator_from<error_kind>(json.at("kind"), error_kind_names);
  }
  answer.needed_bytes = optional_member<std::int64_t>(json, "needed_bytes");
  answer.free_bytes = optional_member<std::int64_t>(json, "free_bytes");
  answer.failure = optional_member<failure_record>(json, "failure");
  answer.sticky = member_or(json, "sticky", false);
  answer.content = json;
}

}  // namespace lab
