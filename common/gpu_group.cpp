#include "common/gpu_group.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/memory.hpp"
#include "common/process_group.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

namespace lab {
namespace {

std::vector<int> chosen;

int device_count() {
#if LAB_EMULATED
  constexpr int default_devices = 4;
  const char* const wanted = std::getenv("LAB_EMULATOR_DEVICES");
  emulator::options now = emulator::configuration();
  if ((wanted == nullptr || *wanted == '\0') && now.devices < default_devices) {
    now.devices = default_devices;
    emulator::configure(now);
  }
#endif
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  return std::min(count, max_group);
}

std::vector<int> all_devices() {
  const int count = device_count();
  for (const int device : chosen) {
    if (device < 0 || device >= count) {
      throw std::invalid_argument("there is no device " + std::to_string(device) + ": " +
                                  std::to_string(count) + " found");
    }
  }
  if (!chosen.empty()) return chosen;
  int current = 0;
  CUDA_CHECK(cudaGetDevice(&current));
  std::vector<int> all{current};
  for (int device = 0; device < count; ++device) {
    if (device != current) all.push_back(device);
  }
  return all;
}

bool can_access(int device, int peer) {
  int can = 0;
  CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
  return can != 0;
}

}  // namespace

void choose_gpus(std::vector<int> devices) {
  std::set<int> seen;
  for (const int device : devices) {
    if (!seen.insert(device).second)
      throw std::invalid_argument("device " + std::to_string(device) + " is named twice");
  }
  chosen = std::move(devices);
}

std::vector<int> processes::own_devices() {
  return all_devices();
}

// In one of several processes -1 stands for the others' GPUs.
std::vector<int> group_devices(int gpus) {
  if (processes::are_several()) {
    if (const std::string why = why_no_group(gpus); !why.empty()) throw std::invalid_argument(why);
    std::vector<int> group(static_cast<std::size_t>(gpus), -1);
    CUDA_CHECK(cudaGetDevice(&group[static_cast<std::size_t>(processes::rank())]));
    return group;
  }
  std::vector<int> all = all_devices();
  if (gpus < 1 || gpus > static_cast<int>(all.size())) throw std::invalid_argument(why_no_group(gpus));
  all.resize(static_cast<std::size_t>(gpus));
  return all;
}

int available_gpus() {
  if (processes::are_several()) return processes::count();
  return static_cast<int>(all_devices().size());
}

std::string why_no_group(std::int64_t gpus) {
  if (processes::are_several()) {
    if (gpus == processes::count()) return "";
    return "needs " + std::to_string(gpus) + " GPUs, and there are " + std::to_string(processes::count()) +
           " processes, with one each";
  }
  const int available = available_gpus();
  if (gpus <= available) return "";
  const std::string there =
      available == 1 ? std::string("there is 1") : "there are " + std::to_string(available);
  return "needs " + std::to_string(gpus) + " GPUs, and " + there +
         (emulated         ? " (LAB_EMULATOR_DEVICES)"
          : chosen.empty() ? ""
                           : " among those that were named");
}

std::string why_no_peer_access(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int peer : devices) {
      if (device == peer || can_access(device, peer)) continue;
      return "needs peer access, and GPU " + std::to_string(device) + " cannot reach the memory of GPU " +
             std::to_string(peer) + " (a stage that copies through the host can run)";
    }
  }
  return "";
}

void share_memory(const std::vector<int>& devices) {
  if (processes::are_several()) return;  // each has one
  for (const int device : devices) {
    const gpu_scope scope(device);
    for (const int peer : devices) {
      if (device == peer || !can_access(device, peer)) continue;
      const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
      if (code == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        CUDA_CHECK(code);
      }
      memory::give_access(peer);
    }
  }
}

}  // namespace lab
