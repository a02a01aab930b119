// Segmentation faults of kernels and of launch functions, told instead of died of. Internal.
#pragma once

#include <array>
#include <csignal>

namespace lab::emulator {

// What the machine stops a program for.
inline constexpr std::array fault_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// While one exists, a fault in a kernel fails the kernel's launch, and one of host code that touches device
// memory under a launch watch is noted there. What else faults goes to the handlers that were there before.
class fault_handling {
 public:
  fault_handling();
  fault_handling(const fault_handling&) = delete;
  fault_handling& operator=(const fault_handling&) = delete;
  ~fault_handling();

 private:
  std::array<bool, fault_signals.size()> installed_{};
};

// Gives the calling OS thread a stack of its own for signals, unless it has one: a kernel that has used up
// its stack has none left.
void prepare_signal_stack();

// What has faulted, as the machine tells it.
struct machine_fault {
  const char*
      what;        // "reads", "writes" or, where the machine does not say, "touches"; or all there is to say
  bool in_memory;  // at an address
  const void* address;
  const void* instruction;
};

}  // namespace lab::emulator
