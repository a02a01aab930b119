// Twice every element of n float64 values: as little as a kernel can do, so that its time is memory's alone.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::elementwise {

// n values in device memory.
struct input {
  const double* values;
  std::int64_t n;
};

// n values in device memory.
struct output {
  double* doubled;
};

struct problem {
  using elements = element_types<double, double>;
  using input = elementwise::input;
  using output = elementwise::output;

  struct parameters {
    std::int64_t n = 0;
  };

  static constexpr const char* title = "Double every element, float64";
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n",
             .member = &parameters::n,
             .meaning = "values",
             .minimum = 0,
             .bench = {1'000'000'000},
             .emulator_bench = {1'000'000}}};
  }

  // Every value is read once and written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}},
            .output = {"doubled", {p.n}},
            .fewest_bytes = p.n * static_cast<std::int64_t>(sizeof(double) + sizeof(double))};
  }
  static input bind_input(const parameters& p, const double* values) { return {values, p.n}; }
  static output bind_output(const parameters& /*p*/, double* doubled) { return {doubled}; }

  template <class Value>
  static expectation reference(const Value& value, const parameters& /*p*/, std::int64_t i) {
    return {.value = 2 * static_cast<long double>(value(i)), .scale = 0};
  }

  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  // Doubling is exact: a bound of 0 asks for equality.
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& /*p*/, std::int64_t first,
                            std::int64_t count, const Visit& visit) {
    for (std::int64_t i = first; i < first + count; ++i) visit(i, 2 * value(i));
  }
  static double relative_error(const parameters& /*p*/) { return 0; }

  static std::vector<verification_case<parameters>> cases(std::int64_t tile, bool thorough,
                                                          std::uint64_t seed);
};

}  // namespace lab::elementwise
