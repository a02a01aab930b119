// A kernel that begins while the one before it on the stream still runs (programmatic dependent launch,
// compute capability 9.0), so that the time it takes to begin, and whatever it can do without the other's
// results, costs nothing. CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
#pragma once

#include <cstddef>
#include <utility>

#include "common/cuda.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/dependent_launch_functions.hpp"
#endif

#if defined(__CUDACC__) || LAB_EMULATED

namespace lab {

#if !LAB_EMULATED

// In the kernel before: the next one may begin as soon as every block has called this, or has ended.
__device__ __forceinline__ void trigger_dependents() {
  LAB_SM90("griddepcontrol.launch_dependents;" ::: "memory");
}

// In the kernel that began early: blocks the calling thread until the one before has ended, whose writes are
// there then. What was on the stream before that kernel had ended before it began, unless it was launched
// early as well.
__device__ __forceinline__ void grid_dependency_sync() {
  LAB_SM90("griddepcontrol.wait;" ::: "memory");
}

#endif

// launch(), for a kernel that may begin early.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                  cudaStream_t stream, Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  launch_with(&attribute, 1, kernel, grid, block, shared_bytes, stream,
              std::forward<Arguments>(arguments)...);
}

}  // namespace lab

#endif
