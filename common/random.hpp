// Counter-based inputs: element `index` of the sequence with `seed` is a pure function of both, so that host
// and device generate the same data in any order and any part of it. A library generator (cuRAND's Philox)
// has no host twin without a device, which the emulator and the references need.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"

namespace lab {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): the
// finaliser of the state seed + (index + 1) * golden gamma. Passes BigCrush as a sequence over index.
__host__ __device__ constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Uniform in (0, 1], all 53 bits of the mantissa in play: never zero.
__host__ __device__ constexpr double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 1.0) * 0x1p-53;
}

}  // namespace lab
