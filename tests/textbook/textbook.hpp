// Kernels whose counters every textbook explains, one launch each: what the emulator models is compared with
// what Nsight Compute counts (docs/counters.md).
#pragma once

#include <string>
#include <vector>

namespace lab::textbook {

struct example {
  std::string name;
  void (*run)();  // exactly one launch
};

const std::vector<example>& examples();

}  // namespace lab::textbook
