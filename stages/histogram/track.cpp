// What the stages of the histogram are tried on.
#include "harness/device/array_track.hpp"
#include "stages/histogram/problem.hpp"

namespace lab::histogram {

namespace {
using case_list = cases_of<problem::parameters>;

constexpr std::int64_t most_keys = (std::int64_t{1} << 31) - 1;

void add(case_list& list, std::int64_t n, pattern kind, bool brief = true) {
  if (n >= 0) list.push_back({.parameters = {.n = n}, .input = kind, .brief = brief});
}

// Of the other type, for a stage that counts one of the two alone.
problem::parameters with_other_keys(problem::parameters p) {
  p.type = 1 - p.type;
  return p;
}
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  return {with_other_keys(p)};
}

std::string why_invalid(const problem::parameters& p) {
  return p.n > most_keys ? "n must be at most 2^31 - 1, so that 32 bits hold every count" : "";
}

parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  parameter_values values = n_of_file(headers, paths);
  values["type"] = headers[0].holds<std::uint32_t>() ? "uint32" : "uint8";
  return values;
}

// With as many of each.
pattern uniform_keys(const problem::parameters& p) {
  return static_cast<key_type>(p.type) == key_type::uint32 ? pattern::keys : pattern::integers;
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
  return uniform_keys(p);
}

// And the same with keys of 32 bits.
case_list of_both_types(case_list list) {
  for (std::size_t k = 0, count = list.size(); k < count; ++k) {
    list.push_back(list[k]);
    list.back().parameters = with_other_keys(list[k].parameters);
    if (list[k].input == pattern::integers) list.back().input = pattern::keys;
  }
  return list;
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
  if (!thorough) return of_both_types(list);

  for (const std::int64_t n : residue_sizes(std::min<std::int64_t>(tile, 2'048), seed))
    add(list, n, pattern::integers);
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1}) add(list, n, pattern::ramp);
  for (const pattern kind :
       {pattern::zeros, pattern::constant, pattern::ties, pattern::small_integers, pattern::negative,
        pattern::extremes, pattern::sorted, pattern::mostly_one, pattern::wide}) {
    add(list, 4'099, kind);
    add(list, tile + 311, kind);
  }
  // A few keys, each more often in every block than 16 bits count.
  add(list, 1'200'007, pattern::ties);
  if constexpr (emulated) add(list, 4'300'001, pattern::constant);
  if constexpr (!emulated) {
    for (const pattern kind : {pattern::integers, pattern::constant, pattern::sorted, pattern::mostly_one})
      add(list, 10'000'019, kind);
    // All keys in one bin, as many as 31 bits count, and in a few.
    add(list, most_keys, pattern::constant);
    add(list, most_keys, pattern::ties);
  }
  return of_both_types(list);
}

namespace {
// A byte that is left out or counted twice is missing from a count, or is one too many.
const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid,
     .alternatives = alternatives,
     .parameters_of_files = parameters_of_files,
     .random_input = random_input,
     .exact_cases = [](const problem::parameters& p, std::int64_t, std::uint64_t) {
       return std::vector<exact_case>{{uniform_keys(p)}};
     }}};
}  // namespace

}  // namespace lab::histogram
