// What the stages of the elementwise track are tried on.
#include "harness/device/array_track.hpp"
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  return cases_of_sizes<parameters>(tile, thorough, seed);
}

namespace {
// Twice -0 is -0.
const array_track_registration<problem> registered{LAB_PATH, {.keeps_zero_signs = true}};
}  // namespace

}  // namespace lab::elementwise
