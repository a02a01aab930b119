// The transpose of a matrix of rows x columns float32 values, which lies row by row: element (row, column)
// becomes element (column, row) of a matrix of columns x rows values. Nothing is computed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "harness/device/array_problem.hpp"

namespace lab::transpose {

// rows x columns values in device memory, row by row; aligned to 256 bytes.
struct input {
  const float* values;
  std::int64_t rows;
  std::int64_t columns;
};

// columns x rows values in device memory; aligned to 256 bytes.
struct output {
  float* transposed;
};

struct problem : array_problem<float, float> {
  using input = transpose::input;
  using output = transpose::output;

  struct parameters {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };

  static constexpr const char* title = "Transpose of a matrix, float32";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "rows",
             .member = &parameters::rows,
             .meaning = "rows of the input, columns of the output",
             .bench = {16'384},
             .emulator_bench = {512}},
            {.name = "columns",
             .member = &parameters::columns,
             .meaning = "columns of the input, rows of the output",
             .bench = {16'384},
             .emulator_bench = {512}}};
  }

  // Every value is read once and written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.rows, p.columns}}}, .output = {"transposed", {p.columns, p.rows}}};
  }
  static input bind_input(const parameters& p, const float* values) { return {values, p.rows, p.columns}; }

  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    return {.value = static_cast<long double>(value(i % p.rows * p.columns + i / p.rows)), .scale = 0};
  }

  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    // A column of the input at a time, of which generated values are made many at once.
    constexpr std::int64_t at_once = 256;
    std::array<float, at_once> some{};
    for (std::int64_t i = first; i < first + count;) {
      const std::int64_t row = i % p.rows, column = i / p.rows, begin = row * p.columns + column;
      const std::int64_t size = std::min({at_once, p.rows - row, first + count - i});
      read_values(value, begin, p.columns, size, some.data());
      for (std::int64_t k = 0; k < size; ++k) visit(i + k, some[static_cast<std::size_t>(k)]);
      i += size;
    }
  }

  // Shapes around the multiples of the side of a tile of so many values.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::transpose
