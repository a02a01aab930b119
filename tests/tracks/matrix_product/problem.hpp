// C = A B, float32, row by row: three arrays of two dimensions, three sizes.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/npy.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::matrix_product {

// rows x depth times depth x columns.
struct input {
  const float* a;
  const float* b;
  std::int64_t rows, columns, depth;
};

struct output {
  float* c;
};

struct problem {
  using elements = element_types<float, float, float>;
  using input = matrix_product::input;
  using output = matrix_product::output;

  struct parameters {
    std::int64_t rows = 0, columns = 0, depth = 0;
  };

  static constexpr const char* title = "C = A B, float32";
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe() {
    const auto size = [](const char* name, std::int64_t parameters::*member, const char* meaning) {
      return parameter<parameters>{
          .name = name, .member = member, .meaning = meaning, .bench = {1024}, .emulator_bench = {64}};
    };
    return {size("rows", &parameters::rows, "rows of A and C"),
            size("columns", &parameters::columns, "columns of B and C"),
            size("depth", &parameters::depth, "columns of A and rows of B")};
  }

  static array_layout layout(const parameters& p) {
    return {.inputs = {{"a", {p.rows, p.depth}}, {"b", {p.depth, p.columns}}},
            .output = {"c", {p.rows, p.columns}},
            .terms = p.depth,
            .fewest_bytes = 4 * (p.rows * p.depth + p.depth * p.columns + p.rows * p.columns)};
  }
  static parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                              const std::vector<std::string>& paths);
  static input bind_input(const parameters& p, const float* a, const float* b) {
    return {a, b, p.rows, p.columns, p.depth};
  }
  static output bind_output(const parameters& /*p*/, float* c) { return {c}; }

  template <class A, class B>
  static expectation reference(const A& a, const B& b, const parameters& p, std::int64_t i) {
    expectation result;
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const long double product = static_cast<long double>(a(i / p.columns * p.depth + k)) *
                                  static_cast<long double>(b(k * p.columns + i % p.columns));
      result.value += product;
      result.scale += std::abs(product);
    }
    return result;
  }
  // Each term passes through at most depth additions, and its own product.
  static double relative_error(const parameters& p) {
    return std::min(0x1p-23 * static_cast<double>(p.depth + 1), 1e-4);
  }
  static std::vector<exact_case> exact_cases(const parameters& p, std::int64_t /*tile*/,
                                             std::uint64_t /*seed*/) {
    if (p.depth > 16'384) return {};  // beyond it sums of 31 x 31 may pass 2^24
    return {{pattern::small_integers}};
  }
  static std::vector<verification_case<parameters>> cases(std::int64_t tile, bool thorough,
                                                          std::uint64_t seed);
};

}  // namespace lab::matrix_product
