#include "harness/front/selection/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Moves the digits at `position` to `digits`; an underscore may stand between two digits.
bool take_digits(const std::string& text, std::size_t& position, std::string& digits) {
  const std::size_t begin = digits.size();
  while (position < text.size()) {
    const bool separator = text[position] == '_' && digits.size() > begin && position + 1 < text.size() &&
                           is_digit(text[position - 1]) && is_digit(text[position + 1]);
    if (is_digit(text[position])) {
      digits += text[position];
    } else if (!separator) {
      break;
    }
    ++position;
  }
  return digits.size() > begin;
}

// The name as it is typed.
std::string option_name(const std::string& parameter) {
  return "--" + parameter;
}

const parameter_description* find_parameter(const track_description& track, const std::string& name) {
  const auto found = std::find_if(track.parameters.begin(), track.parameters.end(),
                                  [&](const auto& parameter) { return parameter.name == name; });
  return found == track.parameters.end() ? nullptr : &*found;
}

const std::vector<parameter_value>& defaults_of(const parameter_description& parameter, default_set which) {
  return which == default_set::bench ? parameter.bench_defaults : parameter.verify_defaults;
}

std::vector<std::string> texts_of(const std::vector<parameter_value>& values) {
  std::vector<std::string> texts;
  for (const parameter_value& value : values) texts.push_back(value.text());
  return texts;
}

// The word that `text` is, or that the number stands for by which it was once known.
parameter_value parse_word(const parameter_description& parameter, const std::string& text) {
  const auto& words = parameter.choices;
  if (std::find(words.begin(), words.end(), parameter_value(text)) != words.end()) return text;
  for (std::size_t i = 0; i < std::min(words.size(), parameter.choice_numbers.size()); ++i) {
    if (text == std::to_string(parameter.choice_numbers[i])) return words[i];
  }
  throw usage_error(fmt::format("{} must be one of {}, not '{}'", option_name(parameter.name),
                                fmt::join(texts_of(words), ", "), text));
}

parameter_value parse_one(const parameter_description& parameter, const std::string& text) {
  switch (parameter.kind) {
    case parameter_kind::whole:
      return parse_integer(text, option_name(parameter.name));
    case parameter_kind::real:
      return parse_real(text, option_name(parameter.name));
    case parameter_kind::word:
      break;
  }
  return parse_word(parameter, text);
}

// Values with commas between them, duplicates removed.
std::vector<parameter_value> parse_values(const parameter_description& parameter, const std::string& text) {
  std::vector<parameter_value> values;
  for (std::size_t begin = 0, comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = text.find(',', begin);
    const parameter_value value = parse_one(parameter, text.substr(begin, comma - begin));
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

void check_values(const track_description& track, const parameter_description& parameter,
                  const std::string& text) {
  for (const parameter_value& value : parse_values(parameter, text)) {
    if (parameter.kind == parameter_kind::word) continue;
    if (value < parameter.minimum) {
      throw usage_error(fmt::format("--{} must be at least {} for {}, not {}", parameter.name,
                                    parameter.minimum.text(), track.name, value.text()));
    }
    if (parameter.maximum < value) {
      throw usage_error(fmt::format("--{} must be at most {} for {}, not {}", parameter.name,
                                    parameter.maximum.text(), track.name, value.text()));
    }
    const auto& choices = parameter.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
      throw usage_error(fmt::format("--{} must be one of {} for {}, not {}", parameter.name,
                                    fmt::join(texts_of(choices), ", "), track.name, value.text()));
    }
  }
}

}  // namespace

std::int64_t parse_integer(const std::string& text, const std::string& what) {
  const usage_error not_whole(
      fmt::format("{} needs a whole number (such as 300, 1_000_000 or 1e9), not '{}'", what, text));
  std::size_t position = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) ++position;

  std::string digits;  // of the whole number, when `shift` zeros are added (or taken away)
  if (!take_digits(text, position, digits)) throw not_whole;
  std::int64_t shift = 0;
  if (position < text.size() && text[position] == '.') {
    const std::size_t whole_digits = digits.size();
    if (!take_digits(text, ++position, digits)) throw not_whole;
    shift -= static_cast<std::int64_t>(digits.size() - whole_digits);
  }
  if (position < text.size() && (text[position] == 'e' || text[position] == 'E')) {
    ++position;
    const bool down = position < text.size() && text[position] == '-';
    if (down || (position < text.size() && text[position] == '+')) ++position;
    std::string exponent;
    if (!take_digits(text, position, exponent)) throw not_whole;
    // An exponent of more digits is out of range whatever the number is.
    const std::int64_t size = exponent.size() > 6 ? 1'000'000 : std::stoll(exponent);
    shift += down ? -size : size;
  }
  if (position != text.size()) throw not_whole;

  const bool is_zero = digits.find_first_not_of('0') == std::string::npos;
  if (is_zero) return 0;
  if (negative) throw usage_error(fmt::format("{} must not be negative: '{}'", what, text));
  for (; shift < 0; ++shift) {
    if (digits.empty() || digits.back() != '0') throw not_whole;
    digits.pop_back();
  }
  const usage_error too_large(fmt::format("{} is too large: '{}' (the most is {})", what, text,
                                          std::numeric_limits<std::int64_t>::max()));
  digits.erase(0, digits.find_first_not_of('0'));
  if (static_cast<std::int64_t>(digits.size()) + shift > 19) throw too_large;
  digits.append(static_cast<std::size_t>(shift), '0');
  // 19 digits always fit the unsigned type, whose largest value has 20.
  const std::uint64_t value = std::stoull(digits);
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) throw too_large;
  return static_cast<std::int64_t>(value);
}

double parse_real(const std::string& text, const std::string& what) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) {
    throw usage_error(fmt::format("{} needs a real number (such as 0.5, -2 or 1e-3), not '{}'", what, text));
  }
  return value;
}

void check_parameters(const std::vector<track_selection>& selections,
                      const std::vector<parameter_argument>& arguments,
                      const std::vector<std::string>& options) {
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (std::any_of(arguments.begin(), argument,
                    [&](const auto& other) { return other.name == argument->name; })) {
      throw usage_error(
          fmt::format("--{} is given twice; write a sweep as --{} 1,2,3", argument->name, argument->name));
    }
    bool known = false;
    std::vector<std::string> names;
    for (const auto& selection : selections) {
      for (const auto& parameter : selection.track->parameters) {
        const std::string name = option_name(parameter.name);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        if (parameter.name != argument->name) continue;
        known = true;
        check_values(*selection.track, parameter, argument->text);
      }
    }
    if (known) continue;
    std::string message =
        fmt::format("--{} is neither an option nor a parameter of what was asked for", argument->name);
    if (!names.empty()) message += fmt::format("; the parameters are {}", fmt::join(names, ", "));
    std::vector<std::string> candidates = names;
    candidates.insert(candidates.end(), options.begin(), options.end());
    const auto suggestions = near_names(option_name(argument->name), candidates);
    if (!suggestions.empty()) message += fmt::format("; did you mean {}?", fmt::join(suggestions, " or "));
    throw usage_error(message);
  }
}

std::vector<parameter_values> parameter_sets(const track_description& track,
                                             const std::vector<parameter_argument>& arguments,
                                             default_set defaults) {
  std::vector<parameter_values> sets{{}};
  for (const auto& parameter : track.parameters) {
    auto values = defaults_of(parameter, defaults);
    for (const auto& argument : arguments) {
      if (argument.name == parameter.name) values = parse_values(parameter, argument.text);
    }
    std::vector<parameter_values> longer;
    for (const auto& set : sets) {
      for (const parameter_value& value : values) {
        longer.push_back(set);
        longer.back()[parameter.name] = value;
      }
    }
    sets = std::move(longer);
  }
  return sets;
}

parameter_values given_parameters(const track_description& track,
                                  const std::vector<parameter_argument>& arguments) {
  parameter_values values;
  for (const auto& argument : arguments) {
    const parameter_description* parameter = find_parameter(track, argument.name);
    if (parameter == nullptr) continue;
    const auto given = parse_values(*parameter, argument.text);
    if (given.size() != 1) throw usage_error(fmt::format("--{} takes a single value here", argument.name));
    values[argument.name] = given.front();
  }
  return values;
}

parameter_values completed_parameters(const track_description& track,
                                      const std::vector<parameter_argument>& arguments,
                                      default_set defaults) {
  parameter_values values = given_parameters(track, arguments);
  for (const auto& parameter : track.parameters) {
    const auto& known = defaults_of(parameter, defaults);
    if (!known.empty()) values.emplace(parameter.name, known.front());
  }
  return values;
}

parameter_value parse_value(const track_description& track, const parameter_description& parameter,
                            const std::string& text) {
  check_values(track, parameter, text);
  const auto values = parse_values(parameter, text);
  if (values.size() != 1) throw usage_error(fmt::format("--{} takes a single value here", parameter.name));
  return values.front();
}

std::string parameters_text(const track_description& track, const parameter_values& values) {
  std::vector<std::string> parts;
  for (const auto& parameter : track.parameters) {
    const auto found = values.find(parameter.name);
    if (found == values.end()) continue;
    parts.push_back(fmt::format("{} = {}", found->first, found->second.text()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace lab::front
