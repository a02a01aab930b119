// What kernels can read beside shared memory, and what they do beyond writing it. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/core/device_memory.hpp"

namespace lab::emulator {

class thread_pool;

struct checksum {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const checksum&) const = default;
};
checksum checksum_of(device_memory::range bytes);

struct memory_part {
  device_memory::range bytes;
  bool is_variable;       // of the program, and not in the device's memory
  std::uint64_t version;  // of device memory that kernels and the runtime alone write; 0 for other memory
  checksum sum{};
  bool is_summed = false;
};
// In the order of the addresses.
std::vector<memory_part> reachable_memory();

// Of all kernels until now: what no later launch may leave out; changes that no memory shows, of a texture's
// description; and whether they have allocated, memory that is not among what is reachable.
struct kernel_effects {
  std::atomic<std::uint64_t> seen{0}, unseen_changes{0};
  std::atomic<bool> has_heap{false};
};
inline constinit kernel_effects effects_of_kernels;

// A kernel's thread does something now that no later launch may leave out, in a call that returns to
// `caller`. Does nothing outside of kernels, and where the emulator calls, or an observer.
enum class effect { is_seen, allocates };
void note_side_effect(effect kind, const void* caller);
inline constinit thread_local bool allocates_for_itself = false;

// A digest of what kernels can read, and of what they have done; empty where there is more that is not known.
std::optional<std::uint64_t> digest_of_kernels_memory();

// Computes a launch, with `compute`, on `os_threads` OS threads, or puts a known outcome in its place. What
// is returned is what has failed. Set by programs/side_effects.cpp; without it each launch is computed.
using launch_computer =
    std::optional<std::string>(const cudaLaunchConfig_t& config, const kernel_call& call, thread_pool& pool,
                               int os_threads, const std::function<std::optional<std::string>()>& compute);
inline constinit launch_computer* compute_or_recall = nullptr;

}  // namespace lab::emulator
