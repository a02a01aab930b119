#include "common/error.hpp"

#include <cstdio>

namespace lab {
namespace {

std::string describe(cudaError_t code, const char* expression, const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line) + ": " + expression + ": " + cudaGetErrorName(code) +
         " (" + cudaGetErrorString(code) + ")";
}

// A kernel's failure stays: every later call returns it again, and the destructors on the way out need not
// repeat it.
thread_local cudaError_t last_thrown = cudaSuccess;

}  // namespace

cuda_error::cuda_error(cudaError_t code, const char* expression, const char* file, int line)
    : std::runtime_error(describe(code, expression, file, line)), code_(code) {}

void check(cudaError_t code, const char* expression, const char* file, int line) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // a non-sticky error must not be found again by the next check
  last_thrown = code;
  throw cuda_error(code, expression, file, line);
}

void report(cudaError_t code, const char* expression, const char* file, int line) noexcept {
  if (code != cudaSuccess && code != last_thrown)
    std::fprintf(stderr, "%s\n", describe(code, expression, file, line).c_str());
}

}  // namespace lab
