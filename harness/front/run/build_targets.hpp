// What a call needs built, without anything being started.
#pragma once

#include <string>
#include <vector>

#include "harness/front/workers/devices.hpp"

namespace lab::front {

struct build_request {
  std::string device;
  stage_selector select;
  bool plain = true;                   // the device's own workers; on the emulator a call may do without
  bool counts = false;                 // with observed kernels, on the emulator
  bool proves = false;                 // stages without a proof, which takes both on the emulator
  bool anew = false;                   // and all others
  std::vector<std::string> also = {};  // targets that no stage has
};

// Of a call that starts no worker.
[[nodiscard]] build_request nothing_to_build();

// The build's own names of the workers.
[[nodiscard]] std::vector<std::string> build_targets(const build_request& request);

}  // namespace lab::front
