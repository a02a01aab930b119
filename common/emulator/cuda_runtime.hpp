// Stands in for <cuda_runtime.h> where there is no CUDA: the part of CUDA that the lab's kernels and its host
// code use, compiled by a host compiler and run on the CPU. See docs/emulator.md.
#pragma once

#include "common/emulator/atomic_functions.hpp"
#include "common/emulator/dialect.hpp"
#include "common/emulator/math_functions.hpp"
#include "common/emulator/runtime_api.hpp"
#include "common/emulator/thread_functions.hpp"
#include "common/emulator/vector_types.hpp"
