// A value from the device, for which the host waits: what an exact allocation costs.
#pragma once

#include "common/cuda.hpp"

namespace lab::redact {

template <class T>
T read_back(const T* value, cudaStream_t stream) {
  T found{};
  CUDA_CHECK(cudaMemcpyAsync(&found, value, sizeof found, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return found;
}

}  // namespace lab::redact
