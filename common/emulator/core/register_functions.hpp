// What common/sm90.hpp is on the emulator: registers that warpgroups give and take (block_registers.cpp).
#pragma once

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// setmaxnreg.inc or .dec
void change_registers(int count, bool takes, place where);

}  // namespace lab::emulator

namespace lab {

template <int count>
__forceinline__ void take_registers(emulator::place where = emulator::place::here()) {
  emulator::change_registers(count, true, where);
}
template <int count>
__forceinline__ void give_registers(emulator::place where = emulator::place::here()) {
  emulator::change_registers(count, false, where);
}

}  // namespace lab
