// What common/dependent_launch.hpp is on the emulator. Where a program's streams are deferred
// (deferred_streams.hpp), a kernel that may begin early does so as early as it can, once the kernel before
// has let the next one begin in an earlier launch: its blocks run until they wait, and only then that kernel
// does.
#pragma once

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// griddepcontrol.launch_dependents and griddepcontrol.wait
void trigger_dependents();
void wait_for_kernel_before(place where);

}  // namespace lab::emulator

namespace lab {

__forceinline__ void trigger_dependents() {
  emulator::trigger_dependents();
}
__forceinline__ void grid_dependency_sync(emulator::place where = emulator::place::here()) {
  emulator::wait_for_kernel_before(where);
}

}  // namespace lab
