// What the stages of the sum over several GPUs are tried on.
#include "harness/device/array_track.hpp"
#include "stages/reduction_gpus/problem.hpp"

namespace lab::reduction_gpus {

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list;
  const std::vector<std::int64_t> groups = tried_groups();
  const std::int64_t most = groups.back();
  const auto add = [&](std::int64_t n, std::int64_t type, std::int64_t gpus, pattern kind,
                       bool brief = false) {
    if (n >= 0) list.push_back({{.n = n, .type = type, .gpus = gpus}, kind, brief});
  };
  for (const std::int64_t gpus : groups) add(3 * tile + 17, 64, gpus, pattern::random);
  add(20'011, 32, tried_group_of(groups, 3), pattern::signed_random);
  add(20'011, 32, tried_group_of(groups, 2), pattern::nonfinite);
  if (!thorough) return list;

  for (const std::int64_t gpus : groups) {
    for (const std::int64_t type : {32, 64}) {
      // Fewer values than GPUs, and about as many.
      for (std::int64_t n = 0; n <= 2 * most + 1; ++n) add(n, type, gpus, pattern::small_integers, true);
      for (const std::int64_t rest : {-1, 0, 1})
        add(2 * gpus * tile + rest, type, gpus, pattern::small_integers, true);
      add(50'021, type, gpus, pattern::random);
      add(50'021, type, gpus, pattern::signed_random);
      add(20'011, type, gpus, pattern::all_nan, true);
      add(20'011, type, gpus, pattern::spikes, true);
      // NaN on one GPU alone.
      for (std::int64_t k = 0; k < gpus; ++k) {
        add(6'011, type, gpus, pattern::lone_nan, true);
        list.back().index = (2 * k + 1) * 6'011 / (2 * gpus);
      }
      add(6'011, type, gpus, pattern::lone_nan, true);
      list.back().index = 6'010;
    }
  }
  for (std::uint64_t k = 0; k < 12; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x5de, k);
    add(static_cast<std::int64_t>(bits % 60'000), k % 2 == 0 ? 32 : 64, groups[k % groups.size()],
        pattern::small_integers, true);
  }
  return list;
}

namespace {

// Sums of whole numbers that are representable in whatever order they are added.
std::vector<exact_case> exact_cases(const problem::parameters& p, std::int64_t /*tile*/, std::uint64_t seed) {
  std::vector<exact_case> list;
  if (p.type == 64) list.push_back({pattern::integers});
  for (std::uint64_t k = 0; k < 2; ++k)
    list.push_back({pattern::small_integers, static_cast<std::int64_t>(random_bits(seed, k) >> 2)});
  return list;
}

const array_track_registration<problem> registered{
    LAB_PATH, {.parameters_of_files = n_and_type_of_file, .exact_cases = exact_cases}};

}  // namespace

}  // namespace lab::reduction_gpus
