// What the tests that need a device share.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "common/cuda.hpp"

namespace lab {

// CTest's word for "skipped".
inline constexpr int skip_code = 4;

// Ends the process with the skip code when there is no device to test on.
inline void skip_without_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return;
  std::puts("skipped: no CUDA device");
  std::exit(skip_code);
}

}  // namespace lab
