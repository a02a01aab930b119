// How a GPU's memory pipeline serves one access of a warp: into how many sectors and wavefronts it splits.
// Compute capability 7.0 and later.
#pragma once

#include <bit>
#include <cstdint>

namespace lab::emulator {

inline constexpr unsigned sector_bytes = 32;
inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

// Lanes of a warp as bits.
inline unsigned bit(unsigned lane) {
  return 1u << lane;
}
inline unsigned lowest(unsigned lanes) {
  return static_cast<unsigned>(std::countr_zero(lanes));
}

// What one access of a warp costs, and the least that any pattern of addresses would cost with as many lanes.
struct access_cost {
  std::uint32_t units = 0;  // global memory: sectors; shared memory: wavefronts
  std::uint32_t least = 0;
};

// One load or store of `bytes` (1 to 16) by each lane of `lanes`, at address[lane].
access_cost global_cost(unsigned lanes, const std::uintptr_t* address, unsigned bytes);

// In how many parts a warp's shared access is served: lanes 0 to 32 / parts - 1 first, and so on. Each part
// takes as many wavefronts as shared_cost() says of it.
unsigned shared_parts(unsigned lanes, const std::uintptr_t* address, unsigned bytes);

// The 32 banks are 4 bytes wide. A warp's 8-byte accesses are served in two halves, 16-byte accesses in four
// quarters; each takes as many wavefronts as the busiest bank has different words to give. Where each lane
// has the same address as its neighbour, twice as many are served at once (found on an H200, in no manual).
access_cost shared_cost(unsigned lanes, const std::uintptr_t* address, unsigned bytes);

}  // namespace lab::emulator
