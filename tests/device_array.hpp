// Device memory that starts as a copy of host values.
#pragma once

#include <cstddef>
#include <vector>

#include "common/cuda.hpp"

namespace lab::test {

template <class T>
class device_array {
 public:
  explicit device_array(const std::vector<T>& values) : size_(values.size()) {
    CUDA_CHECK(cudaMalloc(&pointer_, size_ * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(pointer_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit device_array(std::size_t size, T value = T{}) : device_array(std::vector<T>(size, value)) {}
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { cudaFree(pointer_); }

  [[nodiscard]] T* get() const { return pointer_; }
  operator T*() const { return pointer_; }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(size_);
    CUDA_CHECK(cudaMemcpy(result.data(), pointer_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  T* pointer_ = nullptr;
  std::size_t size_;
};

}  // namespace lab::test
