// An array of rows x columns float32 values reduced to its sum, to the sums of its rows, or to the sums of
// its columns. Row r begins at element r * pitch; what lies between columns and pitch is padding, which no
// result may depend on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/fold.hpp"

namespace lab::reduction_2d {

// The values of the parameter `result`.
enum class result : std::int64_t { total, rows, columns };

// rows x columns values in device memory, row by row; `values` is aligned to 256 bytes, and pitch >= columns.
struct input {
  const float* values;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t pitch;
  reduction_2d::result result;
};

// One sum, or one for each row, or one for each column, in device memory.
struct output {
  float* sums;
};

struct problem : array_problem<float, float> {
  using input = reduction_2d::input;
  using output = reduction_2d::output;

  struct parameters {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t pitch = 0;
    std::int64_t result = 0;
  };

  static constexpr const char* title = "Sums of a two-dimensional array, float32";
  static constexpr const char* unit = "sum";
  static constexpr array_ceiling ceiling = array_ceiling::read;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "rows",
             .member = &parameters::rows,
             .meaning = "rows",
             .bench = {20'000},
             .emulator_bench = {700}},
            {.name = "columns",
             .member = &parameters::columns,
             .meaning = "values in each row",
             .bench = {20'000},
             .emulator_bench = {900}},
            {.name = "pitch",
             .member = &parameters::pitch,
             .meaning = "values from the begin of a row to the next; 0 for as many as columns",
             .bench = {0}},
            {.name = "result",
             .member = &parameters::result,
             .meaning = "what is summed up",
             .bench = {0, 1, 2},
             .choices = {{0, "total"}, {1, "rows"}, {2, "columns"}}}};
  }

  static std::int64_t pitch_of(const parameters& p) { return p.pitch == 0 ? p.columns : p.pitch; }
  static result result_of(const parameters& p) { return static_cast<reduction_2d::result>(p.result); }

  // Every value is read once and every sum written once.
  static array_layout layout(const parameters& p) {
    const std::int64_t sums = result_of(p) == result::total  ? 1
                              : result_of(p) == result::rows ? p.rows
                                                             : p.columns;
    return {.inputs = {{"values", {p.rows, pitch_of(p)}}},
            .output = {"sums", {sums}},
            .terms = cost(p),
            .fewest_bytes = (p.rows * p.columns + sums) * static_cast<std::int64_t>(sizeof(float))};
  }
  static input bind_input(const parameters& p, const float* values) {
    return {values, p.rows, p.columns, pitch_of(p), result_of(p)};
  }

  // Values that one sum is made of.
  static std::int64_t cost(const parameters& p) {
    return result_of(p) == result::total  ? p.rows * p.columns
           : result_of(p) == result::rows ? p.columns
                                          : p.rows;
  }

  // Value j of a generated matrix, row after row, without its padding.
  template <class Value>
  struct unpadded {
    const Value& all;
    std::int64_t columns;
    std::int64_t pitch;
    pattern kind;
    std::uint64_t seed;

    auto operator()(std::int64_t j) const { return all(j / columns * pitch + j % columns); }
    // Remembered by its kind and seed, its size, and this (fold.hpp).
    [[nodiscard]] std::string places() const {
      return std::to_string(columns) + " of " + std::to_string(pitch);
    }
  };

  // Elements first, first + step and so on of the memory; of generated values their kind is known (fold.hpp).
  template <class Value>
  struct every_nth {
    const Value& all;
    std::int64_t first;
    std::int64_t step;

    auto operator()(std::int64_t j) const { return all(first + j * step); }
  };
  template <class T>
  struct every_nth<generated_values<T>> {
    const generated_values<T>& all;
    std::int64_t first;
    std::int64_t step;
    pattern kind = all.kind;

    T operator()(std::int64_t j) const { return all(first + j * step); }
    void values(std::int64_t begin, std::int64_t every, std::int64_t count, T* to) const {
      all.values(first + begin * step, every * step, count, to);
    }
  };

  // `value(j)` is element j of the memory, padding included.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    const std::int64_t pitch = pitch_of(p);
    switch (result_of(p)) {
      case result::rows:
        return fold<sum>(every_nth<Value>{value, i * pitch, 1}, p.columns);
      case result::columns:
        return fold<sum>(every_nth<Value>{value, i, pitch}, p.rows);
      case result::total:
        break;
    }
    if (pitch == p.columns) return fold<sum>(value, p.rows * p.columns);
    if constexpr (requires { value.kind, value.seed; }) {
      return fold<sum>(unpadded<Value>{value, p.columns, pitch, value.kind, value.seed}, p.rows * p.columns);
    } else {
      return fold<sum>([&](std::int64_t j) { return value(j / p.columns * pitch + j % p.columns); },
                       p.rows * p.columns);
    }
  }

  // A sum in any order errs by at most (n - 1) u of the sum of magnitudes, which for many values refuses
  // nothing. So this promises 1e-4 at most; a stage knows its own order and promises less (rounding_error),
  // or declares that it needs more.
  static double relative_error(const parameters& p);

  // Shapes around everything that a stage could round to: nothing, one row, one column, padding, ragged ends.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// The bound for sums in which every value passes through at most `additions` additions, relative to the sum
// of magnitudes: additions u / (1 - additions u), u = 2^-24 (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, section 4.2).
inline double rounding_error(std::int64_t additions) {
  const double error = static_cast<double>(additions) * 0x1p-24;
  return error < 0.5 ? error / (1 - error) : 1;
}

inline double problem::relative_error(const parameters& p) {
  return std::min(rounding_error(cost(p)), 1e-4);
}

// A grid of x times y blocks. Throws where CUDA has none so large.
inline dim3 grid(std::int64_t x, std::int64_t y = 1) {
  if (x > 0x7fffffff || y > 0xffff) throw std::length_error("more blocks than a grid can have");
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y));
}

}  // namespace lab::reduction_2d
