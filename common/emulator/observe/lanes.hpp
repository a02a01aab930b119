// Lanes of a warp as bits.
#pragma once

#include <bit>

namespace lab::emulator {

inline unsigned bit(unsigned lane) {
  return 1u << lane;
}
inline unsigned lowest(unsigned lanes) {
  return static_cast<unsigned>(std::countr_zero(lanes));
}

}  // namespace lab::emulator
