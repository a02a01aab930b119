#include "common/memory_resource.hpp"

#include "common/memory.hpp"

namespace lab {

void* plain_resource::allocate(std::size_t bytes, cudaStream_t /*stream*/) {
  if (bytes == 0) return nullptr;
  void* pointer = nullptr;
  cudaError_t code = cudaMalloc(&pointer, bytes);
  if (code == cudaErrorMemoryAllocation) {
    // What the pool keeps is free for this, too.
    cudaGetLastError();
    memory::trim();
    code = cudaMalloc(&pointer, bytes);
  }
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw memory_error(bytes, memory::available());
  }
  CUDA_CHECK(code);
  return pointer;
}

void plain_resource::deallocate(void* pointer, std::size_t /*bytes*/, cudaStream_t /*stream*/) noexcept {
  if (pointer != nullptr) cudaFree(pointer);
}

void* pool_resource::allocate(std::size_t bytes, cudaStream_t stream) {
  return memory::allocate(bytes, stream);
}

void pool_resource::deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept {
  memory::deallocate(pointer, bytes, stream);
}

arena_resource::~arena_resource() {
  for (const piece& one : pieces_) memory::deallocate(one.data, one.bytes, one.stream);
}

void* arena_resource::allocate(std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  if (next_ == pieces_.size()) pieces_.push_back({nullptr, 0, stream});
  piece& mine = pieces_[next_];
  if (mine.bytes < bytes) {
    memory::deallocate(std::exchange(mine.data, nullptr), std::exchange(mine.bytes, 0), mine.stream);
    mine = {memory::allocate(bytes, stream), bytes, stream};
  }
  ++next_;
  return mine.data;
}

void arena_resource::fill(unsigned char byte, cudaStream_t stream) {
  for (const piece& one : pieces_) {
    if (one.bytes > 0) CUDA_CHECK(cudaMemsetAsync(one.data, byte, one.bytes, stream));
  }
}

void arena_resource::deallocate(void* /*pointer*/, std::size_t /*bytes*/, cudaStream_t /*stream*/) noexcept {}

}  // namespace lab
