// The error state of the emulated device. Internal.
#pragma once

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// The error that a failed kernel left, or cudaSuccess. Every call returns it until reset().
cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);

// What a call returns: `error`, noted for cudaGetLastError(), unless a kernel has failed before.
cudaError_t finish(cudaError_t error);

// Whether the handle is the default stream or one that was created and not destroyed.
bool is_stream(cudaStream_t stream);

}  // namespace lab::emulator
