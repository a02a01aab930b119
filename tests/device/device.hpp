// What the tests that need a device share.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "common/cuda.hpp"

namespace lab {

// Ends the process when there is no device to test on, with the words that CTest takes for a skipped test.
inline void skip_without_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return;
  std::puts("this test is skipped: no CUDA device");
  std::exit(4);
}

}  // namespace lab
