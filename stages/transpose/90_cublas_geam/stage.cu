// The library's answer: C = alpha op(A) + beta B (geam) with alpha = 1, beta = 0 and op the transpose. cuBLAS
// counts elements column by column: what lies here as rows x columns is there columns x rows.
#include "common/cublas.hpp"
#include "stages/transpose/problem.hpp"

namespace lab::transpose::cublas_geam {
namespace {

#if !LAB_EMULATED

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {.launch = [handle = create_cublas_handle()](const input& in, const output& out,
                                                      workspace /*scratch*/, cudaStream_t stream) {
    if (in.rows == 0 || in.columns == 0) return;
    constexpr float alpha = 1, beta = 0;
    CUBLAS_CHECK(cublasSetStream(handle.get(), stream));
    // B is not read where beta is 0; its place must be one that could be.
    CUBLAS_CHECK(cublasSgeam_64(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, in.rows, in.columns, &alpha,
                                in.values, in.columns, &beta, out.transposed, in.rows, out.transposed,
                                in.rows));
  }};
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cublasSgeam",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = 1024,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::transpose::cublas_geam
