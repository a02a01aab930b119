// What was wrong with a stage, in the words that a person reads, and that an expected failure must match.
#pragma once

#include <string>

#include "harness/records.hpp"

namespace lab {

// One line: what is wrong, where, what was expected and found, and which block and thread did it, so far as
// that is known. "wrong at index 17: expected 3.5, found nan, block 0, thread 17".
std::string failure_message(const failure_record& failure);

}  // namespace lab
