// The results as a person reads them in a terminal.
#pragma once

#include <string>

#include "harness/front/run/results.hpp"

namespace lab::front {

struct ladder_style {
  bool colour = false;
};

// What holds for the whole run: device, driver, toolkit, launch floor, seed.
[[nodiscard]] std::string header_text(const run_results& results);

// "seed     1; proofs made now draw trials from 8837261 (--trial-seed 8837261 repeats them)"
[[nodiscard]] std::string seed_text(const run_results& results);

// The ladder of one track and one set of parameters; without times when the verb is "verify".
[[nodiscard]] std::string ladder_text(const run_results& results, const result_group& group,
                                      ladder_style style);

// "11 ok, 1 failed, 2 skipped"
[[nodiscard]] std::string summary_text(const run_results& results);

}  // namespace lab::front
