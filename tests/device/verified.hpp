// What the verifier says of a stage, its own sizes among the trials.
#pragma once

#include <string>

#include "common/stream.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "tests/device/device.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

namespace lab {

inline verification_record verified(const stage_entry& stage) {
  skip_without_device();
  const stream on;
  verification_record record =
      verify(stage, {1, 2}, true, on.get(), default_parameters(track_of(stage).describe()));
#if LAB_EMULATED
  emulator::reset();  // a kernel that failed may have lost the device to the tests that follow
#endif
  return record;
}
inline verification_record verified(const std::string& path) {
  return verified(find_stage(path));
}

}  // namespace lab
