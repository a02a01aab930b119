// What the harness makes of the parameters that a problem declares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/parameter.hpp"
#include "harness/device/track.hpp"
#include "harness/protocol.hpp"

namespace lab {

// 2^48: far beyond any device, and near enough to keep every byte count within 64 bits.
inline constexpr std::int64_t largest_parameter = std::int64_t{1} << 48;

template <class Parameters>
std::vector<parameter_description> describe_parameters(const std::vector<parameter<Parameters>>& specs) {
  std::vector<parameter_description> descriptions;
  for (const auto& spec : specs) {
    parameter_description added{.name = spec.name,
                                .meaning = spec.meaning,
                                .minimum = spec.minimum,
                                .maximum = largest_parameter,
                                .verify_defaults = spec.emulator_bench,
                                .bench_defaults = emulated ? spec.emulator_bench : spec.bench};
    for (const choice& one : spec.choices) {
      added.choices.push_back(one.value);
      added.choice_names.emplace_back(one.name);
    }
    descriptions.push_back(std::move(added));
  }
  return descriptions;
}

inline std::string names_of(const std::vector<choice>& choices) {
  std::string text;
  for (const choice& one : choices)
    text += (text.empty() ? "" : ", ") + std::to_string(one.value) + " (" + one.name + ")";
  return text;
}

// `given` completed by the bench defaults (the first of a sweep). Throws usage_error for names that are no
// parameter's and for values out of range.
template <class Parameters>
parameter_values complete_parameters(const std::vector<parameter<Parameters>>& specs,
                                     const parameter_values& given) {
  parameter_values complete;
  for (const auto& spec : specs) {
    const auto found = given.find(spec.name);
    const std::int64_t value =
        found != given.end() ? found->second : (emulated ? spec.emulator_bench : spec.bench)[0];
    if (value < spec.minimum) {
      throw usage_error(std::string(spec.name) + " must be at least " + std::to_string(spec.minimum) +
                        ", not " + std::to_string(value));
    }
    if (value > largest_parameter) {
      throw usage_error(std::string(spec.name) + " must be at most " + std::to_string(largest_parameter) +
                        ", not " + std::to_string(value));
    }
    const auto is_value = [value](const choice& one) { return one.value == value; };
    if (!spec.choices.empty() && std::none_of(spec.choices.begin(), spec.choices.end(), is_value)) {
      throw usage_error(std::string(spec.name) + " cannot be " + std::to_string(value) + ": it is one of " +
                        names_of(spec.choices));
    }
    complete[spec.name] = value;
  }
  for (const auto& [name, unused] : given) {
    if (!complete.contains(name)) throw usage_error("no parameter is called " + name);
  }
  return complete;
}

template <class Parameters>
Parameters typed_parameters(const std::vector<parameter<Parameters>>& specs, const parameter_values& values) {
  Parameters p;
  for (const auto& spec : specs) p.*spec.member = values.at(spec.name);
  return p;
}

}  // namespace lab
