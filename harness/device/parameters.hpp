// What the harness makes of the parameters that a problem declares.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/parameter.hpp"
#include "harness/device/track.hpp"
#include "harness/records.hpp"

namespace lab {

// 2^48: far beyond any device, and near enough to keep every byte count within 64 bits.
inline constexpr std::int64_t largest_parameter = std::int64_t{1} << 48;

// `value` as a value of the parameter: a word for the number by which it was once known, a real number for a
// whole one. Throws usage_error for any other that the parameter cannot have.
parameter_value checked_value(const parameter_description& one, const parameter_value& value);

// `given` completed by the bench defaults (the first of a sweep). Throws usage_error for names that are no
// parameter's and for values that a parameter cannot have.
parameter_values complete_parameters(const std::vector<parameter_description>& all,
                                     const parameter_values& given);

// "n=1000 window=7".
std::string text_of(const parameter_values& values);

// Without its defaults.
template <class Parameters>
parameter_description limits_of(const parameter<Parameters>& spec) {
  parameter_description limits{.name = spec.name, .meaning = spec.meaning};
  limits.maximum = largest_parameter;
  if (std::holds_alternative<double Parameters::*>(spec.member)) {
    limits.kind = parameter_kind::real;
    limits.minimum = std::numeric_limits<double>::lowest();
    limits.maximum = std::numeric_limits<double>::max();
  }
  if (spec.minimum) limits.minimum = *spec.minimum;
  for (const choice& one : spec.choices) {
    limits.kind = parameter_kind::word;
    limits.choices.emplace_back(one.name);
    limits.choice_numbers.push_back(one.value);
  }
  return limits;
}

template <class Parameters>
std::vector<parameter_description> describe_parameters(const std::vector<parameter<Parameters>>& specs) {
  std::vector<parameter_description> all;
  for (const auto& spec : specs) {
    parameter_description added = limits_of(spec);
    const auto& on_emulator = spec.emulator_bench.empty() ? spec.bench : spec.emulator_bench;
    for (const parameter_value& value : on_emulator)
      added.verify_defaults.push_back(checked_value(added, value));
    for (const parameter_value& value : emulated ? on_emulator : spec.bench)
      added.bench_defaults.push_back(checked_value(added, value));
    all.push_back(std::move(added));
  }
  return all;
}

template <class Parameters>
Parameters typed_parameters(const std::vector<parameter<Parameters>>& specs, const parameter_values& values) {
  Parameters p;
  for (const auto& spec : specs) {
    const parameter_value value = checked_value(limits_of(spec), values.at(spec.name));
    if (const auto* real = std::get_if<double Parameters::*>(&spec.member)) {
      p.** real = value.real();
      continue;
    }
    std::int64_t& whole = p.*std::get<std::int64_t Parameters::*>(spec.member);
    if (spec.choices.empty()) {
      whole = value.whole();
      continue;
    }
    for (const choice& one : spec.choices) {
      if (value.word() == one.name) whole = one.value;
    }
  }
  return p;
}

// The inverse of typed_parameters.
template <class Parameters>
parameter_values values_of(const std::vector<parameter<Parameters>>& specs, const Parameters& p) {
  parameter_values values;
  for (const auto& spec : specs) {
    parameter_value value = std::visit([&](auto member) { return parameter_value(p.*member); }, spec.member);
    for (const choice& one : spec.choices) {
      if (value == parameter_value(one.value)) {
        value = one.name;
        break;
      }
    }
    values[spec.name] = std::move(value);
  }
  return values;
}

}  // namespace lab
