// LAB_SM90(...): inline PTX of compute capability 9.0, and LAB_SM90A(...) of 9.0 alone (sm_90a). Code for
// other devices, where the kernels that hold it are never launched, stops in its place.
#pragma once

#include "common/cuda.hpp"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define LAB_SM90(...) asm volatile(__VA_ARGS__)
#else
#define LAB_SM90(...) __trap()
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LAB_SM90A(...) asm volatile(__VA_ARGS__)
#else
#define LAB_SM90A(...) __trap()
#endif

#if LAB_EMULATED
#include "common/emulator/core/register_functions.hpp"
#else

namespace lab {

#if defined(__CUDACC__) && !LAB_EMULATED
// As PTX names it.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
#endif

// All threads of a warpgroup (128) call one of these: each has `count` registers from then on, which another
// warpgroup has given, or may take. Code for compute capability 9.0 alone (sm_90a) does so, other code
// nothing.
template <int count>
__device__ __forceinline__ void take_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
template <int count>
__device__ __forceinline__ void give_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

}  // namespace lab

#endif
