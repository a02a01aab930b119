// The track: its parameters, its inputs, and what its stages are tried on.
#include "harness/device/column_track.hpp"
#include "stages/redact/generator.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/reference.hpp"

namespace lab::redact {

std::vector<parameter<problem::parameters>> problem::describe() {
  return column_parameter_list<problem>(
      {.bench = {600'000},
       .emulator_bench = {20'000},
       .content_meaning = "what the names and visibilities are like",
       .contents = {"people", "all_private", "all_public", "empty", "multibyte", "hostile", "skewed",
                    "huge_row", "near_public", "long_names", "any_text"}});
}

both<column> problem::generate(const parameters& p, std::uint64_t seed) {
  people made = make_people(static_cast<content>(p.content), p.rows, seed);
  return {std::move(made.names), std::move(made.visibilities)};
}

void problem::append_output(std::string& text, const parameters& /*p*/, const both<std::string_view>& row) {
  const auto& [name, visibility] = row;
  append_redacted(text, name, visibility);
}

bool problem::is_read(const parameters& p, std::size_t k) {
  return k > 0 || static_cast<content>(p.content) != content::all_private;
}

// The first rows say nothing of the long ones, which are few.
both<std::int64_t> problem::estimate(const parameters& p) {
  const auto kind = static_cast<content>(p.content);
  const bool has_long_rows = kind == content::skewed || kind == content::huge_row;
  parameters others = p;
  if (has_long_rows) others.content = static_cast<std::int64_t>(content::people);
  both<std::int64_t> bytes = sampled_bytes<problem>(others);
  if (has_long_rows) bytes[0] += std::int64_t{1} << 26;
  return bytes;
}

std::string_view problem::hidden_text(const both<std::string_view>& row) {
  const auto& [name, visibility] = row;
  return visibility == "public" ? "" : name;
}

namespace {

constexpr content contents[] = {content::people,    content::all_private, content::all_public, content::empty,
                                content::multibyte, content::hostile,     content::skewed};
constexpr allocator allocators[] = {allocator::plain, allocator::pool, allocator::none};

class case_list {
 public:
  void add(std::int64_t rows, content kind, allocator from, std::int64_t offsets = 32) {
    if (rows < 0) return;
    cases.push_back({{rows, static_cast<std::int64_t>(kind), static_cast<std::int64_t>(from), offsets}});
  }
  // With one allocator after another.
  void add_in_turn(std::int64_t rows, content kind, std::int64_t offsets, bool brief = false) {
    const allocator from = allocators[turn_++ % 3];
    if (rows < 0) return;
    add(rows, kind, from, offsets);
    cases.back().brief = brief;
  }
  // One launch, of what the bits draw.
  void add_drawn(std::int64_t rows, std::uint64_t bits) {
    constexpr content kinds[] = {content::people, content::hostile, content::multibyte, content::near_public,
                                 content::any_text};
    add(rows, kinds[bits % 5], allocators[bits / 5 % 3], bits / 15 % 2 == 0 ? 32 : 64);
    cases.back().brief = true;
  }

  std::vector<column_case<problem::parameters>> cases;

 private:
  std::size_t turn_ = 0;
};

void add_contents(case_list& list, std::int64_t tile) {
  for (const content kind : contents) {
    for (const std::int64_t offsets : {32, 64}) {
      for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, 2 * tile + 5,
                                      std::int64_t{kind == content::skewed ? 2003 : 10'007}})
        list.add_in_turn(rows, kind, offsets);
    }
  }
}

void add_sizes(case_list& list, std::int64_t tile) {
  for (const std::int64_t rows : {2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1025}) {
    list.add_in_turn(rows, content::hostile, rows % 2 == 0 ? 32 : 64);
    list.add_in_turn(rows, content::all_private, rows % 2 == 0 ? 64 : 32);
  }
  for (const std::int64_t rows : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 7 * tile + 3}) {
    list.add_in_turn(rows, content::people, 32);
    list.add_in_turn(rows, content::hostile, 64);
  }
  // The space lies early, late or nowhere by the number of rows. At 1001 the row has 16 MiB on a GPU, where a
  // stage with a thread for each row takes a second.
  for (const std::int64_t rows : {1, 500, 501, 502, 1001})
    list.add_in_turn(rows, content::huge_row, rows % 2 == 0 ? 32 : 64, rows == 1001);
  // More rows than the sizes drawn at random have, of every residue of 4.
  for (const std::int64_t rows : {40'000, 40'001, 40'002, 40'003})
    list.add_in_turn(rows, content::people, rows % 2 == 0 ? 32 : 64, true);
  for (const std::int64_t offsets : {32, 64}) {
    list.add_in_turn(5003, content::near_public, offsets);
    list.add_in_turn(4001, content::any_text, offsets);
  }
}

// Every number of rows up to 300, and some of every residue of the tile.
void add_residues(case_list& list, std::int64_t tile, std::uint64_t seed) {
  for (std::int64_t rows = 0; rows < (emulated ? 130 : 300); ++rows)
    list.add_drawn(rows, random_bits(seed, static_cast<std::uint64_t>(rows)));
  for (std::uint64_t k = 0; k < (emulated ? 16 : 64); ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    list.add_drawn(tile * static_cast<std::int64_t>(1 + k % 2) +
                       static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(tile)),
                   bits);
  }
}

void add_large(case_list& list) {
  for (const content kind : {content::people, content::hostile, content::multibyte, content::empty})
    list.add_in_turn(3'000'017, kind, 32, true);
  list.add_in_turn(3'000'017, content::skewed, 64, true);
  // Characters beyond 2 GiB: 18 M names of 125 bytes on average.
  list.add(18'000'000, content::long_names, allocator::pool, 64);
  list.cases.back().brief = true;
}

}  // namespace

std::vector<column_case<problem::parameters>> problem::cases(std::int64_t tile, bool thorough,
                                                             std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: several tiles and a ragged end, no rows, names that are none,
  // characters of several bytes, rows of very different lengths.
  list.add(3 * tile + 17, content::people, allocator::none);
  list.add(0, content::people, allocator::plain);
  list.add(3001, content::hostile, allocator::pool);
  list.add(1500, content::multibyte, allocator::none, 64);
  list.add(700, content::skewed, allocator::plain);
  if (!thorough) return std::move(list.cases);

  add_contents(list, tile);
  add_sizes(list, tile);
  add_residues(list, tile, seed);
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 8; ++k) {
    list.add_in_turn(static_cast<std::int64_t>(1 + random_bits(7, k) % 30'000), contents[k % 6],
                     k % 3 == 0 ? 64 : 32);
  }
  if constexpr (!emulated) add_large(list);
  return std::move(list.cases);
}

namespace {
const column_track_registration<problem> registered{LAB_PATH};
}

}  // namespace lab::redact
