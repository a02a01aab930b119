// cuFFT's plans and transforms of complex and real numbers in one to three dimensions, computed on the host:
// the results of the library, and nothing of its speed. As cuFFT's they are not scaled.
#pragma once

#define _CUFFT_H_

#include <cuComplex.h>
#include <cuda_runtime.h>

#include <cstddef>

enum cufftResult_t : int {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_PARSE_ERROR = 12,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_LICENSE_ERROR = 15,
  CUFFT_NOT_SUPPORTED = 16,
  CUFFT_MISSING_DEPENDENCY = 17,
  CUFFT_NVRTC_FAILURE = 18,
  CUFFT_NVJITLINK_FAILURE = 19,
  CUFFT_NVSHMEM_FAILURE = 20,
};
using cufftResult = cufftResult_t;
enum cufftType_t : int {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69,
};
using cufftType = cufftType_t;
enum cufftCompatibility_t : int { CUFFT_COMPATIBILITY_FFTW_PADDING = 1 };
using cufftCompatibility = cufftCompatibility_t;

inline constexpr int CUFFT_FORWARD = -1;
inline constexpr int CUFFT_INVERSE = 1;

using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
using cufftHandle = int;

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch);
cufftResult cufftPlan2d(cufftHandle* plan, int rows, int columns, cufftType type);
cufftResult cufftPlan3d(cufftHandle* plan, int planes, int rows, int columns, cufftType type);
// Element (i, j, k) of transform b lies at b * distance + ((i * embed[1] + j) * embed[2] + k) * stride; where
// an `embed` is null, the elements lie densely.
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* input_embed, int input_stride,
                          int input_distance, int* output_embed, int output_stride, int output_distance,
                          cufftType type, int batch);
// The same of a plan that cufftCreate() has made. No workspace is needed.
cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch, std::size_t* workspace);
cufftResult cufftMakePlan2d(cufftHandle plan, int rows, int columns, cufftType type, std::size_t* workspace);
cufftResult cufftMakePlan3d(cufftHandle plan, int planes, int rows, int columns, cufftType type,
                            std::size_t* workspace);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* input_embed, int input_stride,
                              int input_distance, int* output_embed, int output_stride, int output_distance,
                              cufftType type, int batch, std::size_t* workspace);
cufftResult cufftGetSize(cufftHandle plan, std::size_t* workspace);
cufftResult cufftEstimate1d(int n, cufftType type, int batch, std::size_t* workspace);
cufftResult cufftEstimate2d(int rows, int columns, cufftType type, std::size_t* workspace);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates);
cufftResult cufftSetWorkArea(cufftHandle plan, void* workspace);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftSetCompatibilityMode(cufftHandle plan, cufftCompatibility mode);
cufftResult cufftGetVersion(int* version);

// `input` and `output` may be the same. A real row of n numbers in place has room for 2 * (n / 2 + 1).
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* input, cufftComplex* output, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleComplex* output,
                         int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* input, cufftComplex* output);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* input, cufftDoubleComplex* output);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* input, cufftReal* output);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* input, cufftDoubleReal* output);
