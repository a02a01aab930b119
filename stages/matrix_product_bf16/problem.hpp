// C = A B, of bfloat16 matrices that lie row by row, m x k times k x n, with float32 sums and a float32 C.
// Without columns of A every output is 0.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bfloat16.hpp"
#include "common/matrix_units.hpp"
#include "stages/matrix_product/problem.hpp"

namespace lab::matrix_product_bf16 {

// A has m x k elements, B k x n, row after row in device memory; both begin at a multiple of 256 bytes.
struct input {
  const __nv_bfloat16 *a, *b;
  std::int64_t m, n, k;
};

using matrix_product::output;

struct problem : matrix_product::product_problem<bfloat16> {
  using input = matrix_product_bf16::input;
  using output = matrix_product::output;

  static constexpr const char* title = "C = A B, bfloat16, float32 sums";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "m",
             .member = &parameters::m,
             .meaning = "rows of A and of C",
             .bench = {4096},
             .emulator_bench = {256}},
            {.name = "n",
             .member = &parameters::n,
             .meaning = "columns of B and of C",
             .bench = {4096},
             .emulator_bench = {256}},
            {.name = "k",
             .member = &parameters::k,
             .meaning = "columns of A, rows of B",
             .bench = {4096},
             .emulator_bench = {128}}};
  }

  static input bind_input(const parameters& p, const bfloat16* a, const bfloat16* b) {
    return {reinterpret_cast<const __nv_bfloat16*>(a), reinterpret_cast<const __nv_bfloat16*>(b), p.m, p.n,
            p.k};
  }

  // Products are exact. Matrix units cut off what lies below the last digit of the largest term: an addition
  // may be wrong by 2^-23 of the sum of magnitudes. k of them, and 16 at least, which a unit adds together.
  static double relative_error(const parameters& p) {
    const double error = static_cast<double>(p.k + 16) * 0x1p-23;
    return error < 0.5 ? error / (1 - error) : 1;
  }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::matrix_product_bf16
