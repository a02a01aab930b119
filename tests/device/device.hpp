// What the tests that need a device share.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "common/cuda.hpp"

namespace lab {

// Ends the process when there is no device to test on, with the words that CTest takes for a skipped test.
// Asked once: a device that a wrong kernel has broken has been there, and its test has not been skipped.
inline void skip_without_device() {
  static const bool is_there = [] {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  }();
  if (is_there) return;
  std::puts("this test is skipped: no CUDA device");
  std::exit(4);
}

}  // namespace lab
