// The common operations of cuBLAS, in column-major order, as plain kernels of the emulator: the results of
// the library, and nothing of its speed.
#pragma once

#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
using cublasStatus = cublasStatus_t;
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t : int { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t : int {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
};
enum cudaDataType_t : int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14
};
using cudaDataType = cudaDataType_t;
using cublasDataType_t = cudaDataType_t;
enum cublasGemmAlgo_t : int {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};
enum cublasFillMode_t : int { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t : int { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t : int { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
struct cublasContext {};
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "the operation failed";
}
inline cublasStatus_t cublasSetVector(int count, int bytes, const void* from, int from_step, void* to,
                                      int to_step) {
  const auto size = static_cast<std::size_t>(bytes);
  const bool done = cudaMemcpy2D(to, size * static_cast<std::size_t>(to_step), from,
                                 size * static_cast<std::size_t>(from_step), size,
                                 static_cast<std::size_t>(count), cudaMemcpyDefault) == cudaSuccess;
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetVector(int count, int bytes, const void* from, int from_step, void* to,
                                      int to_step) {
  return cublasSetVector(count, bytes, from, from_step, to, to_step);
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int from_rows,
                                      void* to, int to_rows) {
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
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void* from, int from_rows,
                                           void* to, int to_rows, cudaStream_t) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}
inline cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void* from, int from_rows,
                                           void* to, int to_rows, cudaStream_t) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}

namespace lab::emulator {

// One thread for each element of the result.
template <class T>
struct matrix_product {
  bool a_turned, b_turned;
  long long m, n, k;
  T alpha, beta;
  const T *a, *b;
  T* c;
  long long a_rows, b_rows, c_rows, a_stride, b_stride, c_stride;
};
template <class T>
void multiply_matrices(matrix_product<T> p) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= p.m * p.n) return;
  const long long row = at % p.m, column = at / p.m, batch = blockIdx.y;
  const T *const a = p.a + batch * p.a_stride, *const b = p.b + batch * p.b_stride;
  T sum = 0;
  for (long long i = 0; i < p.k; ++i)
    sum += a[p.a_turned ? i + row * p.a_rows : row + i * p.a_rows] *
           b[p.b_turned ? column + i * p.b_rows : i + column * p.b_rows];
  T& result = p.c[batch * p.c_stride + row + column * p.c_rows];
  result = p.alpha * sum + (p.beta != 0 ? p.beta * result : T{0});
}

// One thread for all: the order of the additions is that of the elements.
enum class vector_operation { axpy, dot, nrm2, asum, scal, copy, swap };
template <class T>
void do_vectors(vector_operation what, long long n, T alpha, T* x, long long x_step, T* y, long long y_step,
                T* result) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) {
    T& first = x[i * x_step];
    switch (what) {
      case vector_operation::axpy:
        y[i * y_step] += alpha * first;
        break;
      case vector_operation::dot:
        sum += static_cast<double>(first) * static_cast<double>(y[i * y_step]);
        break;
      case vector_operation::nrm2:
        sum += static_cast<double>(first) * static_cast<double>(first);
        break;
      case vector_operation::asum:
        sum += std::fabs(static_cast<double>(first));
        break;
      case vector_operation::scal:
        first *= alpha;
        break;
      case vector_operation::copy:
        y[i * y_step] = first;
        break;
      case vector_operation::swap: {
        const T kept = first;
        first = y[i * y_step];
        y[i * y_step] = kept;
      }
    }
  }
  if (result != nullptr) *result = static_cast<T>(what == vector_operation::nrm2 ? std::sqrt(sum) : sum);
}

inline cublasStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
template <class T>
cublasStatus_t product(const matrix_product<T>& p, unsigned batches) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  constexpr unsigned threads = 128;
  const cudaLaunchConfig_t config{{static_cast<unsigned>((p.m * p.n + threads - 1) / threads), batches},
                                  threads};
  return status_of(cudaLaunchKernelEx(&config, multiply_matrices<T>, p));
}
template <class T>
cublasStatus_t vectors(vector_operation what, int n, T alpha, const T* x, int x_step, const T* y, int y_step,
                       T* result) {
  const cudaLaunchConfig_t config{1, 1};
  return status_of(cudaLaunchKernelEx(&config, do_vectors<T>, what, n, alpha, const_cast<T*>(x), x_step,
                                      const_cast<T*>(y), y_step, result));
}

}  // namespace lab::emulator

inline cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m,
                                  int n, int k, const float* alpha, const float* a, int a_rows,
                                  const float* b, int b_rows, const float* beta, float* c, int c_rows) {
  return lab::emulator::product<float>({a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, *alpha, *beta,
                                        a, b, c, a_rows, b_rows, c_rows, 0, 0, 0},
                                       1);
}
inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t a_form,
                                                cublasOperation_t b_form, int m, int n, int k,
                                                const float* alpha, const float* a, int a_rows,
                                                long long a_stride, const float* b, int b_rows,
                                                long long b_stride, const float* beta, float* c, int c_rows,
                                                long long c_stride, int batches) {
  return lab::emulator::product<float>({a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, *alpha, *beta,
                                        a, b, c, a_rows, b_rows, c_rows, a_stride, b_stride, c_stride},
                                       static_cast<unsigned>(batches));
}
// A vector is a matrix of one column whose next column is never looked at.
inline cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t form, int m, int n, const float* alpha,
                                  const float* a, int a_rows, const float* x, int x_step, const float* beta,
                                  float* y, int y_step) {
  const bool turned = form != CUBLAS_OP_N;
  // As a product of one row: y' = x' A'. Steps of the vectors are the rows of the matrices.
  return lab::emulator::product<float>({false, !turned, 1, turned ? n : m, turned ? m : n, *alpha, *beta, x,
                                        a, y, x_step, a_rows, y_step, 0, 0, 0},
                                       1);
}
inline cublasStatus_t cublasSaxpy(cublasHandle_t, int n, const float* alpha, const float* x, int x_step,
                                  float* y, int y_step) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::axpy, n, *alpha, x, x_step, y, y_step,
                                       nullptr);
}
inline cublasStatus_t cublasSdot(cublasHandle_t, int n, const float* x, int x_step, const float* y,
                                 int y_step, float* result) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::dot, n, 0, x, x_step, y, y_step,
                                       result);
}
inline cublasStatus_t cublasSnrm2(cublasHandle_t, int n, const float* x, int x_step, float* result) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::nrm2, n, 0, x, x_step, nullptr, 0,
                                       result);
}
inline cublasStatus_t cublasSasum(cublasHandle_t, int n, const float* x, int x_step, float* result) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::asum, n, 0, x, x_step, nullptr, 0,
                                       result);
}
inline cublasStatus_t cublasSscal(cublasHandle_t, int n, const float* alpha, float* x, int x_step) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::scal, n, *alpha, x, x_step, nullptr,
                                       0, nullptr);
}
inline cublasStatus_t cublasScopy(cublasHandle_t, int n, const float* x, int x_step, float* y, int y_step) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::copy, n, 0, x, x_step, y, y_step,
                                       nullptr);
}
inline cublasStatus_t cublasSswap(cublasHandle_t, int n, float* x, int x_step, float* y, int y_step) {
  return lab::emulator::vectors<float>(lab::emulator::vector_operation::swap, n, 0, x, x_step, y, y_step,
                                       nullptr);
}
inline cublasStatus_t cublasDgemm(cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m,
                                  int n, int k, const double* alpha, const double* a, int a_rows,
                                  const double* b, int b_rows, const double* beta, double* c, int c_rows) {
  return lab::emulator::product<double>({a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, *alpha, *beta,
                                         a, b, c, a_rows, b_rows, c_rows, 0, 0, 0},
                                        1);
}
inline cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t, cublasOperation_t a_form,
                                                cublasOperation_t b_form, int m, int n, int k,
                                                const double* alpha, const double* a, int a_rows,
                                                long long a_stride, const double* b, int b_rows,
                                                long long b_stride, const double* beta, double* c, int c_rows,
                                                long long c_stride, int batches) {
  return lab::emulator::product<double>({a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, *alpha, *beta,
                                         a, b, c, a_rows, b_rows, c_rows, a_stride, b_stride, c_stride},
                                        static_cast<unsigned>(batches));
}
// A vector is a matrix of one column whose next column is never looked at.
inline cublasStatus_t cublasDgemv(cublasHandle_t, cublasOperation_t form, int m, int n, const double* alpha,
                                  const double* a, int a_rows, const double* x, int x_step,
                                  const double* beta, double* y, int y_step) {
  const bool turned = form != CUBLAS_OP_N;
  // As a product of one row: y' = x' A'. Steps of the vectors are the rows of the matrices.
  return lab::emulator::product<double>({false, !turned, 1, turned ? n : m, turned ? m : n, *alpha, *beta, x,
                                         a, y, x_step, a_rows, y_step, 0, 0, 0},
                                        1);
}
inline cublasStatus_t cublasDaxpy(cublasHandle_t, int n, const double* alpha, const double* x, int x_step,
                                  double* y, int y_step) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::axpy, n, *alpha, x, x_step, y,
                                        y_step, nullptr);
}
inline cublasStatus_t cublasDdot(cublasHandle_t, int n, const double* x, int x_step, const double* y,
                                 int y_step, double* result) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::dot, n, 0, x, x_step, y, y_step,
                                        result);
}
inline cublasStatus_t cublasDnrm2(cublasHandle_t, int n, const double* x, int x_step, double* result) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::nrm2, n, 0, x, x_step, nullptr, 0,
                                        result);
}
inline cublasStatus_t cublasDasum(cublasHandle_t, int n, const double* x, int x_step, double* result) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::asum, n, 0, x, x_step, nullptr, 0,
                                        result);
}
inline cublasStatus_t cublasDscal(cublasHandle_t, int n, const double* alpha, double* x, int x_step) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::scal, n, *alpha, x, x_step, nullptr,
                                        0, nullptr);
}
inline cublasStatus_t cublasDcopy(cublasHandle_t, int n, const double* x, int x_step, double* y, int y_step) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::copy, n, 0, x, x_step, y, y_step,
                                        nullptr);
}
inline cublasStatus_t cublasDswap(cublasHandle_t, int n, double* x, int x_step, double* y, int y_step) {
  return lab::emulator::vectors<double>(lab::emulator::vector_operation::swap, n, 0, x, x_step, y, y_step,
                                        nullptr);
}

namespace lab::emulator {

// What happens to an element of a product before it is stored.
struct product_end {
  const void* bias = nullptr;  // one for each row
  bool relu = false, gelu = false;
};
// A product of numbers of one type, summed in another.
template <class T, class Sum, class Result>
void multiply_and_end(matrix_product<T> p, Result* results, Sum alpha, Sum beta, product_end end) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= p.m * p.n) return;
  const long long row = at % p.m, column = at / p.m, batch = blockIdx.y;
  const T *const a = p.a + batch * p.a_stride, *const b = p.b + batch * p.b_stride;
  Sum sum = 0;
  for (long long i = 0; i < p.k; ++i)
    sum += static_cast<Sum>(a[p.a_turned ? i + row * p.a_rows : row + i * p.a_rows]) *
           static_cast<Sum>(b[p.b_turned ? column + i * p.b_rows : i + column * p.b_rows]);
  Result& result = results[batch * p.c_stride + row + column * p.c_rows];
  Sum value = alpha * sum;
  if (beta != Sum{0}) value += beta * static_cast<Sum>(result);
  if (end.bias != nullptr) value += static_cast<Sum>(static_cast<const T*>(end.bias)[row]);
  if (end.relu && value < Sum{0}) value = 0;
  if constexpr (std::is_floating_point_v<Sum>) {
    if (end.gelu)  // as cuBLASLt's: the approximation by tanh
      value =
          value / 2 * (1 + std::tanh(Sum(0.7978845608) * (value + Sum(0.044715) * value * value * value)));
  }
  result = static_cast<Result>(value);
}
// Of a type that is known when the program runs.
template <>
struct matrix_product<void> {
  bool a_turned, b_turned;
  long long m, n, k;
  const void *a, *b;
  void* c;
  long long a_rows, b_rows, c_rows, a_stride, b_stride, c_stride;
};
template <class T, class Sum, class Result = T>
cublasStatus_t product_as(const matrix_product<void>& p, const void* alpha, const void* beta,
                          unsigned batches, const product_end& end) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  constexpr unsigned threads = 128;
  const cudaLaunchConfig_t config{{static_cast<unsigned>((p.m * p.n + threads - 1) / threads), batches},
                                  threads};
  const matrix_product<T> typed{p.a_turned,
                                p.b_turned,
                                p.m,
                                p.n,
                                p.k,
                                T{},
                                T{},
                                static_cast<const T*>(p.a),
                                static_cast<const T*>(p.b),
                                nullptr,
                                p.a_rows,
                                p.b_rows,
                                p.c_rows,
                                p.a_stride,
                                p.b_stride,
                                p.c_stride};
  return status_of(cudaLaunchKernelEx(&config, multiply_and_end<T, Sum, Result>, typed,
                                      static_cast<Result*>(p.c), *static_cast<const Sum*>(alpha),
                                      *static_cast<const Sum*>(beta), end));
}
// All matrices are of `type`.
inline cublasStatus_t product_of(cudaDataType_t type, const matrix_product<void>& p, const void* alpha,
                                 const void* beta, unsigned batches, const product_end& end = {}) {
  switch (type) {
    case CUDA_R_32F:
      return product_as<float, float>(p, alpha, beta, batches, end);
    case CUDA_R_64F:
      return product_as<double, double>(p, alpha, beta, batches, end);
    case CUDA_R_16F:
      return product_as<__half, float>(p, alpha, beta, batches, end);
    case CUDA_R_16BF:
      return product_as<__nv_bfloat16, float>(p, alpha, beta, batches, end);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

}  // namespace lab::emulator

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType_t a_type, int a_rows, long long a_stride, const void* b,
    cudaDataType_t b_type, int b_rows, long long b_stride, const void* beta, void* c, cudaDataType_t c_type,
    int c_rows, long long c_stride, int batches, cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (a_type == CUDA_R_8I && b_type == CUDA_R_8I && c_type == CUDA_R_32I) {
    return lab::emulator::product_as<std::int8_t, int, int>(
        {a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, a, b, c, a_rows, b_rows, c_rows, a_stride,
         b_stride, c_stride},
        alpha, beta, static_cast<unsigned>(batches), {});
  }
  // Halves may be summed to floats.
  if (a_type == CUDA_R_16F && b_type == CUDA_R_16F && c_type == CUDA_R_32F) {
    return lab::emulator::product_as<__half, float, float>(
        {a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, a, b, c, a_rows, b_rows, c_rows, a_stride,
         b_stride, c_stride},
        alpha, beta, static_cast<unsigned>(batches), {});
  }
  if (a_type != b_type || a_type != c_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  float wide_alpha = 0, wide_beta = 0;
  if (compute == CUBLAS_COMPUTE_16F) {  // the factors are halves
    wide_alpha = *static_cast<const __half*>(alpha);
    wide_beta = *static_cast<const __half*>(beta);
    alpha = &wide_alpha;
    beta = &wide_beta;
  }
  return lab::emulator::product_of(c_type,
                                   {a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, k, a, b, c, a_rows,
                                    b_rows, c_rows, a_stride, b_stride, c_stride},
                                   alpha, beta, static_cast<unsigned>(batches));
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form,
                                   int m, int n, int k, const void* alpha, const void* a,
                                   cudaDataType_t a_type, int a_rows, const void* b, cudaDataType_t b_type,
                                   int b_rows, const void* beta, void* c, cudaDataType_t c_type, int c_rows,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, a_form, b_form, m, n, k, alpha, a, a_type, a_rows, 0, b, b_type,
                                    b_rows, 0, beta, c, c_type, c_rows, 0, 1, compute, algorithm);
}
// Before CUDA 11 the type of the sum was one of the data.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form,
                                   int m, int n, int k, const void* alpha, const void* a,
                                   cudaDataType_t a_type, int a_rows, const void* b, cudaDataType_t b_type,
                                   int b_rows, const void* beta, void* c, cudaDataType_t c_type, int c_rows,
                                   cudaDataType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, a_form, b_form, m, n, k, alpha, a, a_type, a_rows, b, b_type, b_rows, beta, c,
                      c_type, c_rows, compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F,
                      algorithm);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form,
                                  int m, int n, int k, const __half* alpha, const __half* a, int a_rows,
                                  const __half* b, int b_rows, const __half* beta, __half* c, int c_rows) {
  return cublasGemmEx(handle, a_form, b_form, m, n, k, alpha, a, CUDA_R_16F, a_rows, b, CUDA_R_16F, b_rows,
                      beta, c, CUDA_R_16F, c_rows, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}

namespace lab::emulator {

// c = alpha a + beta b, each of them turned or not.
template <class T>
void add_matrices(bool a_turned, bool b_turned, int m, int n, T alpha, const T* a, int a_rows, T beta,
                  const T* b, int b_rows, T* c, int c_rows) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(m) * n) return;
  const long long row = at % m, column = at / m;
  T sum = 0;
  if (alpha != T{0}) sum += alpha * a[a_turned ? column + row * a_rows : row + column * a_rows];
  if (beta != T{0}) sum += beta * b[b_turned ? column + row * b_rows : row + column * b_rows];
  c[row + column * c_rows] = sum;
}
// The first element with the largest (or least) absolute value, counted from 1; 0 of none.
template <class T>
void extreme_element(int n, const T* x, int step, bool largest, int* result) {
  *result = n < 1 ? 0 : 1;
  T best = n < 1 ? T{} : std::fabs(x[0]);
  for (int i = 1; i < n; ++i) {
    const T size = std::fabs(x[static_cast<long long>(i) * step]);
    if (largest ? size > best : size < best) {
      best = size;
      *result = i + 1;
    }
  }
}
template <class T>
cublasStatus_t find_extreme(int n, const T* x, int step, bool largest, int* result) {
  int* found = nullptr;
  if (cudaMalloc(&found, sizeof *found) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  const cudaLaunchConfig_t config{{1}, {1}};
  const bool done =
      cudaLaunchKernelEx(&config, extreme_element<T>, n, x, step, largest, found) == cudaSuccess &&
      cudaMemcpy(result, found, sizeof *found, cudaMemcpyDefault) == cudaSuccess;
  cudaFree(found);
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace lab::emulator

#define LAB_EMULATOR_CUBLAS(letter, small, T)                                                              \
  inline cublasStatus_t cublas##letter##geam(                                                              \
      cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, const T* alpha,    \
      const T* a, int a_rows, const T* beta, const T* b, int b_rows, T* c, int c_rows) {                   \
    if (m < 0 || n < 0) return CUBLAS_STATUS_INVALID_VALUE;                                                \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                    \
    const auto elements = static_cast<unsigned>(static_cast<long long>(m) * n);                            \
    const cudaLaunchConfig_t config{{(elements + 127) / 128}, {128}};                                      \
    return lab::emulator::status_of(cudaLaunchKernelEx(&config, lab::emulator::add_matrices<T>,            \
                                                       a_form != CUBLAS_OP_N, b_form != CUBLAS_OP_N, m, n, \
                                                       *alpha, a, a_rows, *beta, b, b_rows, c, c_rows));   \
  }                                                                                                        \
  /* The lists of matrices lie in device memory. */                                                        \
  inline cublasStatus_t cublas##letter##gemmBatched(                                                       \
      cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,      \
      const T* alpha, const T* const a[], int a_rows, const T* const b[], int b_rows, const T* beta,       \
      T* const c[], int c_rows, int batches) {                                                             \
    for (int batch = 0; batch < batches; ++batch) {                                                        \
      const T *one_a = nullptr, *one_b = nullptr;                                                          \
      T* one_c = nullptr;                                                                                  \
      if (cudaMemcpy(&one_a, a + batch, sizeof one_a, cudaMemcpyDefault) != cudaSuccess ||                 \
          cudaMemcpy(&one_b, b + batch, sizeof one_b, cudaMemcpyDefault) != cudaSuccess ||                 \
          cudaMemcpy(&one_c, c + batch, sizeof one_c, cudaMemcpyDefault) != cudaSuccess)                   \
        return CUBLAS_STATUS_EXECUTION_FAILED;                                                             \
      const cublasStatus_t status = cublas##letter##gemm(handle, a_form, b_form, m, n, k, alpha, one_a,    \
                                                         a_rows, one_b, b_rows, beta, one_c, c_rows);      \
      if (status != CUBLAS_STATUS_SUCCESS) return status;                                                  \
    }                                                                                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }                                                                                                        \
  inline cublasStatus_t cublasI##small##amax(cublasHandle_t, int n, const T* x, int step, int* result) {   \
    return lab::emulator::find_extreme(n, x, step, true, result);                                          \
  }                                                                                                        \
  inline cublasStatus_t cublasI##small##amin(cublasHandle_t, int n, const T* x, int step, int* result) {   \
    return lab::emulator::find_extreme(n, x, step, false, result);                                         \
  }
LAB_EMULATOR_CUBLAS(S, s, float)
LAB_EMULATOR_CUBLAS(D, d, double)
#undef LAB_EMULATOR_CUBLAS
