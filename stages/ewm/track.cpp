// What the stages of the exponentially weighted moving average are tried on.
#include "harness/device/array_track.hpp"
#include "stages/ewm/problem.hpp"

namespace lab::ewm {

std::vector<parameter<problem::parameters>> problem::describe() {
  return {parameter_n<parameters>(300'000),
          {.name = "span",
           .member = &parameters::span,
           .meaning = "alpha is 2 / (span + 1); replaced by alpha or half-life, where one is given",
           .bench = {300.0},
           .apply_default = 0.0},
          {.name = "alpha",
           .member = &parameters::alpha,
           .meaning = "the weight of the newest value, instead of the span; 0: not given",
           .bench = {0.0},
           .apply_default = 0.0},
          {.name = "half-life",
           .member = &parameters::half_life,
           .meaning = "positions in which a weight halves, instead of the span; 0: not given",
           .bench = {0.0},
           .apply_default = 0.0},
          {.name = "adjust",
           .member = &parameters::adjust,
           .meaning = "whether weights are divided by their sum, or the first value weighs as all before it",
           .bench = {"true"},
           .choices = {{1, "true"}, {0, "false"}},
           .apply_default = "true"},
          {.name = "min-periods",
           .member = &parameters::min_periods,
           .meaning = "the fewest values that complete an average; 0: the span, rounded up",
           .bench = {0},
           .apply_default = 0}};
}

namespace {

std::string why_invalid(const problem::parameters& p) {
  const auto text = [](double value) { return parameter_value(value).text(); };
  if (p.alpha != 0 && p.half_life != 0)
    return "alpha " + text(p.alpha) + " and half-life " + text(p.half_life) +
           " are given together: one will do";
  if (!(p.alpha >= 0 && p.alpha <= 1))
    return "alpha must be above 0 and at most 1, not " + text(p.alpha) + " (0: not given)";
  if (!(p.half_life >= 0)) return "half-life must be above 0, not " + text(p.half_life) + " (0: not given)";
  if (p.alpha == 0 && p.half_life == 0) {
    if (p.span == 0) return "a span is needed, or alpha or half-life in its place";
    if (!(p.span >= 1)) return "span must be at least 1, not " + text(p.span);
  }
  if (!(problem::alpha(p) > 0))
    return "a weight that halves in " + text(p.half_life) + " positions does not decay";
  return "";
}

// Adds cases, each with the next `adjust` and `min-periods`.
class case_list {
 public:
  void add(std::int64_t n, double span, pattern kind, bool brief = false) {
    if (n < 0) return;
    const std::int64_t periods[] = {0, 1, 0, 2, 1, 7, 0, 40};
    cases.push_back({{.n = n,
                      .span = span,
                      .adjust = static_cast<std::int64_t>(turn_ % 2),
                      .min_periods = periods[turn_ / 2 % 8]},
                     kind,
                     brief});
    ++turn_;
  }
  // With both.
  void add_both(std::int64_t n, double span, pattern kind, bool brief = false) {
    for (const std::int64_t adjust : {1, 0})
      cases.push_back({{.n = n, .span = span, .adjust = adjust, .min_periods = 1}, kind, brief});
  }

  cases_of<problem::parameters> cases;

 private:
  std::uint64_t turn_ = 0;
};

}  // namespace

// Whole numbers are compared one after another, others each by itself: long runs are of whole numbers.
cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list;
  // A few quick ones that every run repeats: several blocks and a ragged end, gaps, what must decay, and more
  // values than a warm-up of span 100 takes.
  list.add_both(3 * tile + 17, 10, pattern::random);
  list.add_both(6'011, 2, pattern::nonfinite);
  list.add_both(6'011, 30, pattern::spikes);
  list.add_both(12'011, 100, pattern::integers);
  list.cases.push_back({{.n = 5'011, .span = 0, .half_life = 4.5}, pattern::signed_random});
  list.cases.push_back({{.n = 5'011, .span = 0, .alpha = 0.25, .adjust = 0}, pattern::nonfinite});
  if (!thorough) return std::move(list.cases);

  for (const std::int64_t n : border_sizes(tile)) {
    for (const double span : {1.0, 2.0, 30.0, 300.0}) list.add(n, span, pattern::integers, true);
  }
  for (const double span : {1.0, 1.5, 2.0, 5.0, 12.25, 30.0, 64.0})
    list.add_both(2 * tile + 1'011, span, pattern::random, true);
  // No value is forgotten within them.
  list.add_both(3'011, 1e6, pattern::random, true);
  list.add_both(3'011, 0x1p60, pattern::integers, true);
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::nonfinite, pattern::infinite,
                             pattern::denormal, pattern::ramp}) {
    for (const double span : {1.0, 2.0, 30.0}) list.add_both(6'011, span, kind, span != 30);
    list.add_both(12'011, 300, kind, true);
  }
  for (const pattern kind : patterns_of_one_kind(pattern::lone_maximum)) {
    for (const double span : {1.0, 2.0, 30.0, 300.0}) list.add(tile + 311, span, kind, span < 30);
  }
  // Gaps of every length, among the first values as well, for every fewest number of values.
  for (const double span : {1.0, 2.0, 30.0}) {
    for (const std::int64_t min_periods : {0, 1, 2, 7, 40}) {
      for (const std::int64_t adjust : {1, 0}) {
        list.cases.push_back(
            {{.n = 3'203, .span = span, .adjust = adjust, .min_periods = min_periods}, pattern::gaps, true});
      }
    }
    list.add_both(2'203, span, pattern::wide, true);
    list.add_both(2'203, span, pattern::large, true);
  }
  // Nearly nothing but gaps, of thousands of values; and many values until an average is complete.
  for (const double span : {2.0, 30.0, 3000.0}) {
    for (const std::int64_t min_periods : {0, 1, 17}) {
      for (const std::int64_t adjust : {1, 0}) {
        list.cases.push_back({{.n = 12'011, .span = span, .adjust = adjust, .min_periods = min_periods},
                              pattern::sparse,
                              true});
      }
    }
    for (const std::int64_t min_periods : {300, 1'025, 3'010, 5'000}) {
      list.cases.push_back({{.n = 3'011, .span = span, .adjust = min_periods % 2, .min_periods = min_periods},
                            min_periods == 1'025 ? pattern::gaps : pattern::integers,
                            true});
    }
  }
  // A gap that ends where a tile does, before one without a gap; and averages that are complete only when
  // the first values have long been forgotten.
  for (const std::int64_t adjust : {1, 0}) {
    for (const double span : {20.0, 200.0}) {
      list.cases.push_back(
          {{.n = 4 * tile + 5, .span = span, .adjust = adjust, .min_periods = 1}, pattern::lone_nan, true});
      list.cases.back().index = 2 * tile - 1;
    }
    list.cases.push_back({{.n = 4 * tile + 5, .span = 20, .adjust = adjust, .min_periods = 3 * tile - 40},
                          pattern::random,
                          true});
  }
  // A value that has decayed by hundreds of bits where nothing but zeros follow: who forgets it shows; and
  // one whose weight is no number any more.
  for (const std::int64_t n : {4 * tile + 5, std::int64_t{16'011}}) {
    for (const std::int64_t adjust : {1, 0}) {
      list.cases.push_back(
          {{.n = n, .span = 30, .adjust = adjust, .min_periods = 1}, pattern::lone_value, true});
      list.cases.back().index = tile - 1;
    }
  }
  // An average that is complete only when its first value is all but forgotten.
  for (const std::int64_t min_periods : {21, 22}) {
    for (const pattern kind : {pattern::gaps, pattern::integers})
      list.cases.push_back(
          {{.n = 3'203, .span = 2, .adjust = min_periods % 2, .min_periods = min_periods}, kind, true});
  }
  // Longer than what stays of the first values.
  list.add_both(50'011, 1'000, pattern::integers, true);
  list.add(60'011, 4'096, pattern::integers, true);
  // More values than all that is drawn.
  list.add_both(140'002, 30, pattern::nonfinite, true);
  list.add_both(140'003, 300, pattern::integers, true);
  for (const std::int64_t adjust : {1, 0}) {
    list.cases.push_back(
        {{.n = 40'011, .span = 0, .alpha = 1e-4, .adjust = adjust}, pattern::integers, true});
    list.cases.push_back(
        {{.n = 12'011, .span = 0, .half_life = 150, .adjust = adjust}, pattern::integers, true});
  }
  // A lone value on both sides of every kind of border.
  for (const std::int64_t index : telling_indices(3 * tile + 5, tile, seed)) {
    list.add(3 * tile + 5, 20, pattern::lone_maximum, true);
    list.cases.back().index = index;
  }
  for (const std::int64_t n : residue_sizes(tile, seed)) {
    const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(n));
    list.add(n, 1 + static_cast<double>(bits >> 40 & 0xfff) / 64, pattern::integers, true);
  }
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 12; ++k) {
    list.add(static_cast<std::int64_t>(1 + random_bits(7, k) % 40'000),
             1 + static_cast<double>(random_bits(8, k) % 300), pattern::integers);
  }
  if constexpr (!emulated) {
    list.add_both(3'000'017, 300, pattern::random);
    list.add_both(20'000'017, 3000, pattern::integers);
    // Of so long a span that the order in which blocks are added up shows in the last bits, however far back
    // it differs.
    list.cases.push_back({{.n = 3'000'017, .span = 2e5, .adjust = 1, .min_periods = 1}, pattern::integers});
    // Indices beyond 32 bits.
    list.add((std::int64_t{1} << 31) + 12'345, 300, pattern::random, true);
  }
  return std::move(list.cases);
}

namespace {
// No output is exact, but each can be had from the one before: whole numbers are compared everywhere.
const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid,
     .exact_cases = exact_with<pattern::integers>,
     .is_exact = [](const problem::parameters&) { return false; }}};
}  // namespace

}  // namespace lab::ewm
