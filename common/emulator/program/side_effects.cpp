// What a kernel calls that does more than read and write memory, which the linker's --wrap leads here
// (harness/front/emulate). A program that is linked without it has none of this, and computes each launch.
#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include "common/emulator/known_launches.hpp"

namespace {

[[maybe_unused]] const bool enabled = lab::emulator::keeps_known_launches = true;

}  // namespace

using lab::emulator::effect;
using lab::emulator::note_side_effect;

extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real__Znwm(std::size_t bytes);
void* __real__Znam(std::size_t bytes);
int __real_puts(const char* text);
int __real_putchar(int letter);

void* __wrap_malloc(std::size_t bytes) {
  note_side_effect(effect::allocates, __builtin_return_address(0));
  return __real_malloc(bytes);
}
void* __wrap__Znwm(std::size_t bytes) {
  note_side_effect(effect::allocates, __builtin_return_address(0));
  return __real__Znwm(bytes);
}
void* __wrap__Znam(std::size_t bytes) {
  note_side_effect(effect::allocates, __builtin_return_address(0));
  return __real__Znam(bytes);
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
  const int written = std::vprintf(form, values);
  va_end(values);
  return written;
}
// What printf() is to GCC with _FORTIFY_SOURCE.
int __wrap___printf_chk(int, const char* form, ...) {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  std::va_list values;
  va_start(values, form);
  const int written = std::vprintf(form, values);
  va_end(values);
  return written;
}
}
