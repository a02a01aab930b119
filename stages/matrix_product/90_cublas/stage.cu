// The library's answer: cublasSgemm, in its default mode, which multiplies in float32 and not in TF32.
#include <algorithm>
#include <cstdint>

#include "common/cublas.hpp"
#include "stages/matrix_product/problem.hpp"

namespace lab::matrix_product::cublas {
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
    CUBLAS_CHECK(cublasSgemm_64(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, in.n, in.m, in.k, &one, in.b, c_pitch,
                                in.a, a_pitch, &zero, out.c, c_pitch));
  };
  return {.launch = launch, .workspace_bytes = cublas_workspace_bytes};
}

#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cublasSgemm in float32",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = 128 * 128,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::matrix_product::cublas
