// The library's answer: C = alpha op(A) + beta B (geam) with alpha = 1, beta = 0 and op the transpose. cuBLAS
// counts elements column by column: what lies here as rows x columns is there columns x rows.
#include "stages/transpose/problem.hpp"

#if LAB_WITH_CUBLAS
#include <cublas_v2.h>
#endif

namespace lab::transpose::cublas_geam {
namespace {

#if LAB_WITH_CUBLAS

void require(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

// One for the process, as it is costly.
cublasHandle_t handle() {
  static const cublasHandle_t created = [] {
    cublasHandle_t made = nullptr;
    require(cublasCreate(&made));
    return made;
  }();
  return created;
}

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {.launch = [blas = handle()](const input& in, const output& out, workspace /*scratch*/,
                                      cudaStream_t stream) {
    if (in.rows == 0 || in.columns == 0) return;
    constexpr float alpha = 1, beta = 0;
    require(cublasSetStream(blas, stream));
    // B is not read where beta is 0; its place must be one that could be.
    require(cublasSgeam_64(blas, CUBLAS_OP_T, CUBLAS_OP_N, in.rows, in.columns, &alpha, in.values, in.columns,
                           &beta, out.transposed, in.rows, out.transposed, in.rows));
  }};
}

std::string unsupported(const problem::parameters& /*p*/) {
  return "";
}

#else

[[maybe_unused]] plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  throw std::runtime_error("built without cuBLAS");
}

std::string unsupported(const problem::parameters& /*p*/) {
  return "needs cuBLAS, which this build was made without";
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cublasSgeam",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .unsupported = unsupported,
                                        .tile = 1024,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::transpose::cublas_geam
