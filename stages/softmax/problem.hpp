// The softmax of each row of a matrix of rows x columns float32 values, which lies row by row:
// exp(x - m) / sum(exp(x' - m)) over the row's values x', where m is the largest of them. A row with a NaN or
// a +Inf, and one of nothing but -Inf, becomes NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/device/array_problem.hpp"

namespace lab::softmax {

// rows x columns values in device memory, row by row; aligned to 256 bytes.
struct input {
  const float* values;
  std::int64_t rows;
  std::int64_t columns;
};

// As many results in device memory; aligned to 256 bytes.
struct output {
  float* results;
};

struct problem : array_problem<float, float> {
  using input = softmax::input;
  using output = softmax::output;

  struct parameters {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };

  static constexpr const char* title = "Softmax of rows, float32";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "rows",
             .member = &parameters::rows,
             .meaning = "rows, at most 2^31 - 1",
             .bench = {262'144},
             .emulator_bench = {128}},
            {.name = "columns",
             .member = &parameters::columns,
             .meaning = "values of a row",
             .bench = {1'024},
             .emulator_bench = {1'024}}};
  }

  // Every value is read once, and every result written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.rows, p.columns}}},
            .output = {"results", {p.rows, p.columns}},
            .terms = p.columns};
  }
  static input bind_input(const parameters& p, const float* values) { return {values, p.rows, p.columns}; }

  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i);

  // For a sum of so many additions as there are columns; a stage knows its own (rounding_error).
  static double relative_error(const parameters& p);

  // Rows of every residue, and around the sizes at which stages change.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// The bound, relative to the scale below, where a value passes through at most `additions` additions. With
// u = 2^-24, d = x - m and D the mean of |d'| over the row, weighted by exp(d'): subtraction and rounding err
// by u |d|, expf by 2 units in the last place, 4 u, and each of up to four changes of the maximum by 5 u. So
// the sum errs by (D + 24 + additions) u, and the quotient by (|d| + D + additions + 40) u.
inline double rounding_error(std::int64_t additions) {
  return static_cast<double>(additions + 40) * 0x1p-24;
}

inline double problem::relative_error(const parameters& p) {
  return rounding_error(p.columns);
}

// Neighbouring outputs share a row: what is known of the last one is kept beside its values.
template <class Value>
expectation problem::reference(const Value& value, const parameters& p, std::int64_t i) {
  struct known_row {
    std::vector<float> values;
    double maximum = 0;
    long double sum = 0;
    long double mean_distance = 0;  // D
  };
  static thread_local known_row known;
  const std::int64_t first = i / p.columns * p.columns;
  bool is_known = std::ssize(known.values) == p.columns;
  known.values.resize(static_cast<std::size_t>(p.columns));
  for (std::int64_t j = 0; j < p.columns; ++j) {
    const float x = value(first + j);
    float& own = known.values[static_cast<std::size_t>(j)];
    is_known = is_known && std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(own);
    own = x;
  }
  if (!is_known) {
    known.maximum = *std::max_element(known.values.begin(), known.values.end());
    known.sum = 0;
    known.mean_distance = 0;
    for (const float x : known.values) {
      const double distance = static_cast<double>(x) - known.maximum;
      const double exponential = std::exp(distance);
      known.sum += exponential;
      if (exponential > 0) known.mean_distance -= static_cast<long double>(distance) * exponential;
    }
    known.mean_distance /= known.sum;
  }
  const double distance =
      static_cast<double>(known.values[static_cast<std::size_t>(i - first)]) - known.maximum;
  const long double result = std::exp(distance) / known.sum;
  // Among the denormals each rounding costs up to one.
  const long double least = 8 * static_cast<long double>(std::numeric_limits<float>::denorm_min()) /
                            static_cast<long double>(rounding_error(0));
  return {.value = result,
          .scale = result > 0 ? result * (1 - distance + known.mean_distance) + least : least};
}

}  // namespace lab::softmax
