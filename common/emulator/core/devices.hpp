// The emulated devices: how many there are, which one a host thread has chosen, and whose memory the kernels
// of each may touch. Internal.
#pragma once

#include <cstdint>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

inline constexpr int max_devices = 16;

// options::devices.
int device_count();
// What cudaSetDevice() of this host thread has chosen; 0 before.
int current_device();

// Another device for a scope.
class device_scope {
 public:
  explicit device_scope(int device);
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;
  ~device_scope();

 private:
  int before_;
};

// The device that a stream was created on; of the default stream the current one.
int device_of(cudaStream_t stream);

// Whether kernels of `device` may touch an allocation of `owner` that comes from `pool`, or from cudaMalloc()
// where that is null.
bool may_access(int device, int owner, const void* pool);

// Forgets all peer access: for tests.
void forget_peer_access();

}  // namespace lab::emulator
