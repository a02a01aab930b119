// What the stages of the moving average are tried on.
#include "harness/device/array_track.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list;
  // A few quick ones that every run repeats: several blocks and a ragged end, a window longer than a warp,
  // and what running sums get wrong.
  list.push_back({{.n = 3 * tile + 17, .window = 37}, pattern::random});
  list.push_back({{.n = 20'011, .window = 300}, pattern::signed_random});
  list.push_back({{.n = 20'011, .window = 1000}, pattern::spikes});
  list.push_back({{.n = 20'011, .window = 5}, pattern::nonfinite});
  // Several tiles in a window: what their values are handed over by is to be seen observed.
  const std::int64_t usual_tile = std::clamp<std::int64_t>(tile, 64, 4096);
  list.push_back({{.n = 5 * usual_tile + 48, .window = 3 * usual_tile + 31}, pattern::integers, true});
  if (!thorough) return list;

  for (const std::int64_t n : border_sizes(tile)) {
    if (n < 0) continue;
    for (const std::int64_t window : border_windows(n, tile)) {
      if (window >= 1) list.push_back({{.n = n, .window = window}, pattern::integers, true});
    }
  }
  for (const std::int64_t window : {1, 4, 31, 64, 100, 127, 1023, 1024, 1025}) {
    list.push_back({{.n = 30'011, .window = window}, pattern::random, true});
  }
  for (const std::int64_t window : {3000, 4096, 8191, 16383, 16384}) {
    list.push_back({{.n = window + 2 * tile + 777, .window = window}, pattern::random});
  }
  for (const std::int64_t window :
       {2 * usual_tile - 1, 2 * usual_tile, 2 * usual_tile + 1, 3 * usual_tile, 4 * usual_tile + 1,
        33 * usual_tile + usual_tile / 2, std::int64_t{40'002}, std::int64_t{65'539},
        (std::int64_t{1} << 17) + 1}) {
    list.push_back({{.n = window + usual_tile + 33, .window = window}, pattern::integers, true});
  }
  // A last tile that is whole, or of one value.
  for (const std::int64_t rest : {-1, 0, 1}) {
    list.push_back({{.n = 4 * usual_tile + rest, .window = 2 * usual_tile + 17}, pattern::integers, true});
    list.push_back({{.n = 6 * usual_tile + rest, .window = usual_tile + 5}, pattern::integers, true});
  }
  // Windows of some part of a tile.
  for (std::uint64_t k = 0; k < 8; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x1096, k);
    const auto part = static_cast<std::uint64_t>(usual_tile);
    list.push_back({{.n = 3 * usual_tile + 1 + static_cast<std::int64_t>((bits >> 32) % part),
                     .window = 1 + static_cast<std::int64_t>(bits % part)},
                    pattern::integers,
                    true});
  }
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::nonfinite, pattern::denormal,
                             pattern::ramp, pattern::wide, pattern::large, pattern::gaps}) {
    for (const std::int64_t window : {1, 2, 17, 128, 300})
      list.push_back({{.n = 20'011, .window = window}, kind, window != 300});
    list.push_back({{.n = 3000 + tile + 777, .window = 3000}, kind});
  }
  for (const pattern kind : patterns_of_one_kind(pattern::integers, pattern::lone_maximum)) {
    for (const std::int64_t window : {1, 5, 300})
      list.push_back({{.n = 2 * tile + 311, .window = window}, kind, window != 5});
  }
  for (const std::int64_t n : residue_sizes(tile, seed)) {
    const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(n));
    list.push_back({{.n = n, .window = drawn_window(n, bits)}, pattern::integers, true});
  }
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 12; ++k) {
    const auto n = static_cast<std::int64_t>(1 + random_bits(7, k) % 100'000);
    const auto window = static_cast<std::int64_t>(
        1 + random_bits(8, k) % static_cast<std::uint64_t>(std::min<std::int64_t>(n, 4000)));
    list.push_back({{.n = n, .window = window}, pattern::random});
  }
  if constexpr (!emulated) {
    list.push_back({{.n = 3'000'017, .window = 300}, pattern::random});
    // Indices beyond 32 bits.
    list.push_back({{.n = (std::int64_t{1} << 31) + 12'345, .window = 300}, pattern::random, true});
  }
  return list;
}

namespace {

// What the stages that update a running sum promise on random data, of the largest magnitude among the
// inputs.
double drift_error(const problem::parameters& /*p*/) {
  return 1e-12;
}

const array_track_registration<problem> registered{LAB_PATH,
                                                   {.exact_cases = exact_with<pattern::integers>,
                                                    .exact_unit = problem::exact_unit,
                                                    .exact_error = problem::exact_error,
                                                    .drift_error = drift_error}};

}  // namespace

}  // namespace lab::moving_average
