// A cubin that was compiled at run time, on the device. For CUDA alone: the emulator runs no machine code.
#pragma once

#include "common/error.hpp"

#if !LAB_EMULATED

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace lab::run_time {

// A kernel of a library, borrowed: valid while the library lives.
struct loaded_kernel {
  cudaKernel_t handle = nullptr;
  int registers = 0;            // of each thread
  std::size_t local_bytes = 0;  // of each thread: stack and spilled registers
  int most_threads = 0;         // of a block

  // What cudaLaunchKernel and cudaOccupancyMaxActiveBlocksPerMultiprocessor take.
  [[nodiscard]] const void* function() const noexcept { return static_cast<const void*>(handle); }
};

// Owner of a library of kernels, which the runtime loads into each device's context when it is first used
// there. Move-only.
class kernel_library {
 public:
  // `cubin` is copied by the driver. Throws cuda_error for an image that is none or is for another
  // architecture.
  explicit kernel_library(std::string_view cubin);
  kernel_library(kernel_library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  kernel_library& operator=(kernel_library&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  kernel_library(const kernel_library&) = delete;
  kernel_library& operator=(const kernel_library&) = delete;
  ~kernel_library();

  // A kernel by its name in the image: as written where it is extern "C", else lowered
  // (compiled::lowered_names). Throws cuda_error where there is none of this name, or the current device
  // cannot run it.
  [[nodiscard]] loaded_kernel kernel(const std::string& name) const;

 private:
  cudaLibrary_t handle_ = nullptr;
};

}  // namespace lab::run_time

#endif
