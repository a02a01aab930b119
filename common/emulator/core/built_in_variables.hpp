// The variables that a kernel reads as threadIdx, blockIdx, blockDim and gridDim, for those who set them.
// Internal.
//
// Two declarations of one symbol each: what is const to a kernel, and may stay in a register while it runs,
// is not to the scheduler, which therefore never uses CUDA's names.
#pragma once

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

extern constinit thread_local uint3 current_thread_index asm("threadIdx");
extern constinit thread_local uint3 current_block_index asm("blockIdx");
extern constinit thread_local dim3 current_block_size asm("blockDim");
extern constinit thread_local dim3 current_grid_size asm("gridDim");

}  // namespace lab::emulator
