// The golden results of the window functions (rolling.py), and what agrees with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stages/rolling/problem.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"

namespace lab::test {

// One case of the golden file: `sampled` outputs of its input, or all of them.
struct golden_case {
  std::string input;
  rolling::problem::parameters parameters;
  std::vector<double> values;
  std::vector<std::int64_t> indices;
  std::vector<double> results;  // NaN where incomplete
  double more_error;            // of the truth itself, relative to the largest square among the inputs

  [[nodiscard]] rolling::operation operation() const {
    return static_cast<rolling::operation>(parameters.operation);
  }
  [[nodiscard]] std::string text() const {
    return input + ", window " + std::to_string(parameters.window) + ", min-periods " +
           std::to_string(parameters.min_periods) + ", operation " + std::to_string(parameters.operation) +
           ", missing " + std::to_string(parameters.missing);
  }
};

inline double number_or_nan(const nlohmann::json& value) {
  return value.is_null() ? NAN : value.get<double>();
}

inline std::int64_t operation_of(const std::string& name) {
  const std::vector<std::string> names{"mean", "sum", "min", "max", "var", "std", "first_minus_last"};
  return std::find(names.begin(), names.end(), name) - names.begin();
}

// `part` is by_pandas or by_fractions. Inputs without NaN are tried with either --missing.
inline std::vector<golden_case> golden_cases(const std::string& part) {
  const nlohmann::json all = nlohmann::json::parse(lab::test::get(LAB_GOLDEN "/rolling.json"));
  std::vector<golden_case> cases;
  for (const nlohmann::json& one : all.at(part)) {
    golden_case result{.input = one.at("input"), .more_error = part == "by_pandas" ? 1e-14 : 0};
    for (const nlohmann::json& value : all.at("inputs").at(result.input))
      result.values.push_back(number_or_nan(value));
    for (const nlohmann::json& value : one.at("results")) result.results.push_back(number_or_nan(value));
    if (part == "by_pandas") {
      result.indices = all.at("sampled").get<std::vector<std::int64_t>>();
    } else {
      for (std::int64_t i = 0; i < std::ssize(result.values); ++i) result.indices.push_back(i);
    }
    REQUIRE(result.indices.size() == result.results.size());
    result.parameters = {.n = std::ssize(result.values),
                         .window = one.at("window"),
                         .min_periods = one.at("min_periods"),
                         .operation = operation_of(one.at("operation")),
                         .missing = static_cast<std::int64_t>(rolling::missing::skip)};
    cases.push_back(result);
    const bool has_nan =
        std::any_of(result.values.begin(), result.values.end(), [](double x) { return std::isnan(x); });
    result.parameters.missing = static_cast<std::int64_t>(rolling::missing::propagate);
    if (!has_nan) cases.push_back(result);
  }
  return cases;
}

// Whether `found` is output k of the case, within the error that the problem allows for its window.
inline bool is_right(const golden_case& one, std::size_t k, double found) {
  const std::int64_t i = one.indices[k];
  long double magnitude = 0;
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t j = std::max<std::int64_t>(0, i - one.parameters.window + 1); j <= i; ++j) {
    const long double x = one.values[static_cast<std::size_t>(j)];
    if (std::isnan(x)) continue;
    ++count;
    magnitude += std::abs(x);
    squares += x * x;
  }
  const double expected = one.results[k];
  if (count < rolling::problem::min_periods(one.parameters))
    return std::isnan(expected) && found == rolling::incomplete;
  if (std::isnan(expected)) return std::isnan(found);
  const long double rms = std::sqrt(squares / static_cast<long double>(count));
  const double largest = std::abs(*std::max_element(
      one.values.begin(), one.values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  long double scale = 0;
  double of_truth = 0;
  switch (one.operation()) {
    case rolling::operation::mean:
      scale = magnitude / static_cast<long double>(count);
      of_truth = largest;
      break;
    case rolling::operation::sum:
      scale = magnitude;
      of_truth = largest * static_cast<double>(one.parameters.window);
      break;
    case rolling::operation::var:
      if (found < 0) return false;
      scale = std::sqrt(static_cast<long double>(expected)) * rms;
      of_truth = largest * largest;
      break;
    case rolling::operation::std:
      if (found < 0) return false;
      scale = expected == 0 ? 0 : rms;
      of_truth = expected == 0 ? 0 : largest * largest / expected;
      break;
    default:
      return found == expected;
  }
  return std::abs(static_cast<long double>(found) - expected) <=
         rolling::problem::relative_error(one.parameters) * scale + one.more_error * of_truth;
}

// The first of the case's outputs that `results`, one for each input, has wrong; or no words.
inline std::string wrong_output(const golden_case& one, const std::vector<double>& results) {
  for (std::size_t k = 0; k < one.indices.size(); ++k) {
    const double found = results[static_cast<std::size_t>(one.indices[k])];
    if (!is_right(one, k, found)) {
      return one.text() + ": output " + std::to_string(one.indices[k]) + " is " +
             nlohmann::json(found).dump() + " and should be " + nlohmann::json(one.results[k]).dump();
    }
  }
  return "";
}

}  // namespace lab::test
