// Where device memory comes from, as a thing that can be exchanged: for stages whose lesson is allocation.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/cuda.hpp"

namespace lab {

// Hands out device memory aligned to 256 bytes, for use on `stream`. Throws memory_error.
class memory_resource {
 public:
  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  // 0 bytes give nullptr.
  virtual void* allocate(std::size_t bytes, cudaStream_t stream) = 0;
  // Gives back `pointer` (nullptr is fine), once the work enqueued on `stream` is done with it. Never throws.
  virtual void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept = 0;
};

// cudaMalloc and cudaFree: every call goes to the driver, and cudaFree waits for the device.
class plain_resource final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cudaStream_t stream) override;
  void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept override;
};

// The process's pool (common/memory.hpp, cudaMallocAsync): memory comes back in the stream's order, and the
// driver is rarely asked.
class pool_resource final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cudaStream_t stream) override;
  void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept override;
};

// Memory that is there already: each allocation is the next piece of what the arena owns, and only reset()
// makes it free again. What does not fit the first time is taken from the pool and kept, so that the same
// requests after a reset() get the same addresses and cost nothing.
class arena_resource final : public memory_resource {
 public:
  arena_resource() = default;
  ~arena_resource() override;

  void* allocate(std::size_t bytes, cudaStream_t stream) override;
  void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept override;

  // Everything handed out is free again.
  void reset() noexcept { next_ = 0; }

  // Sets all that the arena owns to `byte`.
  void fill(unsigned char byte, cudaStream_t stream);

 private:
  struct piece {
    void* data;
    std::size_t bytes;
    cudaStream_t stream;
  };

  std::vector<piece> pieces_;
  std::size_t next_ = 0;  // pieces handed out since the reset
};

// `size` values of T from a resource, uninitialised, given back at the end of the scope. Move-only.
template <class T>
class resource_buffer {
 public:
  resource_buffer(memory_resource& resource, std::size_t size, cudaStream_t stream)
      : resource_(&resource),
        data_(static_cast<T*>(resource.allocate(size * sizeof(T), stream))),
        size_(size),
        stream_(stream) {}
  resource_buffer(resource_buffer&& other) noexcept
      : resource_(other.resource_),
        data_(std::exchange(other.data_, nullptr)),
        size_(other.size_),
        stream_(other.stream_) {}
  resource_buffer& operator=(resource_buffer&&) = delete;
  resource_buffer(const resource_buffer&) = delete;
  resource_buffer& operator=(const resource_buffer&) = delete;
  ~resource_buffer() {
    if (data_ != nullptr) resource_->deallocate(data_, size_ * sizeof(T), stream_);
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  // The memory now belongs to the caller, who gives it back to the same resource.
  T* release() noexcept { return std::exchange(data_, nullptr); }

 private:
  memory_resource* resource_;
  T* data_;
  std::size_t size_;
  cudaStream_t stream_;
};

}  // namespace lab
