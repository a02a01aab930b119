// Device memory in which a stray write shows.
#pragma once

#include <cstdint>
#include <optional>

#if LAB_EMULATED
#include "common/emulator/emulator.hpp"
#endif
#include "common/memory.hpp"
#include "harness/device/kernels.hpp"

namespace lab {

// Device memory for `size` values of T between two guard zones. Whatever writes beside the array is found
// out, and what reads beside it reads NaN.
template <class T>
class guarded_buffer {
 public:
  // A multiple of every alignment that a kernel may hope for, and longer than a block's stray step.
  static constexpr std::int64_t guard_bytes = 16 * 1024;
  static constexpr unsigned char guard_byte = 0xff;

  guarded_buffer(std::int64_t size, cudaStream_t stream)
      : size_(size), bytes_(needed_bytes(size), stream), stream_(stream) {
#if LAB_EMULATED
    emulator::narrow_allocation(data(), static_cast<std::size_t>(size) * sizeof(T));
#endif
  }

  static std::size_t needed_bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * sizeof(T) + static_cast<std::size_t>(2 * guard_bytes);
  }

  [[nodiscard]] T* data() const {
    return reinterpret_cast<T*>(bytes_.data() + guard_bytes);
  }
  [[nodiscard]] std::int64_t size() const {
    return size_;
  }

  // Marks the guards, and the values too.
  void poison_all() const {
    CUDA_CHECK(cudaMemsetAsync(bytes_.data(), guard_byte, bytes_.bytes(), stream_));
  }

  // The first changed byte of the guards, counted from the array's first byte (so negative before it), if
  // any. `found` is a device scratch word.
  [[nodiscard]] std::optional<std::int64_t> changed_guard(std::int64_t* found) const {
    const std::int64_t array_bytes = size_ * static_cast<std::int64_t>(sizeof(T));
    for (const std::int64_t start : {-guard_bytes, array_bytes}) {
      find_other_byte(bytes_.data() + guard_bytes + start, guard_bytes, guard_byte, found, stream_);
      std::int64_t first = 0;
      CUDA_CHECK(cudaMemcpyAsync(&first, found, sizeof first, cudaMemcpyDeviceToHost, stream_));
      CUDA_CHECK(cudaStreamSynchronize(stream_));
      if (first < guard_bytes) return start + first;
    }
    return std::nullopt;
  }

 private:
  std::int64_t size_;
  device_buffer<unsigned char> bytes_;
  cudaStream_t stream_;
};

}  // namespace lab
