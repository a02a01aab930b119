// How many multiprocessors the current device has: what a grid that fills the device is counted in.
#pragma once

#include "common/cuda.hpp"

namespace lab {

inline int multiprocessors() {
  int device = 0;
  int count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

}  // namespace lab
