// The softmax of each row of a matrix of rows x columns float32 or bfloat16 values, which lies row by row:
// exp(x - m) / sum(exp(x' - m)) over the row's values x', where m is the largest of them, in float32. A row
// with a NaN or a +Inf, and one of nothing but -Inf, becomes NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/device/array_problem.hpp"

namespace lab::softmax {

// The values of the parameter `type`.
enum class element : std::int64_t { float32, bfloat16 };

// rows x columns values in device memory, row by row; aligned to 256 bytes.
struct input {
  const void* values;
  std::int64_t rows;
  std::int64_t columns;
  element type;
};

// As many results of the same type in device memory; aligned to 256 bytes.
struct output {
  void* results;
};

struct problem {
  using input = softmax::input;
  using output = softmax::output;

  struct parameters {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t type = 0;
  };

  static constexpr const char* title = "Softmax of rows";
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

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
             .emulator_bench = {1'024}},
            {.name = "type",
             .member = &parameters::type,
             .meaning = "type of the values",
             .bench = {"float32"},
             .emulator_bench = {"float32"},
             .choices = {{0, "float32"}, {1, "bfloat16"}}}};
  }

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    if (static_cast<element>(p.type) == element::bfloat16) return visit(element_types<bfloat16, bfloat16>{});
    return visit(element_types<float, float>{});
  }

  // Every value is read once, and every result written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.rows, p.columns}}},
            .output = {"results", {p.rows, p.columns}},
            .terms = p.columns};
  }
  static input bind_input(const parameters& p, const void* values) {
    return {values, p.rows, p.columns, static_cast<element>(p.type)};
  }

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
// the sum errs by (D + 24 + additions) u, and the quotient by (|d| + D + additions + 40) u. Rounding that to
// bfloat16 adds at most half a unit in the last place, 2^-8, and 2^-8 of the error before.
inline double rounding_error(const problem::parameters& p, std::int64_t additions) {
  const double in_float = static_cast<double>(additions + 40) * 0x1p-24;
  return static_cast<element>(p.type) == element::bfloat16 ? 0x1p-8 + in_float * (1 + 0x1p-8) : in_float;
}

inline double problem::relative_error(const parameters& p) {
  return rounding_error(p, p.columns);
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
  const bool is_narrow = static_cast<element>(p.type) == element::bfloat16;
  const auto denormal = is_narrow ? static_cast<long double>(std::numeric_limits<bfloat16>::denorm_min())
                                  : 8 * static_cast<long double>(std::numeric_limits<float>::denorm_min());
  const long double least = denormal / static_cast<long double>(rounding_error(p, 0));
  // u as a part of the bound: at most 1/40; for bfloat16 u (1 + 2^-8) of 2^-8. Four times that: with the
  // subtraction, __expf() errs by 3.4 u |d|, and exp2f((x - m) log2(e)) by 2.3 u |d|.
  const long double unit = 4 * (is_narrow ? 0x1.01p-16L : 1.0L / 40);
  return {.value = result,
          .scale = result > 0 ? result * (1 + unit * (known.mean_distance - distance)) + least : least};
}

// Calls visit.operator()<T>(values, results) with the type that the input asks for.
template <class Visit>
void with_type(const input& in, const output& out, const Visit& visit) {
  const auto with = [&]<class T>() {
    visit.template operator()<T>(static_cast<const T*>(in.values), static_cast<T*>(out.results));
  };
  if (in.type == element::bfloat16) return with.template operator()<bfloat16>();
  with.template operator()<float>();
}

}  // namespace lab::softmax
