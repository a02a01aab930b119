// The library's answer: cublasGemmEx, of bfloat16 factors and float32 sums.
#include <algorithm>
#include <cstdint>

#include "common/cublas.hpp"
#include "stages/matrix_product_bf16/problem.hpp"

namespace lab::matrix_product_bf16::cublas {
namespace {

#if !LAB_EMULATED

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  const auto launch = [handle = create_cublas_handle()](const input& in, const output& out, workspace scratch,
                                                        cudaStream_t stream) {
    CUBLAS_CHECK(cublasSetStream(handle.get(), stream));
    CUBLAS_CHECK(cublasSetWorkspace(handle.get(), scratch.data, scratch.bytes));
    const float one = 1;
    const float zero = 0;
    const std::int64_t a_pitch = std::max<std::int64_t>(1, in.k);
    const std::int64_t c_pitch = std::max<std::int64_t>(1, in.n);
    // The library stores by columns: what it takes for B and A is their transposes, and C's is B' A'.
    CUBLAS_CHECK(cublasGemmEx_64(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, in.n, in.m, in.k, &one, in.b,
                                 CUDA_R_16BF, c_pitch, in.a, CUDA_R_16BF, a_pitch, &zero, out.c, CUDA_R_32F,
                                 c_pitch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  };
  return {.launch = launch, .workspace_bytes = cublas_workspace_bytes};
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cublasGemmEx",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = 128 * 128,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::cublas
