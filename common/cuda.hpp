// The one header a kernel file includes for CUDA itself: the CUDA runtime under nvcc, the CPU emulator
// otherwise. The same kernel source compiles both ways; the build defines LAB_EMULATED as 0 or 1.
#pragma once

#include <cstddef>
#include <utility>

#if !defined(LAB_EMULATED)
#error "the build must define LAB_EMULATED: 0 for CUDA, 1 for the CPU emulator"
#elif LAB_EMULATED
#include "common/emulator/core/cuda_runtime.hpp"
#else
#include <cuda_runtime.h>
#endif

#include "common/error.hpp"

#if defined(__CUDACC__)
// 128-byte alignment, because bulk asynchronous copies need it and it costs nothing elsewhere.
extern __shared__ __align__(128) unsigned char lab_dynamic_shared[];
#endif

namespace lab {

inline constexpr bool emulated = LAB_EMULATED != 0;

#if defined(__CUDACC__) || LAB_EMULATED
// The block's dynamic shared memory, seen as an array of T (instead of `extern __shared__ T name[]`, which
// cannot be declared with two types in one file and which the emulator cannot see). Aligned to 128 bytes.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  return reinterpret_cast<T*>(lab_dynamic_shared);
}

// launch(), with `count` attributes.
template <class... Parameters, class... Arguments>
void launch_with(cudaLaunchAttribute* attributes, unsigned count, void (*kernel)(Parameters...), dim3 grid,
                 dim3 block, std::size_t shared_bytes, cudaStream_t stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument for each kernel parameter");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  constexpr std::size_t static_limit = 48 * 1024;
  if (shared_bytes > static_limit) {
    CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  CUDA_CHECK(
      cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...));
}

// Launches `kernel` on `stream`; every argument is converted to the kernel's own parameter type, so the text
// is the same in both builds (instead of <<<>>>). `shared_bytes` above 48 KiB raises the kernel's limit
// first. Throws cuda_error when the launch is refused. An empty grid launches nothing: zero elements are no
// work.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            cudaStream_t stream, Arguments&&... arguments) {
  launch_with(nullptr, 0, kernel, grid, block, shared_bytes, stream, std::forward<Arguments>(arguments)...);
}
#endif

}  // namespace lab
