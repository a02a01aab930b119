// Kernels of the standard repertory with the mistakes that are made in them, one each.
#pragma once

#include <string>
#include <vector>

namespace lab::classics {

struct broken_kernel {
  std::string name;
  void (*run)();                   // one launch, whose error is left to the device
  std::vector<std::string> parts;  // of what must be said, in their order
};

const std::vector<broken_kernel>& broken_kernels();

}  // namespace lab::classics
