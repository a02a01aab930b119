// The exponentially weighted moving average: kernels that are wrong in one way each, parameters that exclude
// each other, and what pandas makes of gaps.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/npy.hpp"
#include "common/stream.hpp"
#include "harness/device/inputs.hpp"
#include "harness/device/reference_run.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "stages/ewm/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/temporary_directory.hpp"

namespace {

// Refused as wrong, in a trial whose description holds `words`.
void require_wrong_average(const std::string& path, const std::string& words) {
  INFO(path);
  const lab::stream stream;
  const lab::verification_record record = lab::verify(lab::find_stage(path), {1, 2}, false, stream.get());
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(record.failure->kind == lab::failure_kind::wrong);
  CHECK(message.find(words) != std::string::npos);
}

using lab::ewm::problem;

constexpr double nothing = std::numeric_limits<double>::infinity();

bool is_equal(const lab::expectation& found, const lab::expectation& plain) {
  if (std::isinf(plain.value)) return std::isinf(found.value);
  return std::abs(found.value - plain.value) <= 0x1p-58L * plain.scale &&
         std::abs(found.scale - plain.scale) <= 1e-9L * plain.scale && found.largest == plain.largest;
}

// All outputs by way of pieces of `piece` values, against the definition from the first value on.
void require_runs_are_the_definition(const std::vector<double>& values, problem::parameters p,
                                     std::int64_t piece) {
  p.n = std::ssize(values);
  INFO("n " << p.n << " span " << p.span << " adjust " << p.adjust << " min-periods " << p.min_periods
            << " pieces of " << piece);
  const std::tuple sources{[&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }};
  const auto before = lab::runs_before<problem>(sources, p, p.n, piece);
  problem::reference_run plain(p);
  std::int64_t wrong = 0;
  for (std::int64_t first = 0; first < p.n; first += piece) {
    auto run = before[static_cast<std::size_t>(first / piece)];
    for (std::int64_t i = first; i < std::min(p.n, first + piece); ++i) {
      run.add(values[static_cast<std::size_t>(i)]);
      plain.add(values[static_cast<std::size_t>(i)]);
      if (!is_equal(run.expected(), plain.expected())) ++wrong;
    }
  }
  CHECK(wrong == 0);
  if (p.n > 0) CHECK(is_equal(problem::reference(std::get<0>(sources), p, p.n - 1), plain.expected()));
}

// A rain gauge: a shower now and then.
std::vector<double> rain(std::size_t n) {
  std::vector<double> values(n, 0.0);
  for (std::size_t i = 0; i < n; i += 397) values[i] = 1 + static_cast<double>(i % 7);
  return values;
}

const std::vector<double> values_with_gaps{NAN, 2, NAN, NAN, 5, 7, nothing, 1};

}  // namespace

TEST_CASE("averages that forget too early, or never, are refused by the quick trials") {
  lab::skip_without_device();
  require_wrong_average("ewm/no_warm_up", "input=random");
  require_wrong_average("ewm/combines_backwards", "input=random");
  require_wrong_average("ewm/nan_sticks", "expected 0.");
  require_wrong_average("ewm/nan_sticks", "input=NaN and Inf");
  require_wrong_average("ewm/forgets_too_early", "input=spikes of 1e16");
  require_wrong_average("ewm/ignores_adjust", "adjust=false");
}

// A span of 2^60 has an alpha that is nothing beside 1.
TEST_CASE("where weights do not decay, no value is too old") {
  CHECK(lab::ewm::problem::values_to_decay(1, 106) == std::int64_t{1} << 40);
  CHECK(lab::ewm::problem::values_to_decay(0.5, 106) == 106);
  CHECK(lab::ewm::problem::values_to_decay(0, 106) == 1);
}

// x = 1e6 and 1499 zeros at span 5, by Python's fractions.
TEST_CASE("no value is too old for the reference, however small what is left of it") {
  std::vector<double> values(1500, 0.0);
  values[0] = 1e6;
  const auto value = [&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; };
  for (const std::int64_t adjust : {1, 0}) {
    const problem::parameters p{.n = 1500, .span = 5, .adjust = adjust};
    const lab::expectation found = problem::reference(value, p, 1499);
    const long double left = 1e6L * std::pow(problem::decay(p) + 0.0L, 1499) / (adjust ? 3 : 1);
    CHECK(std::abs(found.value - left) < 1e-12L * left);
    CHECK(std::abs(found.value / (adjust ? 3.6482233680547504e-259 : 1.0944670104164254e-258) - 1) < 1e-12L);
    // What stopped after 676 bits of decay had 0 here, which is no longer right.
    CHECK(found.scale * problem::relative_error(p) < 1e-3L * left);
  }
}

TEST_CASE("what a stage has forgotten is told, and not written where nothing else is left") {
  lab::skip_without_device();
  const lab::test::temporary_directory directory;
  const std::string x = (directory / "x.npy").string();
  const std::string y = (directory / "y.npy").string();
  const auto apply = [&](const std::string& stage, const std::vector<double>& values, bool allow_inexact) {
    lab::write_npy<double>(x, values, std::array<std::int64_t, 1>{std::ssize(values)});
    return lab::worker(0).answer({{"op", "apply"},
                                  {"stage", stage},
                                  {"parameters", {{"span", 30}, {"min-periods", 1}}},
                                  {"inputs", {x}},
                                  {"outputs", {y}},
                                  {"allow_inexact", allow_inexact}});
  };
  std::vector<double> one(40'000, 0.0);
  one[0] = 1;
  CHECK(apply("ewm/03_look_back", one, false).content.at("remark") == "");
  const auto refused = apply("ewm/04_warm_start", one, false);
  CHECK(refused.end == lab::answer_end::error);
  CHECK(refused.message.find("by the trait `forgets`") != std::string::npos);
  const auto allowed = apply("ewm/04_warm_start", one, true);
  CHECK(allowed.end == lab::answer_end::ok);
  CHECK(allowed.content.at("remark").get<std::string>().find("up to 4.9e-32") != std::string::npos);
  CHECK(apply("ewm/04_warm_start", std::vector<double>(40'000, 17.0), false).content.at("remark") == "");
}

// The sums as they are written, each output for itself.
TEST_CASE("the reference is the sum over all values") {
  const std::vector<double> values{nothing, 3, NAN, NAN, -1, 4, 1e300, NAN, 5, 0, 0, 7, 0x1p-1074, NAN};
  for (const double alpha : {1.0, 0.75, 0.1}) {
    const problem::parameters adjusted{.n = 14, .span = 0, .alpha = alpha, .adjust = 1, .min_periods = 1};
    const problem::parameters recursive{.n = 14, .span = 0, .alpha = alpha, .adjust = 0, .min_periods = 1};
    const auto value = [&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; };
    const long double decay = problem::decay(adjusted);
    long double average = 0;
    long double old_weight = 0;
    for (std::int64_t i = 1; i < 14; ++i) {
      long double sum = 0;
      long double weight = 0;
      for (std::int64_t j = 1; j <= i; ++j) {
        if (!lab::ewm::is_present(value(j))) continue;
        sum += std::pow(decay, i - j) * value(j);
        weight += std::pow(decay, i - j);
      }
      old_weight *= decay;
      if (lab::ewm::is_present(value(i))) {
        const long double enters = i == 1 ? 1 : problem::alpha(recursive) + 0.0L;
        average = (old_weight * average + enters * value(i)) / (old_weight + enters);
        old_weight = 1;
      }
      INFO("alpha " << alpha << " output " << i);
      const lab::expectation found = problem::reference(value, adjusted, i);
      if (weight > 0) CHECK(std::abs(found.value - sum / weight) <= 1e-17L * found.scale);
      CHECK(std::abs(problem::reference(value, recursive, i).value - average) <= 1e-17L * found.scale);
    }
    CHECK(std::isinf(problem::reference(value, adjusted, 0).value));
  }
}

TEST_CASE("the reference by pieces is the definition") {
  std::vector<std::vector<double>> inputs{rain(1999), std::vector<double>(700, 0.0), {1e300}, {}};
  inputs[2].resize(1500, 0.0);                                  // underflows, long after the first bits
  inputs.emplace_back(900, 1.0)[450] = 1e300;                   // one giant among values of one size
  inputs.emplace_back(900, 0x1p-1074)[0] = 1;                   // denormals
  inputs.emplace_back(1200, static_cast<double>(NAN))[3] = -7;  // nothing but a gap behind one value
  inputs.emplace_back(1200, static_cast<double>(NAN))[1190] = 5;
  inputs.emplace_back(1200, nothing);
  for (const lab::pattern kind :
       {lab::pattern::gaps, lab::pattern::sparse, lab::pattern::wide, lab::pattern::nonfinite,
        lab::pattern::signed_random, lab::pattern::spikes}) {
    auto& values = inputs.emplace_back(1300);
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] = lab::input_value<double>(kind, 5, static_cast<std::int64_t>(j));
  }
  for (const auto& values : inputs) {
    for (const double span : {1.0, 1.5, 5.0, 300.0, 1e9}) {
      for (const std::int64_t adjust : {1, 0}) {
        for (const std::int64_t min_periods : {1, 20})
          require_runs_are_the_definition(values,
                                          {.span = span, .adjust = adjust, .min_periods = min_periods}, 128);
      }
    }
  }
  require_runs_are_the_definition(rain(200), {.span = 3}, 1);
}

// What is left out is proved small; where that cannot be said by so many values, nothing is.
TEST_CASE("where an output needs few values, they are enough") {
  constexpr std::int64_t n = 4000;
  for (int kind = 0; kind < static_cast<int>(std::ssize(lab::pattern_names)); ++kind) {
    const lab::generated_values<double> value{static_cast<lab::pattern>(kind), 11};
    INFO(lab::pattern_names[kind]);
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = value(j);
      if (lab::ewm::is_present(x)) REQUIRE(std::abs(x) <= value.largest(n));
    }
    for (const std::int64_t adjust : {1, 0}) {
      for (const double span : {1.0, 3.0, 30.0}) {
        const problem::parameters p{.n = n, .span = span, .adjust = adjust, .min_periods = 3};
        for (const std::int64_t i : {n - 1, std::int64_t{2345}, std::int64_t{100}, std::int64_t{0}}) {
          const auto first = problem::first_needed(value, p, i, i / 2);
          if (!first) continue;
          problem::reference_run run(p);
          for (std::int64_t j = *first; j <= i; ++j) run.add(value(j));
          const lab::expectation plain = problem::reference(value, p, i);
          if (std::isinf(plain.value)) continue;
          CHECK(std::abs(run.expected().value - plain.value) <= 0x1p-58L * plain.scale);
          CHECK(run.expected().scale <= (1 + 1e-9L) * plain.scale);
        }
      }
    }
  }
  // Behind a lone value nothing but zeros: none is negligible. Of values of one size 75 bits are enough.
  const problem::parameters p{.n = n, .span = 3, .min_periods = 1};
  CHECK_FALSE(
      problem::first_needed(lab::generated_values<double>{lab::pattern::lone_value, 0}, p, n - 1, n / 2));
  CHECK(problem::first_needed(lab::generated_values<double>{lab::pattern::random, 0}, p, n - 1, n / 2) >
        n - 100);
}

// Each by itself would take all before it: 10^11 values of 800 000 outputs, minutes.
TEST_CASE("where every value is missing, outputs are compared one after another") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("ewm/04_warm_start");
  const lab::track& track = lab::track_of(stage);
  const auto work = track.make(stage, track.complete({{"n", 400'000}, {"span", 1}}), stream.get());
  const auto began = std::chrono::steady_clock::now();
  for (const lab::pattern kind : {lab::pattern::all_nan, lab::pattern::positive_infinity}) {
    const lab::check_result found = lab::run_and_check(*work, {.input = kind}, stream.get());
    CHECK_FALSE(found.failure);
    CHECK(found.compared == 400'000);
  }
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}

TEST_CASE("of span, alpha and half-life one is used, and what makes no sense is refused") {
  const lab::track& track = lab::find_track("ewm");
  CHECK(track.complete({{"span", 20}}).at("span") == 20.0);
  CHECK_NOTHROW(track.complete({{"alpha", 1}}));
  CHECK_NOTHROW(track.complete({{"span", 0}, {"half-life", 0.5}}));
  CHECK_THROWS_WITH(track.complete({{"alpha", 0.5}, {"half-life", 7}}),
                    "alpha 0.5 and half-life 7 are given together: one will do");
  CHECK_THROWS_WITH(track.complete({{"span", 0.5}}), "span must be at least 1, not 0.5");
  CHECK_THROWS_WITH(track.complete({{"span", 0}}), "a span is needed, or alpha or half-life in its place");
  CHECK_THROWS_WITH(track.complete({{"alpha", 1.5}}),
                    "alpha must be above 0 and at most 1, not 1.5 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"alpha", -0.5}}),
                    "alpha must be above 0 and at most 1, not -0.5 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"half-life", -1}}), "half-life must be above 0, not -1 (0: not given)");
  CHECK_THROWS_WITH(track.complete({{"half-life", 1e30}}),
                    "a weight that halves in 1e+30 positions does not decay");
  CHECK_THROWS_WITH(track.complete({{"adjust", "maybe"}}),
                    "adjust cannot be maybe: it is one of true, false");
}

// The first stage reads back from each output until it has met so many values.
TEST_CASE("no trial that is drawn goes back to the first value from millions of outputs") {
  constexpr double most = lab::emulated ? 2e8 : 1e10;
  const auto& track = lab::find_track("ewm");
  const lab::stage_entry& stage = lab::find_stage("ewm/01_truncated_window");
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const lab::trial& one : track.larger_trials(stage, seed)) {
      const auto n = static_cast<double>(one.parameters.at("n").whole());
      const auto periods = static_cast<double>(one.parameters.at("min-periods").whole());
      INFO("seed " << seed << ", n " << n << ", min-periods " << periods << ", " << to_string(one.input));
      CHECK(n * (lab::is_mostly_missing(one.input) ? n : std::min(n, periods)) <= most);
    }
  }
}

// By pandas 3.1, with alpha 0.3 and min_periods 2.
TEST_CASE("gaps are pandas', with weights that are adjusted and without") {
  lab::skip_without_device();
  const lab::test::temporary_directory directory;
  const std::string x = (directory / "x.npy").string();
  const std::string y = (directory / "y.npy").string();
  lab::write_npy<double>(x, values_with_gaps, std::array<std::int64_t, 1>{8});
  const auto apply = [&](const std::string& stage, const nlohmann::json& parameters) {
    return lab::worker(0).answer(
        {{"op", "apply"}, {"stage", stage}, {"parameters", parameters}, {"inputs", {x}}, {"outputs", {y}}});
  };
  const std::vector<double> adjusted{nothing,          nothing,           nothing,
                                     nothing,          4.233804914370812, 5.65960517499098,
                                     5.65960517499098, 3.270859083310221};
  const std::vector<double> recursive{
      nothing,           nothing,           nothing,          nothing, 3.3996889580093317,
      4.479782270606532, 4.479782270606532, 3.158345965312912};
  for (const char* stage :
       {"ewm/01_truncated_window", "ewm/03_look_back", "ewm/04_warm_start", "ewm/05_thread_tiled"}) {
    for (const bool adjust : {true, false}) {
      INFO(stage << ", adjust=" << adjust);
      REQUIRE(apply(stage, {{"alpha", 0.3}, {"adjust", adjust ? "true" : "false"}, {"min-periods", 2}}).end ==
              lab::answer_end::ok);
      const std::vector<double> found = lab::read_npy<double>(y).values;
      const std::vector<double>& expected = adjust ? adjusted : recursive;
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("output " << i);
        CHECK((found[i] == expected[i] || std::abs(found[i] - expected[i]) < 1e-14));
      }
    }
  }
  CHECK(apply("ewm/04_warm_start", nlohmann::json::object()).message ==
        "a span is needed, or alpha or half-life in its place");
}
