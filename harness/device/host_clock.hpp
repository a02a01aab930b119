// The host's clock for samples: the kernel asked directly. A stage may define `clock_gettime` itself, and the
// linker would then hand the C library's callers that one.
#pragma once

#include <sys/syscall.h>

#include <cstdint>
#include <ctime>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <chrono>
#endif

namespace lab {

// Nanoseconds of CLOCK_MONOTONIC. A call costs about 0.2 us: it goes round the C library and the vDSO.
inline std::int64_t host_nanoseconds() {
#if defined(__x86_64__)
  timespec now{};
  long result = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(result) : "D"(CLOCK_MONOTONIC), "S"(&now) : "rcx", "r11", "memory");
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#elif defined(__aarch64__)
  timespec now{};
  register long clock asm("x0") = CLOCK_MONOTONIC;
  register timespec* place asm("x1") = &now;
  register long number asm("x8") = SYS_clock_gettime;
  asm volatile("svc 0" : "+r"(clock) : "r"(place), "r"(number) : "memory");
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#else
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

inline double host_seconds_since(std::int64_t start_nanoseconds) {
  return static_cast<double>(host_nanoseconds() - start_nanoseconds) * 1e-9;
}

}  // namespace lab
