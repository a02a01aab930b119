#include "harness/device/array_track.hpp"
#include "tests/tracks/matrix_product/problem.hpp"

namespace lab::matrix_product {

namespace {

parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  const auto [rows, depth] = extents<2>(headers[0], paths[0]);
  return {{"rows", rows}, {"depth", depth}, {"columns", extents<2>(headers[1], paths[1])[1]}};
}

// Sums of up to 16384 products of 31 x 31 stay below 2^24.
std::vector<exact_case> exact_cases(const sizes& p, std::int64_t /*tile*/, std::uint64_t /*seed*/) {
  return p.depth > 16'384 ? std::vector<exact_case>{} : std::vector<exact_case>{{pattern::small_integers}};
}

const array_track_registration<problem> registered{
    LAB_PATH, {.parameters_of_files = parameters_of_files, .exact_cases = exact_cases}};

}  // namespace

std::vector<verification_case<sizes>> problem::cases(std::int64_t, bool thorough, std::uint64_t) {
  std::vector<verification_case<sizes>> list = {{{33, 17, 5}, pattern::signed_random},
                                                {{20, 40, 30}, pattern::nonfinite}};
  for (const std::int64_t depth : {0, 1, 16, 17}) {
    for (const std::int64_t columns : {0, 1, 31, 33})
      if (thorough) list.push_back({{17, columns, depth}, pattern::small_integers, true});
  }
  return list;
}

}  // namespace lab::matrix_product
