// Launches whose outcome is known, so that they need not be computed again. Internal.
//
// Programs that measure launch one kernel hundreds of times. A kernel's outcome follows from its arguments
// and from the memory that it can reach, unless it asks for the time, prints or allocates. So what a long
// launch has made of the memory is kept; a later one of the same kernel, grid and arguments that finds every
// byte as that one found it gets the same outcome. Memory is compared by a checksum of 128 bits of each
// allocation, which is summed up again only where somebody may have written since.
#pragma once

#include <cstdint>

#include "common/emulator/core/kernel_memory.hpp"

namespace lab::emulator {

// What compute_or_recall is where launches are known.
launch_computer recall_or_compute;

// Launches that were not computed.
std::uint64_t recalled_launches();

}  // namespace lab::emulator
