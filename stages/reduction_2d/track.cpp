// What the stages of the two-dimensional reduction are tried on.
#include "harness/device/array_track.hpp"
#include "stages/reduction_2d/problem.hpp"

namespace lab::reduction_2d {

namespace {

class case_list {
 public:
  // Every result of an array.
  void add(std::int64_t rows, std::int64_t columns, std::int64_t pitch, pattern kind = pattern::random,
           bool brief = false) {
    for (const std::int64_t wanted : {0, 1, 2}) {
      cases.push_back({.parameters = {.rows = rows, .columns = columns, .pitch = pitch, .result = wanted},
                       .input = kind,
                       .brief = brief});
    }
  }
  // One launch, of one result after another.
  void add_brief(std::int64_t rows, std::int64_t columns, std::int64_t wanted) {
    cases.push_back({.parameters = {.rows = rows, .columns = columns, .pitch = 0, .result = wanted % 3},
                     .input = pattern::small_integers,
                     .brief = true});
  }

  // A value at one place, of every result.
  void add_lone(std::int64_t rows, std::int64_t columns, std::int64_t pitch, std::int64_t row,
                std::int64_t column) {
    const std::size_t begin = cases.size();
    add(rows, columns, pitch, pattern::lone_nan, true);
    for (std::size_t k = begin; k < cases.size(); ++k) cases[k].index = row * pitch + column;
  }

  cases_of<problem::parameters> cases;
};

void add_sizes(case_list& list, std::int64_t tile, std::uint64_t seed) {
  std::int64_t turn = 0;
  for (const std::int64_t rows : {1, 2, 7, 16, 31, 32, 33, 100}) {
    for (const std::int64_t columns : {1, 2, 3, 4, 15, 16, 17, 32, 129})
      list.add_brief(rows, columns, turn++);
  }
  // Sizes of every residue in either direction, of 256 (on the emulator of 32), and some of the tile's.
  for (std::int64_t k = 0; k < (emulated ? 34 : 260); ++k) {
    list.add_brief(3, k, k);
    list.add_brief(k, 5, k + 1);
  }
  for (std::uint64_t k = 0; k < (emulated ? 12 : 64); ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    const std::int64_t size = 1 + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(3 * tile));
    const bool wide = k % 2 == 0;
    list.add_brief(wide ? 2 : size, wide ? size : 2, static_cast<std::int64_t>(k / 2));
  }
  // Every pair of residues of 16, and some beyond: rows and columns that are left over together.
  for (std::int64_t k = 0; k < 256; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x9a12, static_cast<std::uint64_t>(k));
    list.add_brief(k % 16 + 16 * static_cast<std::int64_t>(1 + bits % 4),
                   k / 16 + 16 * static_cast<std::int64_t>(1 + (bits >> 8) % 4),
                   static_cast<std::int64_t>((bits >> 16) % 3));
  }
  // Many rows or columns of every residue of 4, and more than 16 bits count.
  for (std::int64_t k = 0; k < 12; ++k) {
    list.add_brief(5'001 + k, 3, k);
    list.add_brief(3, 5'001 + k, k);
  }
  for (const std::int64_t wanted : {0, 1, 2}) {
    list.add_brief(70'001, 2, wanted);
    list.add_brief(2, 130'001, wanted);
  }
}

void add_shapes(case_list& list, std::int64_t tile) {
  list.add(0, 0, 0);
  list.add(1, 20'011, 0);
  list.add(1'011, 1, 0);
  list.add(3, 9'001, 9'001);
  list.add(701, 5, 0);
  list.add(5, 4 * tile + 1, 0);
  list.add(std::min<std::int64_t>(tile + 1, 600), 5, 0);
  // Padding of every alignment, which holds values that must not be summed up.
  for (const std::int64_t pitch : {101, 102, 103, 104, 128}) list.add(45, 101, pitch);
  // More padding than values; and many rows, or many columns, with some.
  list.add(33, 5, 1'024, pattern::small_integers, true);
  list.add(3'077, 261, 264, pattern::small_integers, true);
  list.add(77, 5'003, 5'100, pattern::small_integers, true);
}

void add_patterns(case_list& list) {
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp,
                             pattern::nonfinite, pattern::infinite, pattern::wide, pattern::large}) {
    list.add(61, 333, 336, kind);
    list.add(61, 333, 0, kind);
  }
  for (const pattern kind : patterns_of_one_kind(pattern::small_integers)) list.add(29, 77, 80, kind, true);
  // NaN in the corners, and where a row's last values fill no vector.
  for (const std::int64_t row : {0, 30, 60}) {
    for (const std::int64_t column : {0, 31, 331, 332}) list.add_lone(61, 333, 336, row, column);
  }
}

void add_large(case_list& list) {
  list.add(3001, 4999, 0, pattern::random, true);
  list.add(1, 10'000'019, 0, pattern::random, true);
  list.add(10'000'019, 1, 0, pattern::random, true);
  list.add(5'000'011, 3, 5, pattern::random, true);
  // So high and narrow that sums of columns are added up twice; vectors, and rows at every alignment.
  list.add(200'003, 99, 100, pattern::random, true);
  list.add(200'003, 99, 101, pattern::random, true);
  // Indices beyond 32 bits.
  list.add(70'001, 61'357, 61'360, pattern::random, true);
}

}  // namespace

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: ragged in both directions, padded, nothing in one direction.
  list.add(67, 131, 0);
  list.add(33, tile + 3, tile + 8, pattern::signed_random);
  list.add(0, 5, 0);
  list.add(5, 0, 0);
  if (!thorough) return std::move(list.cases);

  add_sizes(list, tile, seed);
  add_shapes(list, tile);
  add_patterns(list);
  // Shapes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 8; ++k) {
    const auto rows = static_cast<std::int64_t>(1 + random_bits(7, k) % 500);
    const auto columns = static_cast<std::int64_t>(1 + random_bits(8, k) % 500);
    list.add(rows, columns, k % 2 == 0 ? 0 : columns + static_cast<std::int64_t>(random_bits(9, k) % 40));
  }
  if constexpr (!emulated) add_large(list);
  return std::move(list.cases);
}

namespace {

std::string why_invalid(const problem::parameters& p) {
  const std::int64_t pitch = problem::pitch_of(p);
  if (pitch < p.columns) return "pitch must be 0 or at least columns, which is " + std::to_string(p.columns);
  constexpr std::int64_t most = std::int64_t{1} << 48;
  if (pitch > 0 && p.rows > most / pitch) return "rows x pitch must be at most 2^48";
  return "";
}

// As much padding as before.
problem::parameters fitted(const problem::parameters& p, const problem::parameters& before) {
  problem::parameters fitted = p;
  if (p.pitch > 0) fitted.pitch = p.columns + std::max<std::int64_t>(0, before.pitch - before.columns);
  return fitted;
}

// Sums of whole numbers that are representable in whatever order they are added. Two equal values in 62, or a
// tile whose sum is nothing, are told by the second and third input.
std::vector<exact_case> exact_cases(const problem::parameters& /*p*/, std::int64_t /*tile*/,
                                    std::uint64_t seed) {
  std::vector<exact_case> list;
  for (std::uint64_t k = 0; k < (emulated ? 2 : 3); ++k)
    list.push_back({pattern::small_integers, static_cast<std::int64_t>(random_bits(seed, k) >> 2)});
  return list;
}

parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  parameter_values values = rows_and_columns_of_file(headers, paths);
  values["pitch"] = 0;
  return values;
}

const array_track_registration<problem> registered{LAB_PATH,
                                                   {.why_invalid = why_invalid,
                                                    .fitted = fitted,
                                                    .parameters_of_files = parameters_of_files,
                                                    .exact_cases = exact_cases}};

}  // namespace

}  // namespace lab::reduction_2d
