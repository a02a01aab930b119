#include "common/memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace lab {

memory_error::memory_error(std::size_t needed_bytes, std::size_t free_bytes)
    : std::runtime_error("not enough device memory: " + std::to_string(needed_bytes) + " bytes needed, " +
                         std::to_string(free_bytes) + " bytes free"),
      needed_bytes_(needed_bytes),
      free_bytes_(free_bytes) {}

namespace memory {
namespace {

std::size_t bytes_in_use = 0;
std::map<int, std::size_t> bytes_in_use_on;  // by device
std::size_t limit = 0;
std::int64_t allocations_until_failure = 0;

int current_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

// Of the current device.
cudaMemPool_t pool() {
  static std::map<int, cudaMemPool_t> pools;
  const int device = current_device();
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  return pools[device] = [device] {
    cudaMemPool_t created{};
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&created, device));
    // Without this the pool returns its memory to the driver at every synchronisation, and the next
    // allocation pays for mapping it again.
    std::uint64_t keep_everything = std::numeric_limits<std::uint64_t>::max();
    CUDA_CHECK(cudaMemPoolSetAttribute(created, cudaMemPoolAttrReleaseThreshold, &keep_everything));
    return created;
  }();
}

// All in bytes; `reserved` is what the pool has, `used` what of that is handed out.
struct device_state {
  std::size_t free = 0;
  std::size_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
};

device_state look() {
  device_state now;
  CUDA_CHECK(cudaMemGetInfo(&now.free, &now.total));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool(), cudaMemPoolAttrReservedMemCurrent, &now.reserved));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool(), cudaMemPoolAttrUsedMemCurrent, &now.used));
  return now;
}

}  // namespace

std::size_t foreign() {
  const device_state now = look();
  return now.total - now.free - now.reserved + now.used - bytes_in_use_on[current_device()];
}

std::size_t available() {
  const device_state now = look();
  const std::size_t obtainable = now.free + now.reserved - now.used;
  if (limit == 0) return obtainable;
  return std::min(obtainable, limit > bytes_in_use ? limit - bytes_in_use : 0);
}

void* allocate(std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  if (allocations_until_failure > 0 && --allocations_until_failure == 0)
    throw memory_error(bytes, available());
  if (limit != 0 && (bytes > limit || bytes_in_use > limit - bytes)) throw memory_error(bytes, available());
  void* pointer = nullptr;
  cudaError_t code = cudaMallocFromPoolAsync(&pointer, bytes, pool(), stream);
  if (code == cudaErrorMemoryAllocation) {
    // What the pool keeps may be in pieces: hand it back and try once more.
    cudaGetLastError();
    trim();
    code = cudaMallocFromPoolAsync(&pointer, bytes, pool(), stream);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw memory_error(bytes, available());
    }
  }
  CUDA_CHECK(code);
  bytes_in_use += bytes;
  bytes_in_use_on[current_device()] += bytes;
  return pointer;
}

void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept {
  if (pointer == nullptr) return;
  bytes_in_use -= bytes;
  int device = 0;
  CUDA_REPORT(cudaGetDevice(&device));
  bytes_in_use_on[device] -= bytes;
  CUDA_REPORT(cudaFreeAsync(pointer, stream));
}

std::size_t in_use() noexcept {
  return bytes_in_use;
}
void set_limit(std::size_t bytes) noexcept {
  limit = bytes;
}
bool is_limited() noexcept {
  return limit != 0;
}
void fail_after(std::int64_t nth) noexcept {
  allocations_until_failure = nth;
}

void give_access(int device) {
  const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, device}, cudaMemAccessFlagsProtReadWrite};
  CUDA_CHECK(cudaMemPoolSetAccess(pool(), &access, 1));
}

void trim() {
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemPoolTrimTo(pool(), 0));
}

}  // namespace memory
}  // namespace lab
