// C = A B, of bfloat16 matrices that lie row by row, m x k times k x n, with float32 sums and a float32 C.
// Without columns of A every output is 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/bfloat16.hpp"
#include "common/matrix_units.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::matrix_product_bf16 {

// A has m x k elements, B k x n, row after row in device memory; both begin at a multiple of 256 bytes.
struct input {
  const __nv_bfloat16 *a, *b;
  std::int64_t m, n, k;
};

// m x n elements in device memory, row after row, from a multiple of 256 bytes on.
struct output {
  float* c;
};

struct problem {
  using elements = element_types<float, bfloat16, bfloat16>;
  using input = matrix_product_bf16::input;
  using output = matrix_product_bf16::output;

  struct parameters {
    std::int64_t m = 0, n = 0, k = 0;
  };

  static constexpr const char* title = "C = A B, bfloat16, float32 sums";
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "m",
             .member = &parameters::m,
             .meaning = "rows of A and of C",
             .minimum = 0,
             .bench = {4096},
             .emulator_bench = {256}},
            {.name = "n",
             .member = &parameters::n,
             .meaning = "columns of B and of C",
             .minimum = 0,
             .bench = {4096},
             .emulator_bench = {256}},
            {.name = "k",
             .member = &parameters::k,
             .meaning = "columns of A, rows of B",
             .minimum = 0,
             .bench = {4096},
             .emulator_bench = {128}}};
  }

  // A and B are read once, and C is written once.
  static array_layout layout(const parameters& p) {
    const auto [m, n, k] = p;
    constexpr auto factor = static_cast<std::int64_t>(sizeof(bfloat16));
    constexpr auto result = static_cast<std::int64_t>(sizeof(float));
    return {.inputs = {{"a", {m, k}}, {"b", {k, n}}},
            .output = {"c", {m, n}},
            .terms = k,
            .fewest_bytes = factor * (m * k + k * n) + result * m * n,
            .written_bytes = result * m * n};
  }
  static input bind_input(const parameters& p, const bfloat16* a, const bfloat16* b) {
    return {reinterpret_cast<const __nv_bfloat16*>(a), reinterpret_cast<const __nv_bfloat16*>(b), p.m, p.n,
            p.k};
  }
  static output bind_output(const parameters& /*p*/, float* c) { return {c}; }

  // A product of two bfloat16 has 16 digits, and is exact in float64.
  static expectation reference(const auto& a, const auto& b, const parameters& p, std::int64_t i) {
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t j = 0; j < p.k; ++j) {
      const double product = static_cast<double>(static_cast<float>(a(i / p.n * p.k + j))) *
                             static_cast<double>(static_cast<float>(b(j * p.n + i % p.n)));
      sum += product;
      magnitude += std::abs(product);
    }
    return {.value = sum, .scale = magnitude};
  }

  // Products are exact. Matrix units cut off what lies below the last digit of the largest term: an addition
  // may be wrong by 2^-23 of the sum of magnitudes. k of them, and 16 at least, which a unit adds together.
  static double relative_error(const parameters& p) {
    const double error = static_cast<double>(p.k + 16) * 0x1p-23;
    return error < 0.5 ? error / (1 - error) : 1;
  }

  static std::vector<verification_case<parameters>> cases(std::int64_t tile, bool thorough,
                                                          std::uint64_t seed);
};

}  // namespace lab::matrix_product_bf16
