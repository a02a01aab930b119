// Tells AddressSanitizer about switches between stacks; does nothing in other builds. Internal.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LAB_EMULATOR_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LAB_EMULATOR_ADDRESS_SANITIZER 1
#endif

#if defined(LAB_EMULATOR_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace lab::emulator {

struct stack_bounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

#if defined(LAB_EMULATOR_ADDRESS_SANITIZER)
// `saved` keeps this stack's state; null when this stack is left for good.
inline void before_switch(void** saved, const stack_bounds& to) {
  __sanitizer_start_switch_fiber(saved, to.bottom, to.bytes);
}
// The first thing on the stack switched to. `from` receives the bounds of the stack that was left.
inline void after_switch(void* saved, stack_bounds* from) {
  __sanitizer_finish_switch_fiber(saved, from ? &from->bottom : nullptr, from ? &from->bytes : nullptr);
}
// A stack on which frames were left without returning from them.
inline void forget_frames(const stack_bounds& stack) {
  ASAN_UNPOISON_MEMORY_REGION(stack.bottom, stack.bytes);
}
#else
inline void forget_frames(const stack_bounds&) {}
inline void before_switch(void**, const stack_bounds&) {}
inline void after_switch(void*, stack_bounds*) {}
#endif

}  // namespace lab::emulator
