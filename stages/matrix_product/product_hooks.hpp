// What the tracks of products of matrices say beside their problems.
#pragma once

#include <string>
#include <vector>

#include "harness/device/array_track.hpp"
#include "stages/matrix_product/problem.hpp"

namespace lab::matrix_product {

template <class Problem>
array_hooks<Problem> hooks_of_products() {
  using parameters = typename Problem::parameters;
  array_hooks<Problem> hooks;
  hooks.why_invalid = [](const parameters& p) -> std::string {
    constexpr std::int64_t most = std::int64_t{1} << 46;
    const auto fits = [](std::int64_t rows, std::int64_t columns) {
      return columns == 0 || rows <= most / columns;
    };
    if (fits(p.m, p.k) && fits(p.k, p.n) && fits(p.m, p.n)) return "";
    return "A, B and C may have 2^46 elements each";
  };
  // Products of -31 .. 31 are whole numbers, whose sums walk at random, 330 a step: after 2^22 steps they are
  // within 6.8e5, and 2^24 is 24 times that.
  static constexpr auto is_exact = [](const parameters& p) { return p.k <= std::int64_t{1} << 22; };
  hooks.is_exact = is_exact;
  hooks.exact_cases = [](const parameters& p, std::int64_t /*tile*/, std::uint64_t /*seed*/) {
    return is_exact(p) ? std::vector<exact_case>{{pattern::small_integers}} : std::vector<exact_case>{};
  };
  // B must have as many rows as A has columns, which the harness says where it has not.
  hooks.parameters_of_files = [](const std::vector<npy_header>& headers,
                                 const std::vector<std::string>& paths) -> parameter_values {
    const auto [m, k] = extents<2>(headers.at(0), paths.at(0));
    const std::int64_t n = extents<2>(headers.at(1), paths.at(1))[1];
    return {{"m", m}, {"n", n}, {"k", k}};
  };
  return hooks;
}

}  // namespace lab::matrix_product
