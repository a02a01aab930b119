// The library's answer: cublasGemmEx, of bfloat16 factors and float32 sums.
#include "stages/matrix_product_bf16/problem.hpp"

#if !LAB_EMULATED
#include <cublas_v2.h>

#include <memory>
#include <stdexcept>
#include <string>
#endif

namespace lab::matrix_product_bf16::cublas {
namespace {

#if !LAB_EMULATED

// What the library's documentation recommends for compute capability 9.0.
constexpr std::size_t scratch_bytes = std::size_t{32} << 20;

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

// The handle allocates, so it is made before any launch.
plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  cublasHandle_t made = nullptr;
  check(cublasCreate(&made), "cublasCreate");
  const std::shared_ptr<cublasContext> handle(made, [](cublasHandle_t held) { cublasDestroy(held); });
  const auto launch = [handle](const input& in, const output& out, workspace scratch, cudaStream_t stream) {
    check(cublasSetStream(handle.get(), stream), "cublasSetStream");
    check(cublasSetWorkspace(handle.get(), scratch.data, scratch.bytes), "cublasSetWorkspace");
    const float one = 1;
    const float zero = 0;
    const std::int64_t a_pitch = std::max<std::int64_t>(1, in.k);
    const std::int64_t c_pitch = std::max<std::int64_t>(1, in.n);
    // The library stores by columns: what it takes for B and A is their transposes, and C's is B' A'.
    check(cublasGemmEx_64(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, in.n, in.m, in.k, &one, in.b, CUDA_R_16BF,
                          c_pitch, in.a, CUDA_R_16BF, a_pitch, &zero, out.c, CUDA_R_32F, c_pitch,
                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  };
  return {.launch = launch, .workspace_bytes = scratch_bytes};
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cublasGemmEx",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = 128 * 128,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::cublas
