#include "common/run_time/module.hpp"

namespace lab::run_time {

kernel_library::kernel_library(std::string_view cubin) {
  // The driver reads as many bytes as the image's header says, so that none must not reach it.
  CUDA_CHECK(cubin.empty() ? cudaErrorInvalidKernelImage : cudaSuccess);
  CUDA_CHECK(cudaLibraryLoadData(&handle_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
}

kernel_library::~kernel_library() {
  if (handle_ != nullptr) CUDA_REPORT(cudaLibraryUnload(handle_));
}

loaded_kernel kernel_library::kernel(const std::string& name) const {
  loaded_kernel found;
  CUDA_CHECK(cudaLibraryGetKernel(&found.handle, handle_, name.c_str()));
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, found.function()));
  found.registers = attributes.numRegs;
  found.local_bytes = attributes.localSizeBytes;
  found.most_threads = attributes.maxThreadsPerBlock;
  return found;
}

}  // namespace lab::run_time
