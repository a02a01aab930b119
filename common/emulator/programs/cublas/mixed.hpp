// Products of numbers whose types are known when the program runs.
#pragma once

#include "common/emulator/programs/cublas/matrices.hpp"

namespace lab::emulator::blas {

// A product whose matrices, of one type or of two, are named by their addresses.
struct untyped_product {
  cublasOperation_t a_form, b_form;
  long long m, n, k;
  const void *a, *b;
  void* c;
  long long a_distance, b_distance, c_distance, a_stride = 0, b_stride = 0, c_stride = 0;
  // Instead of a, b and c: in device memory, a matrix for each of a batch.
  const void* const* a_list = nullptr;
  const void* const* b_list = nullptr;
  void* const* c_list = nullptr;
};

template <class T, class Sum, class Result = T>
cublasStatus_t product_as(const untyped_product& p, const void* alpha, const void* beta, long long batches,
                          const product_end& end) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || is_too_narrow(p.a_distance, p.a_form == CUBLAS_OP_N ? p.m : p.k) ||
      is_too_narrow(p.b_distance, p.b_form == CUBLAS_OP_N ? p.k : p.n) || is_too_narrow(p.c_distance, p.m))
    return CUBLAS_STATUS_INVALID_VALUE;
  return multiply(
      matrix_product<T, Sum, Result>{p.m, p.n, p.k, scalar(static_cast<const Sum*>(alpha)),
                                     scalar(static_cast<const Sum*>(beta)),
                                     operand(static_cast<const T*>(p.a), p.a_distance, p.a_form, p.a_stride,
                                             reinterpret_cast<const T* const*>(p.a_list)),
                                     operand(static_cast<const T*>(p.b), p.b_distance, p.b_form, p.b_stride,
                                             reinterpret_cast<const T* const*>(p.b_list)),
                                     plain(static_cast<Result*>(p.c), p.c_distance, p.c_stride,
                                           reinterpret_cast<Result* const*>(p.c_list)),
                                     triangle::all, end},
      batches);
}

// Of matrices a and b of one type. `has_half_factors`: alpha and beta are halves.
inline cublasStatus_t product_of(cudaDataType_t from, cudaDataType_t to, const untyped_product& p,
                                 const void* alpha, const void* beta, bool has_half_factors,
                                 long long batches, const product_end& end = {}) {
  float wide_alpha = 0, wide_beta = 0;
  if (has_half_factors) {
    wide_alpha = scalar(static_cast<const __half*>(alpha));
    wide_beta = scalar(static_cast<const __half*>(beta));
    alpha = &wide_alpha;
    beta = &wide_beta;
  }
  if (from == CUDA_R_8I && to == CUDA_R_32I)
    return product_as<std::int8_t, int, int>(p, alpha, beta, batches, end);
  if (from == CUDA_R_8I && to == CUDA_R_32F)
    return product_as<std::int8_t, float, float>(p, alpha, beta, batches, end);
  if (from == CUDA_R_16F && to == CUDA_R_32F)
    return product_as<__half, float, float>(p, alpha, beta, batches, end);
  if (from == CUDA_R_16BF && to == CUDA_R_32F)
    return product_as<__nv_bfloat16, float, float>(p, alpha, beta, batches, end);
  if (from != to) return CUBLAS_STATUS_NOT_SUPPORTED;
  switch (from) {
    case CUDA_R_32F:
      return product_as<float, float>(p, alpha, beta, batches, end);
    case CUDA_R_64F:
      return product_as<double, double>(p, alpha, beta, batches, end);
    case CUDA_R_16F:
      return product_as<__half, float>(p, alpha, beta, batches, end);
    case CUDA_R_16BF:
      return product_as<__nv_bfloat16, float>(p, alpha, beta, batches, end);
    case CUDA_C_32F:
      return product_as<std::complex<float>, std::complex<float>>(p, alpha, beta, batches, end);
    case CUDA_C_64F:
      return product_as<std::complex<double>, std::complex<double>>(p, alpha, beta, batches, end);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

// What a product's sums are of, as far as alpha and beta depend on it. Before CUDA 11 it was a type of data.
struct sum_type {
  bool is_half;
  sum_type(cublasComputeType_t type)
      : is_half(type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC) {}
  sum_type(cudaDataType_t type) : is_half(type == CUDA_R_16F) {}
};

}  // namespace lab::emulator::blas

LAB_EMULATOR_LIBRARY cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType_t a_type, int a_rows, long long a_stride, const void* b,
    cudaDataType_t b_type, int b_rows, long long b_stride, const void* beta, void* c, cudaDataType_t c_type,
    int c_rows, long long c_stride, int batches, lab::emulator::blas::sum_type compute, cublasGemmAlgo_t) {
  if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  return lab::emulator::blas::product_of(
      a_type, c_type,
      {a_form, b_form, m, n, k, a, b, c, a_rows, b_rows, c_rows, a_stride, b_stride, c_stride}, alpha, beta,
      compute.is_half, batches);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
    const void* alpha, const void* const a[], cudaDataType_t a_type, int a_rows, const void* const b[],
    cudaDataType_t b_type, int b_rows, const void* beta, void* const c[], cudaDataType_t c_type, int c_rows,
    int batches, lab::emulator::blas::sum_type compute, cublasGemmAlgo_t) {
  if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  return lab::emulator::blas::product_of(
      a_type, c_type,
      {a_form, b_form, m, n, k, nullptr, nullptr, nullptr, a_rows, b_rows, c_rows, 0, 0, 0, a, b, c}, alpha,
      beta, compute.is_half, batches);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_form,
                                                 cublasOperation_t b_form, int m, int n, int k,
                                                 const void* alpha, const void* a, cudaDataType_t a_type,
                                                 int a_rows, const void* b, cudaDataType_t b_type, int b_rows,
                                                 const void* beta, void* c, cudaDataType_t c_type, int c_rows,
                                                 lab::emulator::blas::sum_type compute,
                                                 cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, a_form, b_form, m, n, k, alpha, a, a_type, a_rows, 0, b, b_type,
                                    b_rows, 0, beta, c, c_type, c_rows, 0, 1, compute, algorithm);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t a_form,
                                                  cublasOperation_t b_form, int m, int n, int k,
                                                  const float* alpha, const void* a, cudaDataType_t a_type,
                                                  int a_rows, const void* b, cudaDataType_t b_type,
                                                  int b_rows, const float* beta, void* c,
                                                  cudaDataType_t c_type, int c_rows) {
  return cublasGemmEx(handle, a_form, b_form, m, n, k, alpha, a, a_type, a_rows, b, b_type, b_rows, beta, c,
                      c_type, c_rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t a_form,
                                                cublasOperation_t b_form, int m, int n, int k,
                                                const __half* alpha, const __half* a, int a_rows,
                                                const __half* b, int b_rows, const __half* beta, __half* c,
                                                int c_rows) {
  return cublasGemmEx(handle, a_form, b_form, m, n, k, alpha, a, CUDA_R_16F, a_rows, b, CUDA_R_16F, b_rows,
                      beta, c, CUDA_R_16F, c_rows, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasHgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
    const __half* alpha, const __half* a, int a_rows, long long a_stride, const __half* b, int b_rows,
    long long b_stride, const __half* beta, __half* c, int c_rows, long long c_stride, int batches) {
  return cublasGemmStridedBatchedEx(handle, a_form, b_form, m, n, k, alpha, a, CUDA_R_16F, a_rows, a_stride,
                                    b, CUDA_R_16F, b_rows, b_stride, beta, c, CUDA_R_16F, c_rows, c_stride,
                                    batches, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
LAB_EMULATOR_LIBRARY cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t a_form,
                                                       cublasOperation_t b_form, int m, int n, int k,
                                                       const __half* alpha, const __half* const a[],
                                                       int a_rows, const __half* const b[], int b_rows,
                                                       const __half* beta, __half* const c[], int c_rows,
                                                       int batches) {
  return cublasGemmBatchedEx(handle, a_form, b_form, m, n, k, alpha, reinterpret_cast<const void* const*>(a),
                             CUDA_R_16F, a_rows, reinterpret_cast<const void* const*>(b), CUDA_R_16F, b_rows,
                             beta, reinterpret_cast<void* const*>(c), CUDA_R_16F, c_rows, batches,
                             CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
