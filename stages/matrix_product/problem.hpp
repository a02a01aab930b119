// C = A B, float32, row by row: m x k times k x n, of any sizes. Without columns of A every output is 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "harness/device/array_problem.hpp"

namespace lab::matrix_product {

// A has m x k elements, B k x n, row after row in device memory; both begin at a multiple of 256 bytes.
struct input {
  const float *a, *b;
  std::int64_t m, n, k;
};

// m x n elements in device memory, row after row, from a multiple of 256 bytes on.
struct output {
  float* c;
};

// What the products of matrices have in common whose factors have other elements than these.
template <class Factor>
struct product_problem : array_problem<float, Factor, Factor> {
  struct parameters {
    std::int64_t m = 0, n = 0, k = 0;
  };

  // A and B are read once, and C is written once. Each output is k products and as many additions.
  static array_layout layout(const parameters& p) {
    const auto [m, n, k] = p;
    return {.inputs = {{"a", {m, k}}, {"b", {k, n}}},
            .output = {"c", {m, n}},
            .terms = k,
            .written_bytes = static_cast<std::int64_t>(sizeof(float)) * m * n,
            .operations = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
            .unit = std::is_same_v<Factor, float> ? "fp32" : "tensor"};
  }

  // A product of two float32 is exact in float64, and what rounds there is 2^-29 of what rounds in float32.
  static expectation reference(const auto& a, const auto& b, const parameters& p, std::int64_t i) {
    constexpr std::int64_t piece = 256;
    std::array<Factor, piece> row;
    std::array<Factor, piece> column;
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t begin = 0; begin < p.k; begin += piece) {
      const std::int64_t count = std::min(piece, p.k - begin);
      read_values(a, i / p.n * p.k + begin, 1, count, row.data());
      read_values(b, begin * p.n + i % p.n, p.n, count, column.data());
      for (std::int64_t j = 0; j < count; ++j) {
        const double product = static_cast<double>(static_cast<float>(row[j])) *
                               static_cast<double>(static_cast<float>(column[j]));
        sum += product;
        magnitude += std::abs(product);
      }
    }
    return {.value = sum, .scale = magnitude};
  }
};

struct problem : product_problem<float> {
  using input = matrix_product::input;
  using output = matrix_product::output;

  static constexpr const char* title = "C = A B, float32";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "m",
             .member = &parameters::m,
             .meaning = "rows of A and of C",
             .bench = {4096},
             .emulator_bench = {128}},
            {.name = "n",
             .member = &parameters::n,
             .meaning = "columns of B and of C",
             .bench = {4096},
             .emulator_bench = {128}},
            {.name = "k",
             .member = &parameters::k,
             .meaning = "columns of A, rows of B",
             .bench = {4096},
             .emulator_bench = {128}}};
  }

  static input bind_input(const parameters& p, const float* a, const float* b) {
    return {a, b, p.m, p.n, p.k};
  }

  // A term passes through the rounding of its product and at most k - 1 additions, in any order:
  // k u / (1 - k u) of the sum of magnitudes, u = 2^-24 (Higham, "Accuracy and Stability of Numerical
  // Algorithms", 2002, section 3.1), and a little for the reference's own roundings.
  static double relative_error(const parameters& p) {
    const double error = static_cast<double>(p.k + 1) * 0x1p-24;
    return error < 0.5 ? error / (1 - error) : 1;
  }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::matrix_product
