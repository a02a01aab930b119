// Names of files that the caller has not named.
#pragma once

#include <string>
#include <vector>

#include "harness/front/selection/parameters.hpp"

namespace lab::front {

// The stage, and each choice of the call as NAME_VALUE, or NAME where the text is empty:
// "reduction_02_tree.n_1e5.block". So calls with other options write other files, and the same call its own
// again. What is no letter, digit, "-", "_" or "." becomes "_".
[[nodiscard]] std::string stem_of_call(const std::string& stage,
                                       const std::vector<parameter_argument>& choices);

}  // namespace lab::front
