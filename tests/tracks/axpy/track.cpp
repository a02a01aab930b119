#include "harness/device/array_track.hpp"
#include "tests/tracks/axpy/problem.hpp"

namespace lab::axpy {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list = {{{3 * tile + 17, -1.5}}, {{2'011, 2}, pattern::nonfinite}};
  if (!thorough) return list;
  for (const pattern kind :
       {pattern::signed_random, pattern::mixed_zeros, pattern::infinite, pattern::ramp}) {
    for (const double a : {0.0, 1.0, -2.0, 0.1}) list.push_back({{tile + 1, a}, kind});
  }
  for (const std::int64_t n : residue_sizes(tile, seed)) list.push_back({{n, 3}, pattern::integers, true});
  return list;
}

namespace {

// A whole factor leaves whole numbers.
std::vector<exact_case> exact_cases(const problem::parameters& p, std::int64_t /*tile*/,
                                    std::uint64_t /*seed*/) {
  if (p.a != std::trunc(p.a) || std::abs(p.a) > 0x1p20) return {};
  return {{pattern::integers}};
}

const array_track_registration<problem> registered{LAB_PATH, {.exact_cases = exact_cases}};

}  // namespace

}  // namespace lab::axpy
