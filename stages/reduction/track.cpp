// What the stages of the reduction are tried on.
#include "harness/device/array_track.hpp"
#include "stages/reduction/problem.hpp"

namespace lab::reduction {

namespace {

constexpr operation all_operations[] = {operation::sum, operation::minimum, operation::maximum,
                                        operation::user};
constexpr element all_elements[] = {element::float32, element::float64};

class case_list {
 public:
  void add(std::int64_t n, pattern kind, operation combine = operation::sum,
           element type = element::float32) {
    if (n < 0) return;
    cases.push_back(
        {{.n = n, .type = static_cast<std::int64_t>(type), .operation = static_cast<std::int64_t>(combine)},
         kind});
  }
  void add_brief(std::int64_t n, pattern kind, operation combine = operation::sum,
                 element type = element::float32) {
    add(n, kind, combine, type);
    cases.back().brief = true;
  }
  // A value above or below all others, as the operation looks for one.
  void add_lone(std::int64_t n, std::int64_t index, operation combine, element type = element::float32) {
    add_brief(n, combine == operation::minimum ? pattern::lone_minimum : pattern::lone_maximum, combine,
              type);
    cases.back().index = index;
  }

  cases_of<problem::parameters> cases;
};

void add_every_operation(case_list& list, std::int64_t tile) {
  for (const operation combine : all_operations) {
    list.add(0, pattern::random, combine);
    list.add(0, pattern::random, combine, element::float64);
    list.add(2 * tile + 5, pattern::signed_random, combine, element::float64);
    list.add(20'011, pattern::nonfinite, combine);
    list.add(20'011, pattern::nonfinite, combine, element::float64);
    list.add(20'011, pattern::infinite, combine);
  }
}

void add_sizes(case_list& list, std::int64_t tile) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 1023, 1024, 1025}) {
    list.add(n, pattern::signed_random, all_operations[n % 4]);
    list.add(n, pattern::random, operation::sum, n % 2 == 0 ? element::float32 : element::float64);
  }
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 5 * tile + 3}) {
    list.add(n, pattern::random);
    list.add(n, pattern::ramp, operation::maximum);  // the last value is the result
  }
}

void add_patterns(case_list& list, std::int64_t tile) {
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp}) {
    list.add(30'011, kind);
    list.add(30'011, kind, operation::sum, element::float64);
    list.add(30'011, kind, operation::minimum);
  }
  for (const operation combine : all_operations) {
    for (const pattern kind : patterns_of_one_kind(pattern::small_integers)) {
      list.add_brief(1, kind, combine);
      for (const element type : all_elements) {
        list.add(2 * tile + 311, kind, combine, type);
        list.cases.back().brief = combine != operation::sum;
      }
    }
    for (const element type : all_elements) {
      list.add(2 * tile + 311, pattern::wide, combine, type);
      list.add_brief(2 * tile + 311, pattern::large, combine, type);
      list.add_brief(2 * tile + 311, pattern::gaps, combine, type);
      list.add_brief(60'011, pattern::gaps, combine, type);
    }
  }
}

// The result at one place after another; and NaN, of which none may be lost.
void add_lone_values(case_list& list, std::int64_t tile, std::uint64_t seed) {
  constexpr std::int64_t lanes = 128;
  for (const operation combine : all_operations) {
    const bool is_even = random_bits(seed, static_cast<std::uint64_t>(combine)) % 2 == 0;
    for (std::int64_t k = 0; k < lanes; ++k) {
      const std::uint64_t bits = random_bits(seed ^ 0x1a9e, static_cast<std::uint64_t>(lanes + k));
      const element type = (k % 2 == 0) == is_even ? element::float32 : element::float64;
      const std::int64_t index = k + lanes * static_cast<std::int64_t>(bits % 8);
      if (combine != operation::sum) list.add_lone(1'100, index, combine, type);
    }
    const std::int64_t n = 3 * tile + 17;
    for (const std::int64_t index : telling_indices(n, tile, seed)) {
      list.add_brief(n, pattern::lone_nan, combine, index % 2 == 0 ? element::float32 : element::float64);
      list.cases.back().index = index;
    }
    for (const element type : all_elements) {
      list.add_brief(n, pattern::lone_nan, combine, type);
      list.cases.back().index = n - 1;
    }
    // Of a sum, by which the place of an Inf among others does not show.
    for (std::int64_t k = 0; k < 16 && combine == operation::sum; ++k) {
      list.add_brief(1'100, pattern::lone_infinity, combine,
                     k % 2 == 0 ? element::float32 : element::float64);
      list.cases.back().index = 65 * k;
    }
    if (combine == operation::sum) continue;
    for (const element type : all_elements) list.add_brief(2 * tile + 311, pattern::extremes, combine, type);
  }
  for (const operation combine : {operation::minimum, operation::maximum, operation::user}) {
    const std::int64_t n = 3 * tile + 17;
    for (const std::int64_t index : telling_indices(n, tile, seed)) list.add_lone(n, index, combine);
  }
}

void add_residues(case_list& list, std::int64_t tile, std::uint64_t seed) {
  for (const std::int64_t n : residue_sizes(tile, seed)) {
    const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(n));
    list.add_brief(n, pattern::small_integers);
    if (bits % 4 == 0) list.add_brief(n, pattern::small_integers, operation::sum, element::float64);
  }
  // A last value that is the result, of every residue of a warp.
  for (std::int64_t n = 289; n < 289 + 32; ++n) {
    const bool is_even = random_bits(seed, static_cast<std::uint64_t>(n)) % 2 == 0;
    for (const operation combine : {operation::minimum, operation::maximum, operation::user})
      list.add_lone(n, n - 1, combine, is_even ? element::float32 : element::float64);
  }
}

void add_large(case_list& list) {
  list.add_brief(10'000'019, pattern::random);
  list.add_brief(10'000'019, pattern::signed_random, operation::user);
  // Indices beyond 31 and beyond 32 bits.
  list.add_brief((std::int64_t{1} << 31) + 12'345, pattern::small_integers);
  list.add_brief((std::int64_t{1} << 32) + 12'345, pattern::ramp, operation::maximum);
}

}  // namespace

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: several blocks and a ragged end, no values, cancellation, NaN.
  list.add(3 * tile + 17, pattern::random);
  list.add(0, pattern::random);
  list.add(20'011, pattern::signed_random, operation::sum, element::float64);
  list.add(20'011, pattern::nonfinite, operation::maximum);
  list.add(20'011, pattern::signed_random, operation::user);
  if (!thorough) return std::move(list.cases);

  add_every_operation(list, tile);
  add_sizes(list, tile);
  add_patterns(list, tile);
  add_lone_values(list, tile, seed);
  add_residues(list, tile, seed);
  // More values than 1024 partial results of one pass are made of.
  list.add_brief(1'400'003, pattern::integers, operation::sum, element::float64);
  list.add_lone(1'400'003, 1'400'002, operation::maximum, element::float64);
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 8; ++k) {
    list.add(static_cast<std::int64_t>(1 + random_bits(7, k) % 100'000), pattern::random,
             all_operations[k % 4], k % 3 == 0 ? element::float64 : element::float32);
  }
  if constexpr (!emulated) add_large(list);
  return std::move(list.cases);
}

namespace {

// Sums of whole numbers that are representable in whatever order they are added, and for results that are one
// of the values, that value at one place after another.
std::vector<exact_case> exact_cases(const problem::parameters& p, std::int64_t tile, std::uint64_t seed) {
  std::vector<exact_case> list;
  const auto combine = static_cast<operation>(p.operation);
  if (combine == operation::sum) {
    if (p.type == 64) list.push_back({pattern::integers});
    // Two equal values in 62, or a tile whose sum is nothing, are told by the second and third input.
    for (std::uint64_t k = 0; k < (emulated ? 2 : 3); ++k)
      list.push_back({pattern::small_integers, static_cast<std::int64_t>(random_bits(seed, k) >> 2)});
  } else {
    for (const std::int64_t index : telling_indices(p.n, tile, seed))
      list.push_back({combine == operation::minimum ? pattern::lone_minimum : pattern::lone_maximum, index});
  }
  return list;
}

const array_track_registration<problem> registered{
    LAB_PATH, {.parameters_of_files = n_and_type_of_file, .exact_cases = exact_cases}};

}  // namespace

}  // namespace lab::reduction
