// Every wrong kernel is refused, in words that say what is wrong (tests/wrong).
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/device/verified.hpp"
#include "tests/wrong/wrong.hpp"

namespace {

// Every eighth kernel, beginning with `part`: ctest runs the parts side by side.
void require_refusals(std::size_t part) {
  constexpr std::size_t parts = 8;
  REQUIRE(lab::refusals().size() > 100);
  for (std::size_t k = part; k < lab::refusals().size(); k += parts) {
    const lab::refusal& wrong = lab::refusals()[k];
    const lab::verification_record record = lab::verified(wrong.path);
    INFO(wrong.path);
    CHECK_FALSE(record.passed);
    REQUIRE(record.failure);
    const std::string message = lab::failure_message(*record.failure);
    INFO(message);
    CHECK(record.failure->kind == wrong.kind.value_or(record.failure->kind));
    for (const std::string& words : wrong.words) CHECK(message.find(words) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a wrong kernel is refused: first part") {
  require_refusals(0);
}
TEST_CASE("a wrong kernel is refused: second part") {
  require_refusals(1);
}
TEST_CASE("a wrong kernel is refused: third part") {
  require_refusals(2);
}
TEST_CASE("a wrong kernel is refused: fourth part") {
  require_refusals(3);
}
TEST_CASE("a wrong kernel is refused: fifth part") {
  require_refusals(4);
}
TEST_CASE("a wrong kernel is refused: sixth part") {
  require_refusals(5);
}
TEST_CASE("a wrong kernel is refused: seventh part") {
  require_refusals(6);
}
TEST_CASE("a wrong kernel is refused: eighth part") {
  require_refusals(7);
}

TEST_CASE(
    "a right kernel passes: a variance in two passes, a stage without a tile, a mean of shares, an average "
    "in steps") {
  for (const char* path : {"rolling/two_passes", "transpose/without_a_tile", "moving_average/adds_shares",
                           "moving_average/compensated_sum", "ewm/step_towards"}) {
    const lab::verification_record record = lab::verified(path);
    INFO(path << ": " << (record.failure ? lab::failure_message(*record.failure) : ""));
    CHECK(record.passed);
  }
}
