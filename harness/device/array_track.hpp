// A track with any number of input arrays and one output array, made from its problem (array_problem.hpp) and
// what that may say beside (array_hooks.hpp).
#pragma once

#include <memory>
#include <string>

#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/case_inputs.hpp"
#include "harness/device/typed_problem.hpp"

namespace lab {

void register_array_track(std::string name, std::unique_ptr<any_array_problem> problem);

// Cases of a problem whose one parameter is n: the borders of tiles, inputs of one kind, every residue, and
// sizes beyond 32 bits.
template <class Parameters>
cases_of<Parameters> cases_of_sizes(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<Parameters> list = {{{.n = 3 * tile + 17}}, {{.n = 20'011}, pattern::nonfinite}};
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

// Registers the track of `Problem` under its directory's name, which the build passes as LAB_PATH.
template <class Problem>
struct array_track_registration {
  explicit array_track_registration(const char* path, const array_hooks<Problem>& hooks = {}) {
    register_array_track(path, std::make_unique<typed_array_problem<Problem>>(hooks));
  }
};

}  // namespace lab
