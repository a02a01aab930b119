// Several GPUs of one process: which they are, and what a launch on all of them is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/cuda.hpp"

namespace lab {

// The most GPUs of one group.
inline constexpr int max_group = 16;

// Another current device for a scope.
class gpu_scope {
 public:
  explicit gpu_scope(int device) {
    CUDA_CHECK(cudaGetDevice(&before_));
    if (device != before_) CUDA_CHECK(cudaSetDevice(device));
  }
  gpu_scope(const gpu_scope&) = delete;
  gpu_scope& operator=(const gpu_scope&) = delete;
  ~gpu_scope() { CUDA_REPORT(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

// An event without a time, of the device that was current when it was made. Move-only.
class untimed_event {
 public:
  untimed_event() { CUDA_CHECK(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
  untimed_event(const untimed_event&) = delete;
  untimed_event& operator=(const untimed_event&) = delete;
  ~untimed_event() { CUDA_REPORT(cudaEventDestroy(handle_)); }

  [[nodiscard]] cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

// One GPU of a group, as a launch finds it. Both streams begin when the launch does, and the launch has ended
// when both have: neither need be waited for.
struct group_member {
  int device = 0;           // for cudaSetDevice()
  cudaStream_t stream{};    // its work
  cudaStream_t side{};      // a second stream, for what is to overlap
  cudaEvent_t events[4]{};  // untimed, of this device, for the launch to record
  void* scratch = nullptr;  // as many bytes as the stage asked for, on this device; unspecified content
};

using gpu_group = std::span<const group_member>;

// The values of one GPU: `count` of them, of which the first is value `first` of the whole.
struct part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Part k of n values over `gpus` GPUs: as even as can be, the larger parts first. Some are empty where n is
// less than `gpus`.
constexpr part part_of(std::int64_t n, std::int64_t gpus, std::int64_t k) {
  const std::int64_t each = n / gpus;
  const std::int64_t more = n % gpus;
  return {k * each + (k < more ? k : more), each + (k < more ? 1 : 0)};
}

// The GPUs that this process's groups are made of, in this order; empty: the current device, and then the
// others in theirs. Throws std::invalid_argument for one that is named twice.
void choose_gpus(std::vector<int> devices);

// The first `gpus` of them. Throws std::invalid_argument where there are fewer. On the emulator there are
// four devices, unless LAB_EMULATOR_DEVICES says how many.
std::vector<int> group_devices(int gpus);
int available_gpus();

// Why there is no group of so many GPUs; empty if there is one.
std::string why_no_group(std::int64_t gpus);
// Why kernels of these devices cannot read one another's memory; empty if they can.
std::string why_no_peer_access(const std::vector<int>& devices);

// Lets the kernels of these devices touch one another's memory, where the machine can: what cudaMalloc()
// gives and what memory.hpp does.
void share_memory(const std::vector<int>& devices);

}  // namespace lab
