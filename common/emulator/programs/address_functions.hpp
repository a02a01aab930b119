// CUDA's functions of addresses and their spaces.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/cuda_runtime.hpp"
#include "common/emulator/core/device_functions.hpp"

namespace lab::emulator {

// Of a generic address, as the running thread sees it.
bool is_shared_address(const void* pointer);
bool is_local_address(const void* pointer);
bool is_global_address(const void* pointer);

}  // namespace lab::emulator

__forceinline__ unsigned __isShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isCtaShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isClusterShared(const void* pointer) {
  return lab::emulator::is_shared_address(pointer);
}
__forceinline__ unsigned __isGlobal(const void* pointer) {
  return lab::emulator::is_global_address(pointer);
}
__forceinline__ unsigned __isLocal(const void* pointer) {
  return lab::emulator::is_local_address(pointer);
}
// Shared addresses are numbers as inline PTX has them; the others are the generic ones.
__forceinline__ std::size_t __cvta_generic_to_shared(const void* pointer) {
  return lab::emulator::shared_number(pointer);
}
__forceinline__ void* __cvta_shared_to_generic(std::size_t address) {
  return lab::emulator::shared_address(static_cast<std::uint32_t>(address), lab::emulator::place::here());
}
#define LAB_SAME_ADDRESS(space)                                                \
  __forceinline__ std::size_t __cvta_generic_to_##space(const void* pointer) { \
    return reinterpret_cast<std::uintptr_t>(pointer);                          \
  }                                                                            \
  __forceinline__ void* __cvta_##space##_to_generic(std::size_t address) {     \
    return reinterpret_cast<void*>(address);                                   \
  }
LAB_SAME_ADDRESS(global)
LAB_SAME_ADDRESS(local)
LAB_SAME_ADDRESS(constant)
LAB_SAME_ADDRESS(grid_constant)
#undef LAB_SAME_ADDRESS
