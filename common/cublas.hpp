// cuBLAS as a stage uses it: its own header, errors as exceptions, a handle. Nothing for the emulator, which
// has no cuBLAS.
#pragma once

#if !LAB_EMULATED
#include <cublas_v2.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace lab {

// Throws std::runtime_error with cuBLAS's own words.
inline void check_cublas(cublasStatus_t status, const char* expression) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(expression) + ": " + cublasGetStatusString(status));
}
#define CUBLAS_CHECK(expression) ::lab::check_cublas((expression), #expression)

// The workspace that cuBLAS's documentation recommends for compute capability 9.0.
inline constexpr std::size_t cublas_workspace_bytes = std::size_t{32} << 20;

// Creating a handle allocates, so a plan creates it, before any launch.
inline std::shared_ptr<cublasContext> create_cublas_handle() {
  cublasHandle_t created = nullptr;
  CUBLAS_CHECK(cublasCreate(&created));
  return {created, [](cublasHandle_t handle) { cublasDestroy(handle); }};
}

}  // namespace lab
#endif
