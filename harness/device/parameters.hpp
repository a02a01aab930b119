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

template <class Parameters>
parameter_kind kind_of(const parameter<Parameters>& spec) {
  if (!spec.choices.empty()) return parameter_kind::word;
  return spec.member.index() == 0 ? parameter_kind::whole : parameter_kind::real;
}

template <class Parameters>
parameter_value minimum_of(const parameter<Parameters>& spec) {
  if (spec.minimum) return *spec.minimum;
  return kind_of(spec) == parameter_kind::real ? parameter_value(std::numeric_limits<double>::lowest()) : 0;
}

template <class Parameters>
parameter_value maximum_of(const parameter<Parameters>& spec) {
  return kind_of(spec) == parameter_kind::real ? parameter_value(std::numeric_limits<double>::max())
                                               : largest_parameter;
}

// `value` as a value of the parameter: a word for the number by which it was once known, a real number for a
// whole one. Throws usage_error for any other that the parameter cannot have.
template <class Parameters>
parameter_value checked_value(const parameter<Parameters>& spec, const parameter_value& value) {
  const std::string name = spec.name;
  if (kind_of(spec) == parameter_kind::word) {
    std::string words;
    for (const choice& one : spec.choices) {
      const bool is_number = value.kind() == parameter_kind::whole && value.whole() == one.value;
      if (is_number || value == parameter_value(one.name)) return one.name;
      words += (words.empty() ? "" : ", ") + std::string(one.name);
    }
    throw usage_error(name + " cannot be " + value.text() + ": it is one of " + words);
  }
  const bool wants_whole = kind_of(spec) == parameter_kind::whole;
  if (value.kind() == parameter_kind::word || (wants_whole && value.kind() != parameter_kind::whole)) {
    throw usage_error(name + " must be a " + (wants_whole ? "whole" : "real") + " number, not " +
                      value.text());
  }
  const parameter_value number = wants_whole ? value : parameter_value(value.real());
  if (number.real() < minimum_of(spec).real())
    throw usage_error(name + " must be at least " + minimum_of(spec).text() + ", not " + value.text());
  if (number.real() > maximum_of(spec).real())
    throw usage_error(name + " must be at most " + maximum_of(spec).text() + ", not " + value.text());
  return number;
}

template <class Parameters>
std::vector<parameter_description> describe_parameters(const std::vector<parameter<Parameters>>& specs) {
  std::vector<parameter_description> descriptions;
  for (const auto& spec : specs) {
    const auto checked = [&](std::vector<parameter_value> values) {
      for (parameter_value& value : values) value = checked_value(spec, value);
      return values;
    };
    parameter_description added{.name = spec.name,
                                .meaning = spec.meaning,
                                .kind = kind_of(spec),
                                .minimum = minimum_of(spec),
                                .maximum = maximum_of(spec),
                                .verify_defaults = checked(spec.emulator_bench),
                                .bench_defaults = checked(emulated ? spec.emulator_bench : spec.bench)};
    for (const choice& one : spec.choices) {
      added.choices.emplace_back(one.name);
      added.choice_numbers.push_back(one.value);
    }
    descriptions.push_back(std::move(added));
  }
  return descriptions;
}

// `given` completed by the bench defaults (the first of a sweep). Throws usage_error for names that are no
// parameter's and for values that a parameter cannot have.
template <class Parameters>
parameter_values complete_parameters(const std::vector<parameter<Parameters>>& specs,
                                     const parameter_values& given) {
  parameter_values complete;
  for (const auto& spec : specs) {
    const auto found = given.find(spec.name);
    complete[spec.name] = checked_value(
        spec, found != given.end() ? found->second : (emulated ? spec.emulator_bench : spec.bench).at(0));
  }
  for (const auto& [name, unused] : given) {
    if (!complete.contains(name)) throw usage_error("no parameter is called " + name);
  }
  return complete;
}

template <class Parameters>
Parameters typed_parameters(const std::vector<parameter<Parameters>>& specs, const parameter_values& values) {
  Parameters p;
  for (const auto& spec : specs) {
    const parameter_value value = checked_value(spec, values.at(spec.name));
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
