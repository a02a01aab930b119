// Launches whose outcome is known, so that they need not be computed again. Internal.
//
// Programs that measure launch one kernel hundreds of times. A kernel's outcome follows from its arguments
// and from the memory that it can reach, unless it asks for the time, prints or allocates. So what a long
// launch has made of the memory is kept; a later one of the same kernel, grid and arguments that finds every
// byte as that one found it gets the same outcome. Memory is compared by a checksum of 128 bits of each
// allocation, which is summed up again only where somebody may have written since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

class thread_pool;

// Set before main() by programs whose kernels tell what they do beyond reading and writing memory.
inline bool keeps_known_launches = false;

// A kernel's thread does something now that no later launch may leave out, in a call that returns to
// `caller`. Does nothing outside of kernels, and where the emulator calls, or an observer.
enum class effect { is_seen, allocates };
void note_side_effect(effect kind, const void* caller);
inline constinit thread_local bool allocates_for_itself = false;

// What kernels read changes in a way that no memory shows: the description of a texture.
void note_unseen_change();

// Computes the launch, with `compute`, on `os_threads` OS threads, or puts a known outcome in place. What
// `compute` returns is what has failed.
std::optional<std::string> compute_or_recall(const cudaLaunchConfig_t& config, const kernel_call& call,
                                             thread_pool& pool, int os_threads,
                                             const std::function<std::optional<std::string>()>& compute);

// A digest of what kernels can read beside shared memory, and of what they have done beyond writing it; empty
// where there is more that is not known.
std::optional<std::uint64_t> digest_of_kernels_memory();

// Launches that were not computed.
std::uint64_t recalled_launches();

}  // namespace lab::emulator
