#include "harness/device/array_problem.hpp"
#include "harness/device/column_track.hpp"
#include "tests/tracks/upper_case/problem.hpp"

namespace lab::upper_case {

std::vector<parameter<problem::parameters>> problem::describe() {
  return column_parameter_list<problem>({.bench = {1'000'000},
                                         .emulator_bench = {20'000},
                                         .content_meaning = "what the texts are like",
                                         .contents = {"words", "hostile", "empty"}});
}

std::array<column, 1> problem::generate(const parameters& p, std::uint64_t seed) {
  constexpr std::string_view pieces[] = {"a", "z", "m", " ", "A", "Z", "@", "[", "`", "{", "é", "李", "🦉"};
  return {make_column(p.rows, [&](std::string& text, std::int64_t row) {
    row_bits bits(seed, row);
    for (std::int64_t k = p.content == 2 ? 0 : bits.below(30); k > 0; --k)
      text += pieces[bits.below(p.content == 0 ? 4 : std::ssize(pieces))];
  })};
}

void problem::append_output(std::string& text, const parameters& /*p*/,
                            const std::array<std::string_view, 1>& row) {
  for (const char byte : row[0])
    text += byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

std::vector<column_case<problem::parameters>> problem::cases(std::int64_t tile, bool thorough,
                                                             std::uint64_t seed) {
  std::vector<column_case<parameters>> list = {{{.rows = 3 * tile + 17}}, {{.rows = 0}}, {{2003, 1}}};
  if (!thorough) return list;
  for (const std::int64_t content : {0, 1, 2})
    for (const std::int64_t rows : {std::int64_t{1}, tile, 40 * tile + 5})
      list.push_back({{.rows = rows, .content = content, .offsets = 64}});
  for (const std::int64_t rows : residue_sizes(tile, seed))
    list.push_back({{.rows = rows, .content = 1}, true});
  return list;
}

namespace {
const column_track_registration<problem> registered{LAB_PATH};
}

}  // namespace lab::upper_case
