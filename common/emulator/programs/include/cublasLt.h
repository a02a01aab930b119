// The part of cuBLASLt that programs use: matrix products with a bias and an activation behind them, in
// column-major order, by the plain kernels of cublas_v2.h.
#pragma once

#include <cublas_v2.h>

using cublasLtHandle_t = cublasHandle_t;
enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE,
  CUBLASLT_MATMUL_DESC_POINTER_MODE,
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
};
enum cublasLtEpilogue_t : int {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  CUBLASLT_EPILOGUE_DGELU = 64,
  CUBLASLT_EPILOGUE_GELU_AUX = 160,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
  CUBLASLT_EPILOGUE_BGRADB = 512,
};
enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtOrder_t : int { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };
enum cublasLtMatmulPreferenceAttributes_t : int { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

struct cublasLtMatmulDescOpaque_t {
  cublasOperation_t a_form = CUBLAS_OP_N, b_form = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType_t factors = CUDA_R_32F;  // of alpha and beta
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batches = 1;
  std::int64_t stride = 0;
};
struct cublasLtMatmulPreferenceOpaque_t {};
struct cublasLtMatmulAlgo_t {};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
};
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate(handle);
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy(handle);
}
inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description, cublasComputeType_t,
                                             cudaDataType_t factors) {
  *description = {};
  description->factors = factors;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t type,
                                               cudaDataType_t factors) {
  *description = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit(*description, type, factors);
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                                     cublasLtMatmulDescAttributes_t attribute,
                                                     const void* value, std::size_t) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      description->a_form = *static_cast<const cublasOperation_t*>(value);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      description->b_form = *static_cast<const cublasOperation_t*>(value);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      description->epilogue = *static_cast<const cublasLtEpilogue_t*>(value);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      description->bias = *static_cast<const void* const*>(value);
      break;
    default:
      break;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType_t type,
                                               std::uint64_t rows, std::uint64_t columns,
                                               std::int64_t leading) {
  *layout = {type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t leading) {
  *layout = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit(*layout, type, rows, columns, leading);
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t attribute,
                                                       const void* value, std::size_t) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    layout->batches = *static_cast<const std::int32_t*>(value);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    layout->stride = *static_cast<const std::int64_t*>(value);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_ORDER &&
             *static_cast<const cublasLtOrder_t*>(value) != CUBLASLT_ORDER_COL) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  *preference = {};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*,
                                                           std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = wanted > 0 ? 1 : 0;
  if (wanted > 0) *results = {{}, 0, CUBLAS_STATUS_SUCCESS, 1.0f};
  return CUBLAS_STATUS_SUCCESS;
}
// D = alpha A B + beta C, with what the epilogue says; C is D, or beta 0.
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                                     cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                                     const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t) {
  lab::emulator::blas::product_end end;
  switch (description->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      break;
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      if ((description->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) end.bias = description->bias;
      end.relu = (description->epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
      end.gelu = (description->epilogue & CUBLASLT_EPILOGUE_GELU) != 0;
      break;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool same = a_layout->type == b_layout->type && a_layout->type == d_layout->type;
  const bool has_double_factors = a_layout->type == CUDA_R_64F;
  const bool has_half_factors = description->factors == CUDA_R_16F;
  using lab::emulator::blas::scalar;
  const bool adds = has_half_factors     ? static_cast<float>(scalar(static_cast<const __half*>(beta))) != 0
                    : has_double_factors ? scalar(static_cast<const double*>(beta)) != 0
                                         : scalar(static_cast<const float*>(beta)) != 0;
  if (!same || (adds && c != d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool turned = description->a_form != CUBLAS_OP_N;
  return lab::emulator::blas::product_of(
      a_layout->type, d_layout->type,
      {description->a_form, description->b_form, static_cast<long long>(d_layout->rows),
       static_cast<long long>(d_layout->columns),
       static_cast<long long>(turned ? a_layout->rows : a_layout->columns), a, b, d, a_layout->leading,
       b_layout->leading, d_layout->leading, a_layout->stride, b_layout->stride, d_layout->stride},
      alpha, beta, has_half_factors, d_layout->batches > 0 ? d_layout->batches : 1, end);
}
