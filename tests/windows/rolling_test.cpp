// The C++ face of the window functions, and two_scans.hpp with a ring, which no stage runs on the emulator,
// against the golden results.
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/golden/rolling.hpp"
#include "tests/windows/kernels.hpp"

namespace {

using lab::test::message_of;
using lab::test::rolled;
using doubles = std::vector<double>;

const doubles squares{9, 16, 25, 36, 49};

constexpr const char* operation_names[] = {"mean", "sum", "min", "max", "var", "std", "first_minus_last"};

template <class Operation>
doubles two_scans(const lab::test::golden_case& one, const Operation& operation) {
  const auto& p = one.parameters;
  const std::int64_t window = std::min(p.window, p.n + 1);
  const std::int64_t min_periods = std::min(lab::rolling::problem::min_periods(p), p.n + 1);
  if (p.missing == static_cast<std::int64_t>(lab::rolling::missing::propagate))
    return lab::test::windows_by_two_scans(operation, one.values, window, min_periods);
  return lab::test::windows_by_two_scans(lab::windows::skipping<Operation>{operation, min_periods},
                                         one.values, window, min_periods);
}

doubles two_scans(const lab::test::golden_case& one) {
  using lab::rolling::operation;
  const std::int64_t window = one.parameters.window;
  switch (one.operation()) {
    case operation::mean:
      return two_scans(one, lab::windows::total::mean(window));
    case operation::sum:
      return two_scans(one, lab::windows::total::sum(window));
    case operation::min:
      return two_scans(one, lab::windows::extremum::min());
    case operation::max:
      return two_scans(one, lab::windows::extremum::max());
    case operation::var:
      return two_scans(one, lab::windows::moments::var(window));
    case operation::std:
      return two_scans(one, lab::windows::moments::std(window));
    default:
      return two_scans(one, lab::windows::first_minus_last{});
  }
}

}  // namespace

TEST_CASE("windows from C++ and those of two scans have the golden results") {
  for (const char* part : {"by_pandas", "by_fractions"}) {
    for (const lab::test::golden_case& one : lab::test::golden_cases(part)) {
      const auto& p = one.parameters;
      const std::optional<std::int64_t> min_periods =
          p.min_periods == 0 ? std::nullopt : std::optional(p.min_periods);
      const bool skips = p.missing == static_cast<std::int64_t>(lab::rolling::missing::skip);
      CHECK(lab::test::wrong_output(
                one, rolled(one.values, {operation_names[p.operation], p.window, min_periods, skips})) == "");
      CHECK(lab::test::wrong_output(one, two_scans(one)) == "");
    }
  }
}

TEST_CASE("windows from C++ are those of pandas") {
  CHECK(rolled(squares, {"sum", 3, 1, false}) == doubles{9, 25, 50, 77, 110});
  CHECK(rolled(squares, {"sum", 3, {}, false}) == doubles{INFINITY, INFINITY, 50, 77, 110});
  CHECK(rolled(squares, {"mean", 2, {}, false}) == doubles{INFINITY, 12.5, 20.5, 30.5, 42.5});
  CHECK(rolled(squares, {"min", 2, 1, false}) == doubles{9, 9, 16, 25, 36});
  CHECK(rolled(squares, {"max", 2, 1, false}) == doubles{9, 16, 25, 36, 49});
  CHECK(rolled(squares, {"var", 2, {}, false}) == doubles{INFINITY, 24.5, 40.5, 60.5, 84.5});
  CHECK(rolled({1, 3, 3, 3}, {"std", 2, {}, false}) == doubles{INFINITY, std::sqrt(2.0), 0, 0});
  CHECK(rolled(squares, {"first_minus_last", 3, {}, false}) == doubles{INFINITY, INFINITY, -16, -20, -24});
  CHECK(std::isnan(rolled(squares, {"var", 3, 1, false})[0]));
}

TEST_CASE("windows from C++ skip NaN when asked to") {
  const doubles gaps{1, NAN, 3, NAN, NAN};
  CHECK(rolled(gaps, {"mean", 3, 1, true}) == doubles{1, 1, 2, 3, 3});
  CHECK(rolled(gaps, {"sum", 3, 2, true}) == doubles{INFINITY, INFINITY, 4, INFINITY, INFINITY});
  CHECK(std::isnan(rolled(gaps, {"mean", 3, 1, false})[1]));
  CHECK(rolled({1, NAN, 3}, {"first_minus_last", 3, 2, true}) == doubles{INFINITY, INFINITY, -2});
}

TEST_CASE("windows from C++ may be longer than the array, or the array empty") {
  CHECK(rolled(squares, {"sum", 1'000'000'000'000, 1, false}) == doubles{9, 25, 50, 86, 135});
  CHECK(rolled(squares, {"max", 6, {}, false}) == doubles(5, INFINITY));
  CHECK(rolled({}, {"sum", 3, {}, false}).empty());
}

TEST_CASE("windows from C++ that make no sense, or do not fit, are refused in a sentence") {
  const auto refused = [](const lab::test::rolling_call& call) {
    return message_of<std::invalid_argument>([&] { rolled(squares, call); });
  };
  CHECK(refused({"sum", 0, {}, false}) == "window 0 is below 1");
  CHECK(refused({"sum", -3, {}, false}) == "window -3 is below 1");
  CHECK(refused({"sum", 3, 0, false}) == "min-periods 0 is below 1");
  CHECK(refused({"sum", 3, 5, false}) == "min-periods 5 is more than the window, 3");
  const doubles many(40'000, 1);
  CHECK(message_of<std::length_error>([&] {
          rolled(many, {"sum", 30'000, {}, false});
        }).find("window 30000 does not fit: the ring in shared memory holds at most ") == 0);
  // A state of three numbers: a third as long.
  CHECK(message_of<std::length_error>([&] {
          rolled(many, {"std", 9'000, {}, false});
        }).find("window 9000 does not fit") == 0);
  CHECK(rolled(many, {"sum", 9'000, {}, false}).back() == 9'000);
}
