// What `lab check` says of its steps. A terminal gets more than a pipe: colours, the seconds of each step,
// and lines of its own width.
#pragma once

#include <cstddef>
#include <string>

#include "harness/front/exercises/examination.hpp"

namespace lab::front {

struct check_style {
  bool colour = false;
  bool seconds = false;   // of each step
  std::size_t width = 0;  // columns; 0: lines are as long as they are
};

// How standard output shows a check.
[[nodiscard]] check_style style_of_standard_output();

// A step whose outcome is known: "3. right        ok      4 inputs", the source line of a failure, what the
// kernel printed, and the checkpoints. Whole lines.
[[nodiscard]] std::string step_text(const check_step& step, const examination& so_far,
                                    const check_style& style);

// What was predicted, what it is and why. Whole lines; empty where nothing was asked.
[[nodiscard]] std::string predictions_text(const examination& found, const check_style& style);

// "TRACK/STAGE: PASSED"
[[nodiscard]] std::string outcome_text(const examination& found, const check_style& style);

}  // namespace lab::front
