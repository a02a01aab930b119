// Goes on on another stack. Internal.
//
// On x86-64 by a few instructions of the emulator's own: the control words of the floating-point units stay
// as they are, which saves half of the time, so a switch must be made with those that the other side expects.
// Elsewhere by Boost.Context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <boost/context/detail/fcontext.hpp>
#endif

namespace lab::emulator {

// Where a stack that is not running was left.
using suspended_stack = void*;

#if defined(__x86_64__)

extern "C" void lab_emulator_switch_stacks(suspended_stack* from, suspended_stack to);

inline void switch_stacks(suspended_stack& from, suspended_stack to) {
  lab_emulator_switch_stacks(&from, to);
}

// A stack below `top` on which `function`, which must not return, is called with the first switch to it.
template <void (*function)()>
suspended_stack prepare_stack(void* top, std::size_t) {
  // From the top: where `function` would return to, where it begins, six registers.
  auto* const frame = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) / 16 * 16) - 8;
  std::fill_n(frame, 8, nullptr);
  frame[6] = reinterpret_cast<void*>(function);
  return frame;
}

#else

inline void arrive(boost::context::detail::transfer_t from) {
  *static_cast<suspended_stack*>(from.data) = from.fctx;
}

inline void switch_stacks(suspended_stack& from, suspended_stack to) {
  arrive(boost::context::detail::jump_fcontext(to, &from));
}

template <void (*function)()>
suspended_stack prepare_stack(void* top, std::size_t bytes) {
  return boost::context::detail::make_fcontext(top, bytes, [](boost::context::detail::transfer_t from) {
    arrive(from);
    function();
  });
}

#endif

}  // namespace lab::emulator
