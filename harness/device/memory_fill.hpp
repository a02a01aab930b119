// What memory holds when a launch begins.
#pragma once

namespace lab {

// What outputs and scratch memory hold. Every bit set is the poison by which an output that was never written
// is known; with the others such an output is a wrong one.
enum class memory_fill { ones, zeros, random };

inline constexpr const char* memory_fill_names[] = {"", "memory of zeros", "memory of random bytes"};

}  // namespace lab
