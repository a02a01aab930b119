// y = a x + y, float64: two input arrays and a real parameter.
#pragma once

#include <cmath>

#include "harness/device/array_problem.hpp"

namespace lab::axpy {

struct input {
  const double* x;
  const double* y;
  std::int64_t n;
  double a;
};

struct output {
  double* sum;
};

struct problem : array_problem<double, double, double> {
  using input = axpy::input;
  using output = axpy::output;

  struct parameters {
    std::int64_t n = 0;
    double a = 0;
  };

  static constexpr const char* title = "y = a x + y, float64";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n",
             .member = &parameters::n,
             .meaning = "elements",
             .bench = {100'000'000},
             .emulator_bench = {10'000}},
            {.name = "a", .member = &parameters::a, .meaning = "factor", .bench = {2}}};
  }

  static array_layout layout(const parameters& p) {
    return {.inputs = {{"x", {p.n}}, {"y", {p.n}}}, .output = {"sum", {p.n}}, .fewest_bytes = 3 * p.n * 8};
  }
  static input bind_input(const parameters& p, const double* x, const double* y) { return {x, y, p.n, p.a}; }

  template <class X, class Y>
  static expectation reference(const X& x, const Y& y, const parameters& p, std::int64_t i) {
    const long double product = static_cast<long double>(p.a) * static_cast<long double>(x(i));
    const auto addend = static_cast<long double>(y(i));
    return {.value = product + addend, .scale = std::abs(product) + std::abs(addend)};
  }
  // One rounding of the product and one of the sum, or a single one.
  static double relative_error(const parameters& /*p*/) { return 0x1p-52; }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::axpy
