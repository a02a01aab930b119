// Segmentation faults of kernels and of launch functions, told instead of died of. Internal.
#pragma once

#include <csignal>

namespace lab::emulator {

// While one exists, a fault in a kernel fails the kernel's launch, and one of host code that touches device
// memory under a launch watch is noted there. What else faults goes to the handler that was there before.
class fault_handling {
 public:
  fault_handling();
  fault_handling(const fault_handling&) = delete;
  fault_handling& operator=(const fault_handling&) = delete;
  ~fault_handling();

 private:
  bool installed_ = false;
};

// Gives the calling OS thread a stack of its own for signals, unless it has one: a kernel that has used up
// its stack has none left.
void prepare_signal_stack();

// What has faulted, as the machine tells it.
struct bad_access {
  const void* address;
  const char* verb;  // "reads", "writes" or, where the machine does not say, "touches"
};

}  // namespace lab::emulator
