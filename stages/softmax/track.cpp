// What the stages of the softmax are tried on.
#include "harness/device/array_track.hpp"
#include "harness/device/case_inputs.hpp"
#include "stages/softmax/problem.hpp"

namespace lab::softmax {

namespace {
using case_list = cases_of<problem::parameters>;

void add(case_list& list, std::int64_t rows, std::int64_t columns, pattern input = pattern::signed_random,
         bool brief = true) {
  list.push_back({.parameters = {.rows = rows, .columns = columns}, .input = input, .brief = brief});
}

// The same for stages that keep a row in few registers, or read it by 16 bytes: sizes as near as possible.
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  return {{.rows = p.rows, .columns = parts(p.columns, 8) * 8, .type = p.type},
          {.rows = p.rows, .columns = 8'000 + p.columns % 192, .type = p.type},
          {.rows = p.rows, .columns = p.columns % 1'024, .type = p.type}};
}

// And the same of bfloat16.
case_list of_both_types(case_list list) {
  for (std::size_t k = 0, count = list.size(); k < count; ++k) {
    list.push_back(list[k]);
    list.back().parameters.type = static_cast<std::int64_t>(element::bfloat16);
  }
  return list;
}

// A bfloat16 is two bytes without a name in NumPy's files.
parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  parameter_values values = rows_and_columns_of_file(headers, paths);
  values["type"] = headers[0].holds<bfloat16>() ? "bfloat16" : "float32";
  return values;
}

std::string why_invalid(const problem::parameters& p) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (p.rows >= std::int64_t{1} << 31) return "rows must be at most 2^31 - 1";
  if (p.columns > 0 && p.rows > most / p.columns) return "rows x columns must be at most 2^40";
  return "";
}
}  // namespace

case_list problem::cases(std::int64_t /*tile*/, bool thorough, std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: several rows that begin anywhere, NaN and Inf, nothing.
  add(list, 7, 301, pattern::signed_random, false);
  add(list, 5, 516, pattern::nonfinite, false);
  add(list, 3, 129, pattern::ramp);
  add(list, 0, 5);
  add(list, 5, 0);
  if (!thorough) return of_both_types(list);

  for (std::int64_t columns = 1; columns < 70; ++columns) add(list, 1 + columns % 9, columns);
  for (const std::int64_t columns : {127, 128, 129, 255, 256, 257, 511, 512, 516, 1'023, 1'024, 1'025})
    add(list, 5, columns);
  for (const std::int64_t columns : {2'052, 4'096, 4'099, 8'192, 8'193, 20'480, 32'768, 66'001})
    add(list, 1, columns);
  // More rows than clusters of two blocks, and than a grid's second dimension has blocks.
  add(list, 19, 8'200);
  add(list, 70'001, 1);
  add(list, 1, 210'001);
  for (std::uint64_t k = 0; k < 24; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    add(list, 1 + static_cast<std::int64_t>(bits % 7),
        (1 + static_cast<std::int64_t>((bits >> 32) % 200)) * (k % 2 == 0 ? 4 : 1));
  }
  // A row of -Inf alone, of equal values, of values so far apart that all but one become 0.
  for (const pattern input :
       patterns_of_one_kind(pattern::spikes, pattern::infinite, pattern::denormal, pattern::ramp,
                            pattern::wide, pattern::integers, pattern::small_integers, pattern::gaps,
                            pattern::large, pattern::extremes, pattern::quarters, pattern::sparse)) {
    add(list, 6, 260, input);
    add(list, 3, 63, input);
    add(list, 2, 1'540, input);
  }
  // Some 10 rows with a -Inf among other values, some with a NaN, and some with a +Inf.
  add(list, 2'000, 17, pattern::nonfinite);
  // The largest value, a NaN or an Inf at one place after another of the middle row.
  for (const pattern input : {pattern::lone_maximum, pattern::lone_minimum, pattern::lone_nan,
                              pattern::lone_infinity, pattern::lone_value}) {
    for (const std::int64_t index : telling_indices(300, 64, seed)) {
      add(list, 3, 300, input);
      list.back().index = 300 + index;
    }
  }
  // And of a long row, where a value that is left out changes little else.
  for (const std::int64_t columns : {8'199, 8'200, 8'201, 8'202, 32'768, 66'000, 66'003}) {
    for (const std::int64_t index : {std::int64_t{0}, columns / 2, columns - 8, columns - 1}) {
      add(list, 1, columns, pattern::lone_maximum);
      list.back().index = index;
    }
  }
  if constexpr (!emulated) {
    for (const std::int64_t columns : {64, 1'000, 4'096, 8'192, 32'768, 262'144})
      add(list, 10'000'019 / columns, columns);
    add(list, 10'000'019, 1);
    // Indices beyond 32 bits.
    add(list, 70'004, 61'360);
  }
  return of_both_types(list);
}

namespace {
// What is left out of a sum, or added twice, is more than the bound of float32, as long as a row has fewer
// than 10^5 values. For bfloat16 the largest value, which makes up the sum, stands at places that could be
// left out.
const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid,
     .alternatives = alternatives,
     .parameters_of_files = parameters_of_files,
     .is_exact = [](const problem::parameters&) { return false; }}};
}  // namespace

}  // namespace lab::softmax
