// Where a stage can run, and how an expected failure must fail.
#pragma once

#include <string>

#include "harness/device/stage.hpp"
#include "harness/records.hpp"

namespace lab {

// Throws unsupported_error when the device cannot run the stage at all.
void require_runnable(const stage_entry& stage);

// The ways in which an expected failure fails, for a person: "wrong, or crash: \"wait at this barrier\"".
// Empty for a stage that is none.
std::string expected_failure_text(const stage_entry& stage);

// True when the stage is an expected failure and this is one of the failures that it says.
bool is_expected(const stage_entry& stage, const failure_record& failure);

// Why the device cannot run the stage, or would hide what is wrong with an expected failure; empty when it
// can.
std::string why_not_runnable(const stage_entry& stage);
// The same for a device of this compute capability (90 for 9.0), which need not be at hand.
std::string why_not_runnable(const stage_entry& stage, int compute_capability);

}  // namespace lab
