// What the runtime's functions share: the error state, and what they tell the launch watch about themselves.
// Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// The error that a failed kernel left, or cudaSuccess. Every call returns it until reset().
cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);

// What a call returns: `error`, noted for cudaGetLastError(), unless a kernel has failed before.
cudaError_t finish(cudaError_t error);

// Whether the handle is the default stream or one that was created and not destroyed.
bool is_stream(cudaStream_t stream);

// Each notes a violation if a launch is watched that may not do this. `function` is the name that the user
// has called.
void note_stream(const char* function, cudaStream_t stream);
// Calls that enqueue something, or wait for it.
inline constinit std::atomic<std::uint64_t> stream_calls{0};
void note_allocation(const char* function);
void note_synchronisation(const char* function);
void note_host_copy(const char* function, std::size_t bytes);
// Never allowed in a launch; `instead` says what is.
void note_forbidden(const char* function, const char* instead);
// Of cudaSetDevice().
void note_device_choice();

// Whether it is page-locked host memory, which kernels may touch.
bool is_host_memory_of_the_device(const void* pointer);

// Notes an access of host code to device memory that protection has stopped, and lets it go on; false if that
// is not what has happened. Safe in a signal handler.
bool note_host_access(const void* address, const char* verb);

}  // namespace lab::emulator
