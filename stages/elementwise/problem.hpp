// Twice every element of n float64 values: as little as a kernel can do, so that its time is memory's alone.
#pragma once

#include "harness/device/array_problem.hpp"

namespace lab::elementwise {

// n values in device memory.
struct input {
  const double* values;
  std::int64_t n;
};

struct output {
  double* doubled;
};

struct problem : array_problem<double, double> {
  using input = elementwise::input;
  using output = elementwise::output;

  struct parameters {
    std::int64_t n = 0;
  };

  static constexpr const char* title = "Double every element, float64";

  static std::vector<parameter<parameters>> describe() { return {parameter_n<parameters>(1'000'000)}; }

  // Every value is read once and written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}}, .output = {"doubled", {p.n}}};
  }

  static expectation reference(const auto& value, const parameters& /*p*/, std::int64_t i) {
    return {.value = 2 * static_cast<long double>(value(i))};
  }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::elementwise
