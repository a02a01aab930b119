// What the stages of the histogram are tried on.
#include "harness/device/array_track.hpp"
#include "stages/histogram/problem.hpp"

namespace lab::histogram {

namespace {
using case_list = cases_of<problem::parameters>;

constexpr std::int64_t most_bytes = (std::int64_t{1} << 31) - 1;

void add(case_list& list, std::int64_t n, pattern kind, bool brief = true) {
  if (n >= 0) list.push_back({.parameters = {.n = n}, .input = kind, .brief = brief});
}

std::string why_invalid(const problem::parameters& p) {
  return p.n > most_bytes ? "n must be at most 2^31 - 1, so that 32 bits hold every count" : "";
}

// What each word of `content` stands for.
pattern random_input(const problem::parameters& p) {
  switch (static_cast<content>(p.content)) {
    case content::uniform:
      break;
    case content::one_value:
      return pattern::constant;
    case content::sorted:
      return pattern::sorted;
    case content::mostly_one:
      return pattern::mostly_one;
  }
  return pattern::integers;
}

}  // namespace

case_list problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: several blocks and a ragged end, nothing, equal bytes, runs.
  add(list, 2 * tile + 17, pattern::integers, false);
  add(list, 0, pattern::integers);
  add(list, tile + 5, pattern::constant);
  add(list, 2 * tile + 311, pattern::sorted);
  add(list, 9'001, pattern::mostly_one);
  if (!thorough) return list;

  for (const std::int64_t n : residue_sizes(std::min<std::int64_t>(tile, 2'048), seed))
    add(list, n, pattern::integers);
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1}) add(list, n, pattern::ramp);
  for (const pattern kind :
       {pattern::zeros, pattern::constant, pattern::ties, pattern::small_integers, pattern::negative,
        pattern::extremes, pattern::sorted, pattern::mostly_one, pattern::wide}) {
    add(list, 4'099, kind);
    add(list, tile + 311, kind);
  }
  if constexpr (!emulated) {
    for (const pattern kind : {pattern::integers, pattern::constant, pattern::sorted, pattern::mostly_one})
      add(list, 10'000'019, kind);
    // All bytes in one bin, as many as 31 bits count.
    add(list, most_bytes, pattern::constant);
  }
  return list;
}

namespace {
// A byte that is left out or counted twice is missing from a count, or is one too many.
const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid, .random_input = random_input, .exact_cases = exact_with<pattern::integers>}};
}  // namespace

}  // namespace lab::histogram
