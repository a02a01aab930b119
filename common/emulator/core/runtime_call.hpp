// What the runtime's functions tell the launch watch about themselves. Internal.
#pragma once

#include <cstddef>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// Each notes a violation if a launch is watched that may not do this. `function` is the name that the user
// has called.
void note_stream(const char* function, cudaStream_t stream);
void note_allocation(const char* function);
void note_synchronisation(const char* function);
void note_host_copy(const char* function, std::size_t bytes);
// Never allowed in a launch; `instead` says what is.
void note_forbidden(const char* function, const char* instead);
// Of cudaSetDevice().
void note_device_choice();

// Whether the address is managed memory, which host code may touch as kernels do.
bool is_managed(const void* pointer);
// The same, and all device memory while the runtime or a library works on it for the host.
bool host_may_touch(const void* pointer);
// Whether it is page-locked host memory, which kernels may touch.
bool is_host_memory_of_the_device(const void* pointer);

// Notes an access of host code to device memory that protection has stopped, and lets it go on; false if that
// is not what has happened. Safe in a signal handler.
bool note_host_access(const void* address, const char* verb);

}  // namespace lab::emulator
