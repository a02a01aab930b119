// What the stages of the elementwise track are tried on.
#include "harness/device/array_track.hpp"
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise {

std::vector<verification_case<problem::parameters>> problem::cases(std::int64_t tile, bool thorough,
                                                                   std::uint64_t seed) {
  std::vector<verification_case<parameters>> list;
  list.push_back({{.n = 3 * tile + 17}, pattern::random});
  list.push_back({{.n = 20'011}, pattern::nonfinite});
  if (!thorough) return list;
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{31},
        std::int64_t{32}, std::int64_t{33}, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1}) {
    if (n >= 0) list.push_back({{.n = n}, pattern::random});
  }
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp,
                             pattern::negative, pattern::zeros, pattern::negative_zeros, pattern::mixed_zeros,
                             pattern::negative_infinity, pattern::positive_infinity, pattern::all_nan,
                             pattern::constant, pattern::ties, pattern::wide, pattern::extremes}) {
    list.push_back({{.n = 2 * tile + 311}, kind});
  }
  for (const std::int64_t n : residue_sizes(tile, seed))
    list.push_back({.parameters = {.n = n}, .input = pattern::ramp, .brief = true});
  list.push_back({{.n = 1'000'003}, pattern::random});
  if constexpr (!emulated) list.push_back({{.n = (std::int64_t{1} << 31) + 12'345}, pattern::ramp, true});
  return list;
}

namespace {
// Twice -0 is -0.
const array_track_registration<problem> registered{LAB_PATH, {.keeps_zero_signs = true}};
}  // namespace

}  // namespace lab::elementwise
