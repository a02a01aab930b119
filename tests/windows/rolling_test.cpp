// The C++ face of the window functions.
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/windows/kernels.hpp"

namespace {

using lab::test::message_of;
using lab::test::rolled;
using doubles = std::vector<double>;

const doubles squares{9, 16, 25, 36, 49};

}  // namespace

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
