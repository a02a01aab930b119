// What a kernel calls that does more than read and write memory, which the linker's --wrap leads here
// (harness/front/emulate). A program that is linked without it has none of this, and computes each launch.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "common/emulator/known_launches.hpp"

namespace {

[[maybe_unused]] const bool enabled = lab::emulator::keeps_known_launches = true;

}  // namespace

using lab::emulator::effect;
using lab::emulator::note_side_effect;

// What allocates: NAME(parameters), called with the arguments.
#define LAB_ALLOCATES(NAME, PARAMETERS, ...)                          \
  void* __real_##NAME PARAMETERS;                                     \
  void* __wrap_##NAME PARAMETERS {                                    \
    note_side_effect(effect::allocates, __builtin_return_address(0)); \
    return __real_##NAME(__VA_ARGS__);                                \
  }

extern "C" {
LAB_ALLOCATES(malloc, (std::size_t bytes), bytes)
LAB_ALLOCATES(calloc, (std::size_t count, std::size_t bytes), count, bytes)
LAB_ALLOCATES(realloc, (void* before, std::size_t bytes), before, bytes)
LAB_ALLOCATES(aligned_alloc, (std::size_t alignment, std::size_t bytes), alignment, bytes)
// operator new and new[]: plain, nothrow, aligned, and both.
LAB_ALLOCATES(_Znwm, (std::size_t bytes), bytes)
LAB_ALLOCATES(_Znam, (std::size_t bytes), bytes)
LAB_ALLOCATES(_ZnwmRKSt9nothrow_t, (std::size_t bytes, const void* nothrow), bytes, nothrow)
LAB_ALLOCATES(_ZnamRKSt9nothrow_t, (std::size_t bytes, const void* nothrow), bytes, nothrow)
LAB_ALLOCATES(_ZnwmSt11align_val_t, (std::size_t bytes, std::size_t alignment), bytes, alignment)
LAB_ALLOCATES(_ZnamSt11align_val_t, (std::size_t bytes, std::size_t alignment), bytes, alignment)
LAB_ALLOCATES(_ZnwmSt11align_val_tRKSt9nothrow_t,
              (std::size_t bytes, std::size_t alignment, const void* nothrow), bytes, alignment, nothrow)
LAB_ALLOCATES(_ZnamSt11align_val_tRKSt9nothrow_t,
              (std::size_t bytes, std::size_t alignment, const void* nothrow), bytes, alignment, nothrow)

// std::chrono's clocks, whose points in time are one word.
std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __real__ZNSt6chrono3_V212system_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real__ZNSt6chrono3_V212steady_clock3nowEv();
}
std::int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real__ZNSt6chrono3_V212system_clock3nowEv();
}

int __real_puts(const char* text);
int __real_putchar(int letter);
int __real_vprintf(const char* form, std::va_list values);
int __wrap_vprintf(const char* form, std::va_list values) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real_vprintf(form, values);
}
int __wrap___vprintf_chk(int, const char* form, std::va_list values) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real_vprintf(form, values);
}
int __wrap_puts(const char* text) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real_puts(text);
}
int __wrap_putchar(int letter) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  return __real_putchar(letter);
}
int __wrap_printf(const char* form, ...) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  std::va_list values;
  va_start(values, form);
  const int written = __real_vprintf(form, values);
  va_end(values);
  return written;
}
// What printf() is to GCC with _FORTIFY_SOURCE.
int __wrap___printf_chk(int, const char* form, ...) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  std::va_list values;
  va_start(values, form);
  const int written = __real_vprintf(form, values);
  va_end(values);
  return written;
}
}

#undef LAB_ALLOCATES
