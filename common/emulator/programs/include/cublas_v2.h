// The operations of cuBLAS, in column-major order, as plain kernels of the emulator: the results of the
// library, and nothing of its speed.
#pragma once

#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/emulator/programs/cublas/base.hpp"
#include "common/emulator/programs/cublas/matrices.hpp"
#include "common/emulator/programs/cublas/mixed.hpp"
#include "common/emulator/programs/cublas/vectors.hpp"
