// Stands in for <cuda_runtime.h> where there is no CUDA: the part of CUDA that the lab's kernels and its host
// code use, compiled by a host compiler and run on the CPU. See docs/emulator.md.
#pragma once

// What nvcc includes of its own accord.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "common/emulator/core/atomic_functions.hpp"
#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/math_functions.hpp"
#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/core/thread_functions.hpp"
#include "common/emulator/core/vector_types.hpp"
// A program has these where nvcc has them: in .cu files.
#ifndef LAB_EMULATOR_PROGRAM
#include "common/emulator/core/device_functions.hpp"
#endif
