// A word that another block writes while this one reads: whole, and in no order with other words.
#pragma once

#include "common/cuda.hpp"

#if defined(__CUDACC__) || LAB_EMULATED

namespace lab {

// Through the L2 cache, where all blocks meet, and past the L1 cache.
__device__ __forceinline__ unsigned long long relaxed_read(unsigned long long* word) {
#if LAB_EMULATED
  return atomicAdd(word, 0ULL);
#else
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
#endif
}

}  // namespace lab

#endif
