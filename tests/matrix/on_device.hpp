// What the programs share that compare a GPU with the emulator's models.
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

#include "common/cuda.hpp"
#include "tests/device_array.hpp"

namespace lab {

template <class T>
using on_device = test::device_array<T>;

// Bit by bit; `first` becomes the first one's number.
template <class T>
std::size_t count_different(const std::vector<T>& found, const std::vector<T>& expected,
                            std::size_t* first = nullptr) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (std::memcmp(&found[k], &expected[k], sizeof(T)) == 0) continue;
    if (count++ == 0 && first != nullptr) *first = k;
  }
  return count;
}

// Whether the device is no GPU that the models are of, which is then said.
inline bool is_skipped() {
  cudaDeviceProp device{};
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  if (device.major == 9) return false;
  std::printf("this test is skipped: it needs a device of compute capability 9.0\n");
  return true;
}

}  // namespace lab
