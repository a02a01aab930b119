// One way to check a CUDA call: CUDA_CHECK(call) throws lab::cuda_error with the call, the place and the
// error's name.
#pragma once

#include <stdexcept>
#include <string>

#if !defined(LAB_EMULATED)
#error "the build must define LAB_EMULATED: 0 for CUDA, 1 for the CPU emulator"
#elif LAB_EMULATED
#include "common/emulator/core/cuda_runtime.hpp"
#else
#include <cuda_runtime.h>
#endif

namespace lab {

// A CUDA runtime call that failed. what() reads "file:line: call: name (description)".
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t code, const char* expression, const char* file, int line);
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

// Throws cuda_error unless `code` is cudaSuccess.
void check(cudaError_t code, const char* expression, const char* file, int line);

// For destructors, which must not throw: prints the error to stderr instead, unless it is the one thrown
// last.
void report(cudaError_t code, const char* expression, const char* file, int line) noexcept;

}  // namespace lab

#define CUDA_CHECK(...) ::lab::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CUDA_REPORT(...) ::lab::report((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
