// Owners of device memory. Everything comes from one stream-ordered pool (cudaMallocAsync), so that a buffer
// costs no synchronisation, and the pool keeps what it was given until the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "common/cuda.hpp"

namespace lab {

// Device memory that is not there: how much was needed and how much was free, in bytes.
class memory_error : public std::runtime_error {
 public:
  memory_error(std::size_t needed_bytes, std::size_t free_bytes);
  [[nodiscard]] std::size_t needed_bytes() const noexcept { return needed_bytes_; }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return free_bytes_; }

 private:
  std::size_t needed_bytes_;
  std::size_t free_bytes_;
};

// The process's memory pool on the current device, which must be the same one when an allocation is given
// back. Not thread-safe: a worker allocates from one thread.
namespace memory {

// Allocates `bytes` (0 gives nullptr) for use on `stream`. Throws memory_error when the device, the limit or
// the failure hook says no.
void* allocate(std::size_t bytes, cudaStream_t stream);

// Gives `pointer` (nullptr is fine) of `bytes` back, once the work on `stream` is done with it. Never throws.
void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept;

// So much is taken for granted, since asking the device costs as much as a small launch.
inline constexpr std::size_t always_there = std::size_t{16} << 20;

// Bytes that an allocation could still get: free on the device plus kept by the pool, within the limit.
std::size_t available();

// Bytes allocated now, on all devices.
std::size_t in_use() noexcept;

// Bytes of the device that are taken by others than this program's allocations: by other processes, by the
// driver, and by who calls the CUDA runtime itself.
std::size_t foreign();

// At most this many bytes at a time; 0 lifts the limit. For tests and for sharing a device.
void set_limit(std::size_t bytes) noexcept;
bool is_limited() noexcept;

// The nth allocation from now (1 is the next) fails with memory_error; 0 switches the hook off. For tests.
void fail_after(std::int64_t nth) noexcept;

// Lets kernels of another device touch what comes from the current device's pool, now and later.
void give_access(int device);

// Returns what the pool keeps unused to the device.
void trim();

}  // namespace memory

// An array of `size` values of T in device memory, uninitialised, bound to a stream. Move-only.
template <class T>
class device_buffer {
 public:
  device_buffer() = default;
  device_buffer(std::size_t size, cudaStream_t stream)
      : data_(static_cast<T*>(memory::allocate(size * sizeof(T), stream))), size_(size), stream_(stream) {}
  device_buffer(device_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        stream_(other.stream_) {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer() { memory::deallocate(data_, bytes(), stream_); }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace lab
