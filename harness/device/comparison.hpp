// Found outputs against what a reference says of them: within a bound, or exactly.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/host_values.hpp"
#include "harness/device/track.hpp"

namespace lab {

// How outputs are judged. Errors are bounded by relative_error times the scale of the output or `min_scale`,
// whichever is larger.
struct comparison {
  element_type type = element_type::float64;
  std::int64_t terms = 1;  // inputs that make an output
  double relative_error = 0;
  double min_scale = 0;
  bool keeps_zero_signs = false;
  // What the stage's traits excuse from output first_excused on: errors of up to `drift`, and NaN or Inf.
  std::int64_t first_excused = std::numeric_limits<std::int64_t>::max();
  double drift = 0;
  bool may_leak = false;
  // What the stage declares to forget, as a part of the largest input.
  double forgotten = 0;
  // Looks for outputs whose error is beyond what a stage without traits may have; negative: it does not.
  double plain_error = -1;

  // found[k] against expected[k], for k < count: outputs first, first + 1 and so on, or those of `indices`,
  // which ascend.
  void judge(const expectation* expected, std::int64_t first, std::int64_t count, const void* found,
             check_result& result) const;
  void judge(const expectation* expected, const std::int64_t* indices, std::int64_t count, const void* found,
             check_result& result) const;

  // Adds what the cores have found, the first failure of all among it.
  void add(std::vector<check_result>& parts, check_result& total) const;
};

// All of `found` against all of `right`, made on the device as well: integers must be equal; of real numbers
// two compilations may round differently, whose products and sums are fused or not.
check_result compare_with(const host_values& found, const host_values& right);

// `value` with all digits of an element.
std::string number_text(element_type type, long double value);

}  // namespace lab
