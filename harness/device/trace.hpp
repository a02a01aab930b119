// Records what one launch does: calls of the runtime, and what the device did for them.
#pragma once

#include "harness/trace_record.hpp"

namespace lab {

// On the emulator by its own runtime; on a GPU by CUPTI, which is loaded when it is needed (libcupti comes
// with the CUDA Toolkit).
class launch_trace {
 public:
  // To be made before the first NVTX range of the process. Throws unsupported_error where CUPTI cannot be
  // had.
  launch_trace();

  void begin();
  // The launch function has returned: later calls of the host are not recorded.
  void end_of_launch();
  // After the device has done all of it. Events in the order of their beginnings.
  [[nodiscard]] trace_record take();
};

}  // namespace lab
