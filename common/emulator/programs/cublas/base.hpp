// What every function of cuBLAS begins with: its handle, the scalars and results that lie on either side, the
// types of numbers, and the complaints about parameters.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

// The names below are cuBLAS's. Its functions are no part of the program that calls them: a fault in one of
// their kernels is told with the line of the call.
#define LAB_EMULATOR_LIBRARY [[gnu::noinline]] inline

#define LAB_CUBLAS_STATUSES(X)          \
  X(CUBLAS_STATUS_SUCCESS, 0)           \
  X(CUBLAS_STATUS_NOT_INITIALIZED, 1)   \
  X(CUBLAS_STATUS_ALLOC_FAILED, 3)      \
  X(CUBLAS_STATUS_INVALID_VALUE, 7)     \
  X(CUBLAS_STATUS_ARCH_MISMATCH, 8)     \
  X(CUBLAS_STATUS_MAPPING_ERROR, 11)    \
  X(CUBLAS_STATUS_EXECUTION_FAILED, 13) \
  X(CUBLAS_STATUS_INTERNAL_ERROR, 14)   \
  X(CUBLAS_STATUS_NOT_SUPPORTED, 15)    \
  X(CUBLAS_STATUS_LICENSE_ERROR, 16)
#define LAB_STATUS(NAME, NUMBER) NAME = NUMBER,
enum cublasStatus_t : int { LAB_CUBLAS_STATUSES(LAB_STATUS) };
#undef LAB_STATUS
using cublasStatus = cublasStatus_t;
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2 };
enum cublasPointerMode_t : int { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t : int { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasMath_t : int {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
};
enum cudaDataType_t : int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14
};
using cudaDataType = cudaDataType_t;
using cublasDataType_t = cudaDataType_t;
enum cublasGemmAlgo_t : int {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
#define LAB_EMULATOR_ALGORITHM(number) \
  CUBLAS_GEMM_ALGO##number = number, CUBLAS_GEMM_ALGO##number##_TENSOR_OP = 100 + number
  LAB_EMULATOR_ALGORITHM(0),
  LAB_EMULATOR_ALGORITHM(1),
  LAB_EMULATOR_ALGORITHM(2),
  LAB_EMULATOR_ALGORITHM(3),
  LAB_EMULATOR_ALGORITHM(4),
  LAB_EMULATOR_ALGORITHM(5),
  LAB_EMULATOR_ALGORITHM(6),
  LAB_EMULATOR_ALGORITHM(7),
  LAB_EMULATOR_ALGORITHM(8),
  LAB_EMULATOR_ALGORITHM(9),
  LAB_EMULATOR_ALGORITHM(10),
  LAB_EMULATOR_ALGORITHM(11),
  LAB_EMULATOR_ALGORITHM(12),
  LAB_EMULATOR_ALGORITHM(13),
  LAB_EMULATOR_ALGORITHM(14),
  LAB_EMULATOR_ALGORITHM(15),
#undef LAB_EMULATOR_ALGORITHM
  CUBLAS_GEMM_ALGO16 = 16,
  CUBLAS_GEMM_ALGO17 = 17,
  CUBLAS_GEMM_ALGO18 = 18,
  CUBLAS_GEMM_ALGO19 = 19,
  CUBLAS_GEMM_ALGO20 = 20,
  CUBLAS_GEMM_ALGO21 = 21,
  CUBLAS_GEMM_ALGO22 = 22,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_AUTOTUNE = 999,
};
enum cublasFillMode_t : int {
  CUBLAS_FILL_MODE_LOWER = 0,
  CUBLAS_FILL_MODE_UPPER = 1,
  CUBLAS_FILL_MODE_FULL = 2
};
enum cublasDiagType_t : int { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t : int { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};
using cublasHandle_t = cublasContext*;

namespace lab::emulator::blas {

// cuComplex is float2; its arithmetic is std::complex's, which has the same bytes.
template <class T>
struct number_of {
  using type = T;
  using real = T;
};
template <>
struct number_of<cuComplex> {
  using type = std::complex<float>;
  using real = float;
};
template <>
struct number_of<cuDoubleComplex> {
  using type = std::complex<double>;
  using real = double;
};
template <class T>
using number = typename number_of<T>::type;
template <class T>
using real = typename number_of<T>::real;
template <class T>
number<T>* numbers(T* from) {
  return reinterpret_cast<number<T>*>(from);
}
template <class T>
const number<T>* numbers(const T* from) {
  return reinterpret_cast<const number<T>*>(from);
}

template <class T>
T conjugate(T value) {
  return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

// A factor may lie in device memory, whatever the handle's mode is.
inline bool is_on_device(const void* pointer) {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice;
}
template <class T>
T scalar(const T* at) {
  if (!is_on_device(at)) return *at;
  T value{};
  static_cast<void>(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

inline cublasStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Runs `launch`, which is given device memory for the result, and puts that where the caller expects it.
template <class T, class Launch>
cublasStatus_t with_result(T* result, const Launch& launch) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  T* found = nullptr;
  if (cudaMalloc(&found, sizeof *found) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  const bool done = launch(found) == cudaSuccess &&
                    cudaMemcpy(result, found, sizeof *found, cudaMemcpyDefault) == cudaSuccess;
  cudaFree(found);
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// What cuBLAS prints of a parameter that cannot be; parameters are counted as in BLAS, without the handle.
inline cublasStatus_t wrong_parameter(const char* function, int number) {
  std::fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n", function, number);
  return CUBLAS_STATUS_INVALID_VALUE;
}
// The distance between two columns holds a column.
inline bool is_too_narrow(long long distance, long long rows) {
  return distance < std::max(1LL, rows);
}

// Where a vector's first element lies: one that is walked backwards begins at its end.
template <class T>
T* first_of(T* vector, int n, int step) {
  return step >= 0 || n < 1 ? vector : vector - static_cast<std::ptrdiff_t>(n - 1) * step;
}

}  // namespace lab::emulator::blas

// ---- the handle

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
#define LAB_EMULATOR_SETTING(name, type, member)                              \
  inline cublasStatus_t cublasSet##name(cublasHandle_t handle, type value) {  \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;              \
    handle->member = value;                                                   \
    return CUBLAS_STATUS_SUCCESS;                                             \
  }                                                                           \
  inline cublasStatus_t cublasGet##name(cublasHandle_t handle, type* value) { \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;              \
    *value = handle->member;                                                  \
    return CUBLAS_STATUS_SUCCESS;                                             \
  }
LAB_EMULATOR_SETTING(Stream, cudaStream_t, stream)
LAB_EMULATOR_SETTING(PointerMode, cublasPointerMode_t, pointer_mode)
LAB_EMULATOR_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode)
LAB_EMULATOR_SETTING(MathMode, cublasMath_t, math_mode)
#undef LAB_EMULATOR_SETTING
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define LAB_NAME_OF(NAME, ...) \
  case NAME:                   \
    return #NAME;
    LAB_CUBLAS_STATUSES(LAB_NAME_OF)
#undef LAB_NAME_OF
  }
  return "CUBLAS_STATUS_INTERNAL_ERROR";
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the functionality requested is not supported";
    default:
      return "the operation failed";
  }
}

// ---- copies

inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int from_rows,
                                      void* to, int to_rows) {
  if (rows < 0 || columns < 0 || bytes <= 0 || from_rows <= 0 || to_rows <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto size = static_cast<std::size_t>(bytes);
  const bool done =
      cudaMemcpy2D(to, size * static_cast<std::size_t>(to_rows), from,
                   size * static_cast<std::size_t>(from_rows), size * static_cast<std::size_t>(rows),
                   static_cast<std::size_t>(columns), cudaMemcpyDefault) == cudaSuccess;
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* from, int from_rows,
                                      void* to, int to_rows) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}
// A vector is a matrix of one row.
inline cublasStatus_t cublasSetVector(int count, int bytes, const void* from, int from_step, void* to,
                                      int to_step) {
  return cublasSetMatrix(1, count, bytes, from, from_step, to, to_step);
}
inline cublasStatus_t cublasGetVector(int count, int bytes, const void* from, int from_step, void* to,
                                      int to_step) {
  return cublasSetMatrix(1, count, bytes, from, from_step, to, to_step);
}
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void* from, int from_rows,
                                           void* to, int to_rows, cudaStream_t) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}
inline cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void* from, int from_rows,
                                           void* to, int to_rows, cudaStream_t) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}
inline cublasStatus_t cublasSetVectorAsync(int count, int bytes, const void* from, int from_step, void* to,
                                           int to_step, cudaStream_t) {
  return cublasSetVector(count, bytes, from, from_step, to, to_step);
}
inline cublasStatus_t cublasGetVectorAsync(int count, int bytes, const void* from, int from_step, void* to,
                                           int to_step, cudaStream_t) {
  return cublasSetVector(count, bytes, from, from_step, to, to_step);
}
