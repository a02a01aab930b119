// The kernel asked directly: a stage may define `write` or `clock_gettime` itself, and the linker would then
// hand the harness that one.
#pragma once

#include <sys/syscall.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>
#endif

namespace lab {

// The kernel's answer: negative is an error number. Never a function of its own, which a stage could define
// as well.
[[gnu::always_inline]] inline long system_call(long number, long first = 0, long second = 0, long third = 0) {
#if defined(__x86_64__)
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result asm("x0") = first;
  register long x1 asm("x1") = second;
  register long x2 asm("x2") = third;
  register long x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(result) : "r"(x1), "r"(x2), "r"(x8) : "memory");
  return result;
#else
  return ::syscall(number, first, second, third);
#endif
}

}  // namespace lab
