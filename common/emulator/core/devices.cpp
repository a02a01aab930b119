#include "common/emulator/core/devices.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/runtime_call.hpp"

namespace lab::emulator {
namespace {

constinit thread_local int chosen_device = 0;

// Bit p of peers[d]: kernels of d may touch what cudaMalloc() gave on p.
std::array<std::atomic<std::uint32_t>, max_devices> peers{};

// The devices that were given access to a pool, as bits.
std::mutex pools_mutex;
[[gnu::init_priority(101)]] never_destroyed<std::map<const void*, std::uint32_t>> pool_access;

bool is_device(int device) {
  return device >= 0 && device < device_count();
}

}  // namespace

int device_count() {
  return configuration().devices;
}

int current_device() {
  return chosen_device;
}

device_scope::device_scope(int device) : before_(std::exchange(chosen_device, device)) {}
device_scope::~device_scope() {
  chosen_device = before_;
}

bool may_access(int device, int owner, const void* pool) {
  if (device == owner) return true;
  const std::uint32_t bit = std::uint32_t{1} << (pool == nullptr ? owner : device);
  if (pool == nullptr) return (peers[static_cast<std::size_t>(device)] & bit) != 0;
  const std::lock_guard lock(pools_mutex);
  const auto found = pool_access->find(pool);
  return found != pool_access->end() && (found->second & bit) != 0;
}

void forget_peer_access() {
  for (auto& mask : peers) mask = 0;
  const std::lock_guard lock(pools_mutex);
  pool_access->clear();
}

}  // namespace lab::emulator

using namespace lab::emulator;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return finish(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  note_device_choice();
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  chosen_device = device;
  return finish(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = chosen_device;
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return finish(cudaErrorInvalidValue);
  *can = 0;
  if (!is_device(device) || !is_device(peer)) return finish(cudaErrorInvalidDevice);
  *can = device != peer;
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  note_forbidden("cudaDeviceEnablePeerAccess", "who may touch whose memory is settled before it");
  if (flags != 0) return finish(cudaErrorInvalidValue);
  if (!is_device(peer) || peer == chosen_device) return finish(cudaErrorInvalidDevice);
  const std::uint32_t bit = std::uint32_t{1} << peer;
  const std::uint32_t before = peers[static_cast<std::size_t>(chosen_device)].fetch_or(bit);
  return finish((before & bit) != 0 ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  note_forbidden("cudaDeviceDisablePeerAccess", "who may touch whose memory is settled before it");
  if (!is_device(peer)) return finish(cudaErrorInvalidDevice);
  const std::uint32_t bit = std::uint32_t{1} << peer;
  const std::uint32_t before = peers[static_cast<std::size_t>(chosen_device)].fetch_and(~bit);
  return finish((before & bit) == 0 ? cudaErrorPeerAccessNotEnabled : cudaSuccess);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  note_allocation("cudaMemPoolSetAccess");
  if (pool == nullptr || (list == nullptr && count > 0)) return finish(cudaErrorInvalidValue);
  for (std::size_t k = 0; k < count; ++k) {
    const auto& [location, flags] = list[k];
    if (location.type != cudaMemLocationTypeDevice || !is_device(location.id))
      return finish(cudaErrorInvalidDevice);
    if (flags != cudaMemAccessFlagsProtNone && flags != cudaMemAccessFlagsProtReadWrite)
      return finish(cudaErrorInvalidValue);
  }
  const std::lock_guard lock(pools_mutex);
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t bit = std::uint32_t{1} << list[k].location.id;
    if (list[k].flags == cudaMemAccessFlagsProtNone) {
      (*pool_access)[pool] &= ~bit;
    } else {
      (*pool_access)[pool] |= bit;
    }
  }
  return finish(cudaSuccess);
}
