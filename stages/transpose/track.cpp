// What the stages of the transpose are tried on.
#include <cmath>

#include "harness/device/array_track.hpp"
#include "stages/transpose/problem.hpp"

namespace lab::transpose {

namespace {
using case_list = cases_of<problem::parameters>;

void add(case_list& list, std::int64_t rows, std::int64_t columns, pattern kind = pattern::ramp,
         bool brief = true) {
  list.push_back({.parameters = {.rows = rows, .columns = columns}, .input = kind, .brief = brief});
}

// The same for stages that need multiples of 4: sizes as near as possible.
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  return {{.rows = parts(p.rows, 4) * 4, .columns = parts(p.columns, 4) * 4}};
}

std::string why_invalid(const problem::parameters& p) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (p.columns > 0 && p.rows > most / p.columns) return "rows x columns must be at most 2^40";
  return "";
}
}  // namespace

case_list problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  const std::int64_t side = std::llround(std::sqrt(static_cast<double>(tile)));
  case_list list;
  // A few quick ones that every run repeats: ragged in both directions, higher than wide, nothing.
  add(list, side + 3, 2 * side + 5, pattern::random, false);
  add(list, 2 * side + 8, side + 4, pattern::nonfinite, false);
  add(list, 0, 5);
  add(list, 5, 0);
  if (!thorough) return list;

  // Every pair of residues of 4, with whole tiles and without.
  for (std::int64_t k = 0; k < 16; ++k) add(list, (k % 2) * side + 5 + k / 4, 5 + k % 4);
  for (const std::int64_t rows : {std::int64_t{1}, side - 1, side, side + 1, 2 * side}) {
    for (const std::int64_t columns : {std::int64_t{1}, side - 4, side, side + 4, 2 * side + 1})
      add(list, rows, columns);
  }
  // One row, one column, and more of them than 16 bits count.
  for (const std::int64_t n : {std::int64_t{33}, std::int64_t{1'027}, std::int64_t{70'004}}) {
    add(list, 1, n);
    add(list, n, 1);
  }
  for (std::uint64_t k = 0; k < (emulated ? 40 : 96); ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    const std::int64_t unit = k % 3 == 0 ? 4 : 1;
    add(list, (1 + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(3 * side))) * unit,
        (1 + static_cast<std::int64_t>((bits >> 32) % static_cast<std::uint64_t>(3 * side))) * unit);
  }
  for (const pattern kind : {pattern::signed_random, pattern::denormal, pattern::extremes, pattern::nonfinite,
                             pattern::mixed_zeros, pattern::negative_zeros, pattern::all_nan})
    add(list, side + 4, side + 8, kind);
  if constexpr (!emulated) {
    add(list, 3'001, 4'999, pattern::random);
    add(list, 1, 10'000'019);
    add(list, 10'000'019, 1);
    add(list, 5'000'012, 4);
    // Indices beyond 32 bits.
    add(list, 70'004, 61'360);
  }
  return list;
}

namespace {
// Of exact inputs, equal neighbours are one in a million.
const array_track_registration<problem> registered{LAB_PATH,
                                                   {.why_invalid = why_invalid,
                                                    .alternatives = alternatives,
                                                    .parameters_of_files = rows_and_columns_of_file,
                                                    .exact_cases = exact_with<pattern::integers>,
                                                    .keeps_zero_signs = true}};
}  // namespace

}  // namespace lab::transpose
