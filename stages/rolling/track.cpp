// What the stages of the window functions are tried on.
#include <map>

#include "harness/device/array_track.hpp"
#include "stages/rolling/expression_reader.hpp"
#include "stages/rolling/problem.hpp"

namespace lab::rolling {

std::vector<parameter<problem::parameters>> problem::describe() {
  return {parameter_n<parameters>(300'000),
          {.name = "window",
           .member = &parameters::window,
           .meaning = "values that an output is made of",
           .minimum = 1,
           .bench = {300}},
          {.name = "min-periods",
           .member = &parameters::min_periods,
           .meaning = "the fewest values that complete a window; 0: all of it",
           .bench = {0},
           .apply_default = 0},
          {.name = "operation",
           .member = &parameters::operation,
           .meaning = "what is made of a window",
           .bench = {"mean", "max", "std"},
           .emulator_bench = {"std", "mean"},
           .choices = {{0, "mean"},
                       {1, "sum"},
                       {2, "min"},
                       {3, "max"},
                       {4, "var"},
                       {5, "std"},
                       {6, "first_minus_last"},
                       {7, "user"}}},
          {.name = "missing",
           .member = &parameters::missing,
           .meaning = "what a NaN does: it poisons its windows, or counts as absent",
           .bench = {"propagate"},
           .choices = {{0, "propagate"}, {1, "skip"}},
           .apply_default = "propagate"}};
}

namespace {

// Whether no result is beyond the inputs' own range, whatever the order in which they are combined.
bool keeps_range(operation which) {
  return which == operation::min || which == operation::max || which == operation::first_minus_last ||
         which == operation::user;
}

}  // namespace

// Another operation, beginning with those that differ least; then without what not every stage has.
std::vector<problem::parameters> problem::alternatives(const parameters& p, pattern input) {
  std::vector<parameters> list;
  for (const bool simple : {false, true}) {
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(operations); ++step) {
      parameters other = p;
      other.operation = (p.operation + step) % static_cast<std::int64_t>(operations);
      if (input == pattern::extremes && !keeps_range(static_cast<operation>(other.operation))) continue;
      if (simple) other.min_periods = 0, other.missing = static_cast<std::int64_t>(missing::propagate);
      list.push_back(other);
    }
  }
  return list;
}

namespace {

// Adds cases, each with the next operation.
class case_list {
 public:
  explicit case_list(std::uint64_t turn) : turn_(turn) {}

  void add(std::int64_t n, std::int64_t window, pattern kind, bool brief = false) {
    add(n, window, kind, brief, next_operation());
  }
  void add(std::int64_t n, std::int64_t window, pattern kind, bool brief, operation which) {
    if (n < 0 || window < 1) return;
    cases.push_back(
        {{.n = n,
          .window = window,
          .min_periods = next_min_periods(window),
          .operation = static_cast<std::int64_t>(which),
          .missing = static_cast<std::int64_t>(turn_ % 5 == 2 ? missing::skip : missing::propagate)},
         kind,
         brief});
  }

  // One launch of exactly this.
  void add_with(std::int64_t n, std::int64_t window, pattern kind, operation which, missing way,
                std::int64_t min_periods) {
    cases.push_back({{.n = n,
                      .window = window,
                      .min_periods = min_periods,
                      .operation = static_cast<std::int64_t>(which),
                      .missing = static_cast<std::int64_t>(way)},
                     kind,
                     true});
  }

  cases_of<problem::parameters> cases;

 private:
  operation next_operation() { return static_cast<operation>(turn_++ % operations); }
  // The window, one, or something in between.
  std::int64_t next_min_periods(std::int64_t window) {
    const std::uint64_t bits = random_bits(0x3141, turn_ ^ static_cast<std::uint64_t>(window));
    if (bits % 4 == 0) return 1;
    return bits % 4 == 1 ? 1 + static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(window))
                         : 0;
  }

  std::uint64_t turn_;
};

void add_sizes(case_list& list, std::int64_t tile) {
  for (const std::int64_t n : border_sizes(tile)) {
    for (const std::int64_t window : border_windows(n, tile)) list.add(n, window, pattern::integers, true);
  }
}

void add_windows(case_list& list, std::int64_t tile) {
  for (const std::int64_t window : {1, 4, 31, 64, 100, 127, 1023, 1024, 1025})
    list.add(9'011, window, pattern::random, true);
  for (std::size_t k = 0; k < operations; ++k) {
    for (const std::int64_t window : {3000, 4096})
      list.add(window + 2 * tile + 777, window, pattern::random, false, static_cast<operation>(k));
  }
  // A stage may have other tiles for states of several numbers (05_two_scans: 2688 values, and 1920 for
  // windows beyond 8064), and other places for results of longer windows (beyond 13 441).
  for (const operation which : {operation::var, operation::std}) {
    for (const std::int64_t window : {21, 22, 1345, 1921, 2688, 2689, 5377, 8064, 8065, 13441, 13442, 16384})
      list.add(window + 2 * tile + 777, window, pattern::random, false, which);
  }
  // For one's own, 2176 values, and with results in other places beyond windows of 13 057.
  for (const std::int64_t window : {17, 18, 1089, 2176, 2177, 8704, 8705, 13057, 13058, 16384})
    list.add(window + 2 * tile + 777, window, pattern::random, false, operation::user);
  for (const std::int64_t window : {15360, 15361})
    list.add(window + 2 * tile + 777, window, pattern::random, false, operation::first_minus_last);
  // So too where values are skipped, and 1920 or 1664 beyond windows of 8704.
  for (const std::int64_t window :
       {std::int64_t{18}, std::int64_t{2177}, std::int64_t{8704}, std::int64_t{8705}, tile + 1, 3 * tile}) {
    for (const operation which : {operation::std, operation::mean, operation::max})
      list.add_with(window + 2 * tile + 777, window, pattern::gaps, which, missing::skip, 1);
  }
  for (const std::int64_t window : {8191, 16383, 16384})
    list.add(window + 2 * tile + 777, window, pattern::integers);
}

void add_patterns(case_list& list, std::int64_t tile) {
  for (std::size_t k = 0; k < operations; ++k) {
    for (const pattern kind :
         {pattern::signed_random, pattern::spikes, pattern::nonfinite, pattern::denormal, pattern::ramp}) {
      for (const std::int64_t window : {2, 17, 300}) list.add(6'011, window, kind, window != 17);
    }
  }
  for (const pattern kind : patterns_of_one_kind(pattern::integers, pattern::lone_maximum)) {
    for (std::size_t k = 0; k < operations; ++k) list.add(tile + 311, k % 3 == 0 ? 5 : 300, kind, k > 0);
  }
}

// Every operation with every way to count what is missing, where much is; and the signs and magnitudes of
// doubles.
void add_missing(case_list& list) {
  for (const missing way : {missing::skip, missing::propagate}) {
    for (std::size_t k = 0; k < operations; ++k) {
      for (const std::int64_t window : {std::int64_t{3}, std::int64_t{130}}) {
        for (const std::int64_t min_periods : {std::int64_t{0}, std::int64_t{1}, window - window / 3})
          list.add_with(2'203, window, pattern::gaps, static_cast<operation>(k), way, min_periods);
      }
      list.add_with(2'203, 17, pattern::nonfinite, static_cast<operation>(k), way, 2);
      list.add_with(1'203, 9, pattern::wide, static_cast<operation>(k), way, 0);
      // A variance would be beyond the range.
      const auto which = static_cast<operation>(k);
      if (which != operation::var && which != operation::std)
        list.add_with(1'203, 9, pattern::large, which, way, 0);
    }
  }
}

// Every operation with every way to count, where a window is longer than what a warp or a block takes at
// once, and with as many values present as complete it and not all.
void add_missing_in_long_windows(case_list& list, std::int64_t tile, std::uint64_t seed) {
  const auto drawn = [&](std::uint64_t k, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_bits(seed ^ 0x1096, k) %
                                             static_cast<std::uint64_t>(most - least));
  };
  std::uint64_t turn = 0;
  for (const missing way : {missing::skip, missing::propagate}) {
    for (std::size_t k = 0; k < operations; ++k) {
      const auto which = static_cast<operation>(k);
      for (const int fewest : {0, 1, 2}) {
        const std::int64_t window = drawn(++turn, 201, 700);
        const std::int64_t min_periods = fewest < 2 ? fewest : drawn(++turn, 2, window / 2);
        list.add_with(window + 1'203, window, pattern::gaps, which, way, min_periods);
      }
      const std::int64_t window = drawn(++turn, tile + 1, 3 * tile + 3);
      for (const bool whole : {false, true})
        list.add_with(window + tile + 77, window, pattern::gaps, which, way,
                      whole ? 1 : drawn(++turn, 2, std::max<std::int64_t>(3, window / 2)));
      // A single value in hundreds, and none in thousands.
      list.add_with(6'011, 300, pattern::sparse, which, way, 1);
      if (keeps_range(which)) list.add_with(1'203, k % 2 == 0 ? 9 : 300, pattern::extremes, which, way, 0);
      list.add_with(3 * tile + 41, drawn(++turn, 2, 41), pattern::random, which, way, 0);
    }
  }
}

// Windows of several tiles, exactly and about; and longer ones than any that are measured.
void add_long_windows(case_list& list, std::int64_t tile) {
  for (const std::int64_t window : {2 * tile - 1, 2 * tile, 2 * tile + 1, 3 * tile, 4 * tile + 1})
    list.add(window + tile + 33, window, pattern::integers, true);
  for (const operation which : {operation::mean, operation::std}) {
    const std::int64_t window = 33 * tile + tile / 2;  // of 32 whole tiles
    list.add_with(window + 1'033, window, pattern::integers, which, missing::propagate, 0);
  }
  // Of more whole tiles than a block asks for at once (rolling/06_long_windows: 128), and in their order:
  // most of them hold no value or a few, so that what comes first, and what comes last, lies far from the
  // ends.
  const std::int64_t of_many = 150 * tile + tile / 2;
  for (const operation which : {operation::sum, operation::std})
    list.add_with(of_many + 1'033, of_many, pattern::integers, which, missing::propagate, 0);
  list.add_with(of_many + 4'133, of_many, pattern::sparse, operation::first_minus_last, missing::skip, 1);
  constexpr std::int64_t window = (1 << 17) + 1;
  list.add_with(window + 1'033, window, pattern::integers, operation::sum, missing::propagate, 0);
  // A last tile that is whole, or of one value.
  for (const std::int64_t rest : {-1, 0, 1}) {
    list.add(4 * tile + rest, 2 * tile + 17, pattern::integers, true);
    list.add(6 * tile + rest, tile + 5, pattern::integers, true);
  }
}

void add_drawn(case_list& list, std::int64_t tile, std::uint64_t seed) {
  for (const std::int64_t n : residue_sizes(tile, seed))
    list.add(n, drawn_window(n, random_bits(seed, static_cast<std::uint64_t>(n))), pattern::integers, true);
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 16; ++k) {
    const auto n = static_cast<std::int64_t>(1 + random_bits(7, k) % 40'000);
    const auto longest = static_cast<std::uint64_t>(std::min<std::int64_t>(n, 2000));
    list.add(n, static_cast<std::int64_t>(1 + random_bits(8, k) % longest), pattern::random);
  }
}

void add_large(case_list& list) {
  for (std::size_t k = 0; k < operations; ++k)
    list.add(1'000'017, 300, k % 4 == 0 ? pattern::random : pattern::integers, true);
  // So many tiles of a block that it comes back to each place of its shared memory.
  constexpr std::int64_t several_rounds = 12'000'017;
  for (const operation which : {operation::mean, operation::max, operation::var, operation::std,
                                operation::first_minus_last, operation::user}) {
    for (const std::int64_t window : {300, 13'057, 13'442, 16'383, 16'384})
      list.add_with(several_rounds, window, window % 4 == 0 ? pattern::random : pattern::integers, which,
                    missing::propagate, 0);
    list.add_with(several_rounds, 16'384, pattern::gaps, which, missing::skip, 1);
  }
  // Enough blocks for their order to change.
  list.add(3'000'017, 300, pattern::random, false, operation::mean);
  // Indices beyond 32 bits.
  list.add((std::int64_t{1} << 31) + 12'345, 300, pattern::random, true, operation::mean);
}

}  // namespace

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list(0);
  // A few quick ones that every run repeats: each operation, and what running sums get wrong.
  list.add(3 * tile + 17, 37, pattern::random);
  for (std::size_t k = 1; k < operations; ++k)
    list.add(6'011, k % 2 == 0 ? 300 : 5, k < 5 ? pattern::signed_random : pattern::random);
  for (const operation which : {operation::mean, operation::std, operation::max, operation::user}) {
    list.add(6'011, 700, pattern::spikes, false, which);
    list.add(6'011, 5, pattern::nonfinite, false, which);
  }
  // Of several tiles, which the blocks before have: what they hand over is to be seen observed.
  const std::int64_t usual_tile = std::clamp<std::int64_t>(tile, 64, 2048);
  const std::int64_t several_tiles = 3 * usual_tile + 31;
  for (const operation which : {operation::mean, operation::std, operation::first_minus_last})
    list.add_with(several_tiles + 2 * usual_tile + 17, several_tiles, pattern::integers, which,
                  missing::propagate, 0);
  if (!thorough) return std::move(list.cases);

  add_sizes(list, tile);
  add_windows(list, tile);
  add_patterns(list, tile);
  add_missing(list);
  add_missing_in_long_windows(list, usual_tile, seed);
  add_long_windows(list, usual_tile);
  // Windows longer than any that are measured, of two operations: a thread for each output takes its time.
  list.add_with(20'503, 20'011, pattern::integers, operation::sum, missing::propagate, 0);
  list.add_with(6'011, 5'003, pattern::integers, operation::first_minus_last, missing::propagate, 0);
  add_drawn(list, tile, seed);
  if constexpr (!emulated) add_large(list);
  return std::move(list.cases);
}

namespace {

std::string why_invalid(const problem::parameters& p) {
  if (p.min_periods <= p.window) return "";
  return "min-periods " + std::to_string(p.min_periods) + " is more than the window, " +
         std::to_string(p.window);
}

double exact_unit(const problem::parameters& p) {
  return static_cast<operation>(p.operation) == operation::mean ? static_cast<double>(p.window) : 1;
}

// What a running sum carries along, of the largest magnitude among the inputs: of a root, the root of it.
double drift_error(const problem::parameters& p) {
  if (!problem::may_drift(p)) return 0;
  return static_cast<operation>(p.operation) == operation::std ? 1e-6 : 1e-12;
}

// A variance adds squares up.
double drift_scale(const problem::parameters& p, double largest) {
  return static_cast<operation>(p.operation) == operation::var ? largest * largest : largest;
}

std::string remark(const problem::parameters& p, double smallest) {
  const auto which = static_cast<operation>(p.operation);
  const bool squares = which == operation::var || which == operation::std;
  if (!squares || smallest >= 0x1p-511) return "";
  return "of differences below 1.5e-154 the squares are below the range of a float64, and the variance is "
         "0 or has few digits";
}

std::vector<text_description> texts() {
  return {{"operation",
           "an expression of the values x[0] .. x[count - 1] of a window, such as 'x[0] - x[count - 1]'"}};
}

// The stage is proved with the operation that is compiled into it.
void stand_in_for(const std::map<std::string, std::string>& texts, parameter_values& values) {
  if (texts.empty()) return;
  if (values.contains("operation"))
    throw usage_error("--operation is given as a word of the track and as an expression");
  values["operation"] = "user";
}

void take(const std::map<std::string, std::string>& texts, problem::parameters& p) {
  const std::string& text = texts.at("operation");
  try {
    p.expression = std::make_shared<const window_expression>(expression_reader::read(text));
  } catch (const std::invalid_argument& refused) {
    std::string words;
    for (const auto& one : problem::describe()) {
      if (one.name != std::string("operation")) continue;
      for (const choice& word : one.choices) words += word.name + std::string(", ");
    }
    throw usage_error("--operation '" + text + "' is neither one of " + words + "nor an expression; " +
                      refused.what());
  }
}

const array_track_registration<problem> registered{LAB_PATH,
                                                   {.why_invalid = why_invalid,
                                                    .alternatives = problem::alternatives,
                                                    .exact_cases = exact_with<pattern::integers>,
                                                    .is_exact = problem::is_exact,
                                                    .exact_unit = exact_unit,
                                                    .exact_error = 0x1p-51,
                                                    .streams = problem::streams,
                                                    .drift_error = drift_error,
                                                    .drift_scale = drift_scale,
                                                    .remark = remark,
                                                    .texts = texts,
                                                    .stand_in_for = stand_in_for,
                                                    .take = take,
                                                    .prepare_right = plain_expression}};

}  // namespace

}  // namespace lab::rolling
