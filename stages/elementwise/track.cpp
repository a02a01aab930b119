// What the stages of the elementwise track are tried on.
#include "harness/device/array_track.hpp"
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list = {{{.n = 3 * tile + 17}}, {{.n = 20'011}, pattern::nonfinite}};
  if (!thorough) return list;
  for (const std::int64_t n : border_sizes(tile)) list.push_back({{.n = n}});
  for (const pattern kind : patterns_of_one_kind(pattern::signed_random, pattern::spikes, pattern::denormal,
                                                 pattern::ramp, pattern::wide, pattern::extremes))
    list.push_back({{.n = 2 * tile + 311}, kind});
  for (const std::int64_t n : residue_sizes(tile, seed))
    list.push_back({.parameters = {.n = n}, .input = pattern::ramp, .brief = true});
  list.push_back({{.n = 1'000'003}});
  if constexpr (!emulated) list.push_back({{.n = (std::int64_t{1} << 31) + 12'345}, pattern::ramp, true});
  return list;
}

namespace {
// Twice -0 is -0.
const array_track_registration<problem> registered{LAB_PATH, {.keeps_zero_signs = true}};
}  // namespace

}  // namespace lab::elementwise
