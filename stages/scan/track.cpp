// What the stages of the scan are tried on.
#include "harness/device/array_track.hpp"
#include "harness/device/case_inputs.hpp"
#include "stages/scan/problem.hpp"

namespace lab::scan {

std::vector<parameter<problem::parameters>> problem::describe() {
  return {parameter_n<parameters>(262'144),
          {.name = "type",
           .member = &parameters::type,
           .meaning = "type of the values",
           .bench = {"float32"},
           .emulator_bench = {"float32"},
           .choices = {{0, "int32"}, {1, "int64"}, {2, "float32"}}},
          {.name = "kind",
           .member = &parameters::kind,
           .meaning = "whether a result includes the value at its own index",
           .bench = {"inclusive"},
           .emulator_bench = {"inclusive"},
           .choices = {{0, "inclusive"}, {1, "exclusive"}},
           .apply_default = "inclusive"},
          {.name = "operation",
           .member = &parameters::operation,
           .meaning = "what combines two values",
           .bench = {"sum"},
           .emulator_bench = {"sum"},
           .choices = {{0, "sum"}, {1, "user"}},
           .apply_default = "sum"}};
}

namespace {

class case_list {
 public:
  void add(std::int64_t n, pattern input, element type, kind of, operation combine, bool brief = true) {
    if (n < 0) return;
    cases.push_back({.parameters = {.n = n,
                                    .type = static_cast<std::int64_t>(type),
                                    .kind = static_cast<std::int64_t>(of),
                                    .operation = static_cast<std::int64_t>(combine)},
                     .input = input,
                     .brief = brief});
  }
  // With the next type, kind and operation, and values whose results are exact.
  void add(std::int64_t n) {
    const auto type = static_cast<element>(turn_ % 3);
    const auto combine = static_cast<operation>(turn_ / 6 % 2);
    const pattern input = combine == operation::user ? pattern::ties
                          : type == element::float32 ? pattern::small_integers
                                                     : pattern::integers;
    add(n, input, type, static_cast<kind>(turn_ / 3 % 2), combine);
    ++turn_;
  }

  cases_of<problem::parameters> cases;

 private:
  std::uint64_t turn_ = 0;
};

constexpr element all_elements[] = {element::int32, element::int64, element::float32};

}  // namespace

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  using enum kind;
  case_list list;
  // A few quick ones that every run repeats: several tiles and a ragged end, nothing, an operation that is
  // not commutative, NaN and Inf, sums that wrap around.
  list.add(2 * tile + 17, pattern::random, element::float32, inclusive, operation::sum, false);
  list.add(0, pattern::random, element::float32, inclusive, operation::sum);
  list.add(tile + 5, pattern::ties, element::int32, exclusive, operation::user);
  list.add(2 * tile + 311, pattern::nonfinite, element::float32, exclusive, operation::sum);
  list.add(9'001, pattern::extremes, element::int64, inclusive, operation::sum);
  if (!thorough) return std::move(list.cases);

  for (const std::int64_t n : border_sizes(tile)) {
    for (int turn = 0; turn < 4; ++turn) list.add(n);
  }
  for (const std::int64_t n : residue_sizes(std::min<std::int64_t>(tile, 2'048), seed)) list.add(n);
  for (const element type : all_elements) {
    for (const pattern input : patterns_of_one_kind(pattern::extremes, pattern::wide)) {
      list.add(tile + 311, input, type, exclusive, operation::user);
      // Sums of the largest floats overflow in one order and not in another.
      if (type != element::float32 || input != pattern::extremes)
        list.add(tile + 311, input, type, inclusive, operation::sum);
    }
  }
  for (const pattern input : {pattern::signed_random, pattern::spikes, pattern::infinite, pattern::denormal,
                              pattern::ramp, pattern::large, pattern::gaps, pattern::lone_nan})
    list.add(2 * tile + 311, input, element::float32, inclusive, operation::sum);
  // A lone value, which all results behind it have: of the sum and of the other operation.
  for (const std::int64_t index : telling_indices(3 * tile + 5, tile, seed)) {
    list.add(3 * tile + 5, pattern::lone_value, all_elements[index % 3], static_cast<kind>(index % 2),
             static_cast<operation>(index / 2 % 2));
    list.cases.back().index = index;
  }
  // More than 32 tiles, and more than 1024.
  for (const element type : all_elements) {
    list.add(33 * tile + 5, pattern::lone_value, type, inclusive, operation::user);
    list.cases.back().index = tile - 1;
  }
  list.add(70 * tile + 5, pattern::small_integers, element::float32, inclusive, operation::sum);
  list.add(70 * tile + 5, pattern::ties, element::int64, exclusive, operation::user);
  list.add(70 * tile + 5, pattern::random, element::float32, inclusive, operation::sum);
  list.add(70 * tile + 5, pattern::integers, element::int64, exclusive, operation::sum);
  list.add(1'030 * tile + 5, pattern::small_integers, element::float32, inclusive, operation::sum);
  if constexpr (!emulated) {
    list.add(10'000'019, pattern::random, element::float32, inclusive, operation::sum);
    list.add(10'000'019, pattern::ties, element::int32, exclusive, operation::user);
    // Indices beyond 31 bits.
    list.add((std::int64_t{1} << 31) + 12'345, pattern::random, element::float32, inclusive, operation::sum);
  }
  return std::move(list.cases);
}

namespace {

// Sums of whole numbers, which are representable; and a lone value among zeros, which all results behind it
// have.
std::vector<exact_case> exact_cases(const problem::parameters& p, std::int64_t tile, std::uint64_t seed) {
  if (static_cast<operation>(p.operation) == operation::sum)
    return {{static_cast<element>(p.type) == element::float32 ? pattern::small_integers : pattern::integers}};
  std::vector<exact_case> list;
  for (const std::int64_t index : telling_indices(p.n, tile, seed))
    list.push_back({pattern::lone_value, index});
  return list;
}

const array_track_registration<problem> registered{
    LAB_PATH, {.parameters_of_files = n_and_type_of_file, .exact_cases = exact_cases}};

}  // namespace

}  // namespace lab::scan
