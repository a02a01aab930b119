// CUDA's runtime for a program that `lab emulate` runs. The rewriter reads the markers that the keywords
// become.
#pragma once

#ifndef __cplusplus
#error "C sources that include CUDA's headers are not emulated: name this one .cpp or .cu"
#endif

// What nvcc includes of its own accord.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Programs have macros of names that C++20 has given to its clocks: this comes before them.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#define LAB_EMULATOR_PROGRAM
#include "common/emulator/core/cuda_runtime.hpp"
#include "common/emulator/programs/graph_api.hpp"
#include "common/emulator/programs/program_api.hpp"
#include "common/emulator/programs/texture.hpp"

// A host file may have functions of these names itself: nvcc has them in .cu files alone.
#ifdef __CUDACC__
#include "common/emulator/core/device_functions.hpp"
#include "common/emulator/programs/address_functions.hpp"
#include "common/emulator/programs/atomic_word.hpp"
#include "common/emulator/programs/gpu_arithmetic.hpp"
#include "common/emulator/programs/inline_ptx.hpp"
#endif

// Programs ask by these which of NVIDIA's headers there are (helper_cuda.h does), and a header of an
// installed toolkit that has no counterpart here finds those that have one included already.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __CHANNEL_DESCRIPTOR_H__
#define __TEXTURE_TYPES_H__
#define __SURFACE_TYPES_H__
#define __DEVICE_TYPES_H__
#define __HOST_DEFINES_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#define CUDA_VERSION 13000
#define CUDART_CB
#define CUDARTAPI

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __grid_constant__
#undef __align__
#undef __launch_bounds__
#define __global__ __lab_global__
#define __device__ __lab_device__
#define __host__ __lab_host__
#define __shared__ __lab_shared__
#define __constant__ __lab_constant__
#define __managed__ __lab_managed__
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((__lab_launch_bounds__(__VA_ARGS__)))
#define __maxnreg__(...)
#define __block_size__(...)
#define __nv_pure__
#define __device_builtin__
#define __inline_hint__
#define __cudart_builtin__
#define __builtin_align__(bytes) __align__(bytes)
#define nv_noinline __attribute__((noinline))
