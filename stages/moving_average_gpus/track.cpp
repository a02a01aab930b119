// What the stages of the moving average over several GPUs are tried on.
#include "stages/moving_average_gpus/problem.hpp"

#include "harness/device/array_track.hpp"

namespace lab::moving_average_gpus {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list;
  const std::vector<std::int64_t> groups = tried_groups();
  const std::int64_t most = groups.back();
  const auto add = [&](std::int64_t n, std::int64_t window, std::int64_t gpus, pattern kind,
                       bool brief = false) {
    if (n >= 0 && window >= 1) list.push_back({{.n = n, .window = window, .gpus = gpus}, kind, brief});
  };
  // Parts that are no whole tiles, with a window that reaches over a border.
  for (const std::int64_t gpus : groups) add(3 * tile + 17, 300, gpus, pattern::random);
  add(20'011, 5, tried_group_of(groups, 2), pattern::nonfinite);
  add(20'011, 300, tried_group_of(groups, 3), pattern::signed_random);
  if (!thorough) return list;

  for (const std::int64_t gpus : groups) {
    // Fewer values than GPUs, and about as many.
    for (std::int64_t n = 0; n <= 2 * most + 1; ++n) {
      for (const std::int64_t window : {1, 2, 4}) add(n, window, gpus, pattern::integers, true);
    }
    // Windows around one part, and over all of them.
    constexpr std::int64_t n = 6'007;
    const std::int64_t each = n / gpus;
    for (const std::int64_t window : {std::int64_t{1}, std::int64_t{2}, std::int64_t{8}, std::int64_t{31},
                                      each - 1, each, each + 1, each + 2, 2 * each + 3, n - 1, n, n + 1})
      add(n, window, gpus, pattern::integers, true);
    // Parts that begin and end around a tile's border.
    for (const std::int64_t rest : {-1, 0, 1}) add(gpus * tile + rest, 64, gpus, pattern::integers, true);
    add(20'011, 17, gpus, pattern::spikes);
    for (const std::int64_t window : {5, 300}) add(20'011, window, gpus, pattern::gaps, true);
    // Long windows where parts are long.
    add(30'011 * gpus + 7, 5'003, gpus, pattern::integers, true);
    add(20'011, 1000, gpus, pattern::random);
  }
  for (std::uint64_t k = 0; k < 16; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x6b5, k);
    add(1 + static_cast<std::int64_t>(bits % 30'000), 1 + static_cast<std::int64_t>(bits >> 40) % 3000,
        groups[k % groups.size()], pattern::integers, true);
  }
  return list;
}

namespace {

const array_track_registration<problem> registered{LAB_PATH,
                                                   {.exact_cases = exact_with<pattern::integers>,
                                                    .exact_unit = problem::exact_unit,
                                                    .exact_error = problem::exact_error}};

}  // namespace

}  // namespace lab::moving_average_gpus
