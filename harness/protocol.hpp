// The words that the front and its workers share: messages, and the JSON of the records in them.
// docs/architecture.md describes the conversation. Nothing here knows of CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "harness/records.hpp"

// What is no template of its own is compiled once, in protocol.cpp, and not by every file that includes it.
extern template class nlohmann::basic_json<>;

namespace lab {

// Where a worker finds its two pipes.
inline constexpr int request_descriptor = 3;
inline constexpr int answer_descriptor = 4;

// A worker's progress from which on the next worker may take the device: there is memory for both, and they
// take turns (turns.hpp); or this one times nothing any more.
inline constexpr const char* next_may_begin = "compared at the measured size";
inline constexpr const char* timing_is_over = "timed; being compared once more";

// The NVTX domain of the harness: a stage's range is "kernel_lab@<stage path>" to Nsight Compute.
inline constexpr const char* nvtx_domain = "kernel_lab";

// A message that does not follow the protocol.
class protocol_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---------------------------------------------------------------------------------------------------------------
// JSON helpers

// On one line, for a person or a pipe; what is not UTF-8 in it is replaced.
std::string text_of(const nlohmann::json& json);

// The inverse of text_of. Throws nlohmann::json::parse_error.
nlohmann::json json_from(std::string_view text);

// A number, or its name where JSON has none: "nan", "inf", "-inf".
nlohmann::json number_or_name(double value);

// The inverse of number_or_name.
double number_from(const nlohmann::json& value);

// `value`, which must be finite: a time or a ratio that is not has no place in a record.
double finite(double value, const char* name);

template <class T>
nlohmann::json value_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json text_or_null(const std::string& text);

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
  nlohmann::json content = nlohmann::json::object();
};

// ---------------------------------------------------------------------------------------------------------------
// The JSON of all records. Of the plain ones every member is there, and has the member's name.

void to_json(nlohmann::json& json, const parameter_value& value);
// Throws std::invalid_argument for anything else than a finite number of 64 bits or a text.
void from_json(const nlohmann::json& json, parameter_value& value);
void to_json(nlohmann::json& json, const failure_record& failure);
void from_json(const nlohmann::json& json, failure_record& failure);
void to_json(nlohmann::json& json, const verification_record& verification);
void from_json(const nlohmann::json& json, verification_record& verification);
void to_json(nlohmann::json& json, const sampling_options& sampling);
void from_json(const nlohmann::json& json, sampling_options& sampling);
void to_json(nlohmann::json& json, const clock_record& clock);
void from_json(const nlohmann::json& json, clock_record& clock);
void to_json(nlohmann::json& json, const timing_record& timing);
void from_json(const nlohmann::json& json, timing_record& timing);
void to_json(nlohmann::json& json, const link_record& link);
void from_json(const nlohmann::json& json, link_record& link);
void to_json(nlohmann::json& json, const ceiling_record& ceiling);
void from_json(const nlohmann::json& json, ceiling_record& ceiling);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(line_record, file, line, function, metrics)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(kernel_record, name, launches, metrics, lines)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(profile_record, modelled, kernels, diagnostics, sources)
void to_json(nlohmann::json& json, const device_record& device);
void from_json(const nlohmann::json& json, device_record& device);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(build_record, compiler, flags)
void to_json(nlohmann::json& json, const parameter_description& parameter);
void from_json(const nlohmann::json& json, parameter_description& parameter);
void to_json(nlohmann::json& json, const stage_description& stage);
void from_json(const nlohmann::json& json, stage_description& stage);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(text_description, name, meaning, is_file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(track_description, name, title, unit, inputs, draws, parameters, texts,
                                   stages)
void to_json(nlohmann::json& json, const worker_description& description);
void from_json(const nlohmann::json& json, worker_description& description);
void to_json(nlohmann::json& json, const answer_record& answer);
void from_json(const nlohmann::json& json, answer_record& answer);

}  // namespace lab
