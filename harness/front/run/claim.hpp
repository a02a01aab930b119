// What a stage's page promises, as data that the program can test: docs/claims.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/parameter_value.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

enum class relation { equal, at_most, at_least };
inline constexpr const char* relation_names[] = {"equal", "at_most", "at_least"};

// The metrics of claims about time: how many times as fast as the previous stage, the first stage, or the
// fastest library of the track, and the percentage of the speed of light.
inline constexpr const char* speed_up_metric = "speedup";
inline constexpr const char* speed_up_over_first_metric = "speedup_over_first";
inline constexpr const char* speed_up_over_library_metric = "speedup_over_library";
inline constexpr const char* speed_of_light_metric = "speed_of_light_percent";

struct claim {
  std::string metric;          // a counter by Nsight Compute's name, or one of time
  std::string per;             // when not empty, the claim is about metric / per
  bool over_previous = false;  // of a counter: the claim is about this figure over the previous stage's
  relation holds = relation::equal;
  double value = 0;
  parameter_values at;       // parameters for which it holds; the defaults of the others
  std::string at_text = {};  // the same as people read them: "n = 1000, type = float32"
  // Where it holds: part of the device's name, and its compute capability ("9.0"). Empty: on every GPU and,
  // of a counter that the emulator models, there too.
  std::string device = {};
  std::string compute_capability = {};
  std::string because = {};  // why, in a sentence; may be empty
};

// As result files keep it (docs/results.schema.json).
inline void to_json(nlohmann::json& json, const claim& claim) {
  json = {{"metric", claim.metric},
          {"per", text_or_null(claim.per)},
          {"over_previous", claim.over_previous},
          {"holds", relation_names[static_cast<int>(claim.holds)]},
          {"value", claim.value},
          {"at", claim.at},
          {"device", text_or_null(claim.device)},
          {"compute_capability", text_or_null(claim.compute_capability)},
          {"because", text_or_null(claim.because)}};
}

[[nodiscard]] inline bool is_about_time(const std::string& metric) {
  return metric == speed_up_metric || metric == speed_up_over_first_metric ||
         metric == speed_up_over_library_metric || metric == speed_of_light_metric;
}
[[nodiscard]] inline bool is_about_time(const claim& claim) {
  return is_about_time(claim.metric);
}

}  // namespace lab::front
