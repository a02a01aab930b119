#include "harness/device/parameters.hpp"

namespace lab {

parameter_value checked_value(const parameter_description& one, const parameter_value& value) {
  if (one.kind == parameter_kind::word) {
    std::string words;
    for (std::size_t k = 0; k < one.choices.size(); ++k) {
      const bool is_number =
          value.kind() == parameter_kind::whole && value.whole() == one.choice_numbers.at(k);
      if (is_number || value == one.choices[k]) return one.choices[k];
      words += (words.empty() ? "" : ", ") + one.choices[k].word();
    }
    throw usage_error(one.name + " cannot be " + value.text() + ": it is one of " + words);
  }
  const bool is_whole = one.kind == parameter_kind::whole;
  if (value.kind() == parameter_kind::word || (is_whole && value.kind() != parameter_kind::whole)) {
    throw usage_error(one.name + " must be a " + (is_whole ? "whole" : "real") + " number, not " +
                      value.text());
  }
  const parameter_value number = is_whole ? value : parameter_value(value.real());
  if (number.real() < one.minimum.real())
    throw usage_error(one.name + " must be at least " + one.minimum.text() + ", not " + value.text());
  if (number.real() > one.maximum.real())
    throw usage_error(one.name + " must be at most " + one.maximum.text() + ", not " + value.text());
  return number;
}

std::string text_of(const parameter_values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + value.text();
  return text;
}

parameter_values complete_parameters(const std::vector<parameter_description>& all,
                                     const parameter_values& given) {
  parameter_values complete;
  for (const parameter_description& one : all) {
    const auto found = given.find(one.name);
    complete[one.name] = checked_value(one, found != given.end() ? found->second : one.bench_defaults.at(0));
  }
  for (const auto& [name, unused] : given) {
    if (!complete.contains(name)) throw usage_error("no parameter is called " + name);
  }
  return complete;
}

}  // namespace lab
