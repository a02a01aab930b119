// User-defined functions: the verifier rejects each wrong kernel for the right reason.
#include <string>

#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "stages/udf/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/device/verified.hpp"

namespace {

const lab::stage_entry& wrong_stage(const std::string& name) {
  return lab::find_stage("udf/" + name);
}

void check_words(const lab::verification_record& record, const std::string& words, const std::string& where) {
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(message.find(words) != std::string::npos);
  CHECK(message.find(where) != std::string::npos);
}

// `words`: of the result; `where`: of the parameters or the input.
void require_wrong(const std::string& name, lab::failure_kind kind, const std::string& words,
                   const std::string& where) {
  const lab::verification_record record = lab::verified(wrong_stage(name));
  INFO(name);
  check_words(record, words, where);
  CHECK(record.failure->kind == kind);
}

}  // namespace

TEST_CASE("a wrong user-defined function is rejected, in words that say what is wrong") {
  using lab::failure_kind;
  SECTION("32 bits of 64") {
    require_wrong("cuts_to_32_bits", failure_kind::wrong, "wrong at index 0", "result=int64 type=int64");
  }
  SECTION("a fraction that is cut off before a comparison") {
    require_wrong("compares_whole_part", failure_kind::wrong, "expected 2, found 1", "input=quarters");
  }
  SECTION("a difference in the place of a comparison") {
    require_wrong("subtracts_to_compare", failure_kind::wrong, "expected 1, found 8", "input=extremes");
  }
  SECTION("denormals that are flushed") {
    require_wrong("flushes_denormals", failure_kind::wrong, "expected 1, found 0",
                  "result=bool type=float64");
  }
  SECTION("a sign that is lost") {
    require_wrong("loses_sign", failure_kind::wrong, ", found 42949", "function=window_sum");
  }
  SECTION("whole numbers that were real ones on their way") {
    require_wrong("squares_as_double", failure_kind::wrong, "found 1000000014000000", "function=square");
  }
  SECTION("64 bits read as 32") {
    require_wrong("reads_as_int", failure_kind::wrong, "wrong at index", "type=int64");
  }
  SECTION("a real number rounded to a whole one") {
    require_wrong("rounds_to_nearest", failure_kind::wrong, "wrong at index", "result=int64 type=float64");
  }
  SECTION("a NaN that is false") {
    require_wrong("nan_is_false", failure_kind::wrong, "expected 1, found 0", "result=bool type=float64");
  }
  SECTION("a value too few in long windows") {
    require_wrong("cuts_long_windows", failure_kind::wrong, "wrong at index", "function=window_sum");
  }
  SECTION("a byte that is no bool") {
    require_wrong("stores_byte", failure_kind::wrong, "wrong at index 0: expected 1, found",
                  "result=bool type=int64");
  }
  SECTION("a bool of one byte") {
    require_wrong("tests_low_byte", failure_kind::wrong, "expected 1, found 0", "result=bool type=int64");
  }
  SECTION("a value too few in the first windows") {
    require_wrong("shortens_first_windows", failure_kind::wrong, "wrong at index 0: expected 1, found 0",
                  "min-periods=1");
  }
  SECTION("an incomplete window") {
    require_wrong("shifts_incomplete", failure_kind::wrong,
                  "wrong at index 1:", "function=window_sum min-periods=0");
  }
  SECTION("the limit of a branch") {
    require_wrong("includes_the_limit", failure_kind::wrong, "expected 1, found 8", "function=branch");
  }
  SECTION("a value that belongs to no pair") {
    require_wrong("drops_odd_value", failure_kind::unwritten, "output 272 was never written", "n=273");
  }
}
