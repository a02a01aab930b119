// C = A B, float32, row by row: three arrays of two dimensions, three sizes.
#pragma once

#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::matrix_product {

// A has rows x depth elements, B depth x columns.
struct sizes {
  std::int64_t rows = 0, columns = 0, depth = 0;
};
struct input {
  const float *a, *b;
  sizes size;
};
struct output {
  float* c;
};

struct problem {
  using elements = element_types<float, float, float>;
  using input = matrix_product::input;
  using output = matrix_product::output;
  using parameters = sizes;
  static constexpr const char* title = "C = A B, float32";
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<sizes>> describe() {
    const auto size = [](const char* name, std::int64_t sizes::*member, const char* meaning) {
      return parameter<sizes>{name, member, meaning, 0, {1024}, {64}, {}};
    };
    return {size("rows", &sizes::rows, "rows of A"), size("columns", &sizes::columns, "columns of B"),
            size("depth", &sizes::depth, "columns of A")};
  }
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"a", {p.rows, p.depth}}, {"b", {p.depth, p.columns}}},
            .output = {"c", {p.rows, p.columns}},
            .terms = p.depth,
            .fewest_bytes = 4 * (p.rows * p.depth + p.depth * p.columns + p.rows * p.columns)};
  }
  static input bind_input(const parameters& p, const float* a, const float* b) { return {a, b, p}; }
  static output bind_output(const parameters& /*p*/, float* c) { return {c}; }

  static expectation reference(const auto& a, const auto& b, const parameters& p, std::int64_t i) {
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
  static std::vector<verification_case<sizes>> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};
}  // namespace lab::matrix_product
