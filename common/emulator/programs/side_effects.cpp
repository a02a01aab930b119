// What a kernel calls that does more than read and write memory, which the linker's --wrap leads here
// (harness/front/emulate). A program that is linked without it has none of this, and computes each launch.
#include <malloc.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/spin_watch.hpp"
#include "common/emulator/programs/device_heap.hpp"
#include "common/emulator/programs/known_launches.hpp"

namespace {

[[maybe_unused]] const auto enabled = lab::emulator::compute_or_recall = lab::emulator::recall_or_compute;

using lab::emulator::heap_limit;
using lab::emulator::heap_used;

// What an allocation costs the device's heap beyond its bytes.
constexpr std::size_t header_bytes = 16;

// Whether a kernel's thread asks, or the emulator on its stack.
bool is_kernels() {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return lab::emulator::inside_kernel() && lab::emulator::current_thread.stack_begin <= stack &&
         stack < lab::emulator::current_thread.stack_end && !lab::emulator::allocates_for_itself;
}

bool is_users_code(const void* caller) {
  return lab::emulator::is_users_code(reinterpret_cast<std::uintptr_t>(caller));
}
bool suffices(std::size_t bytes) {
  return bytes <= heap_limit && heap_used + bytes + header_bytes <= heap_limit;
}
void* taken(void* memory) {
  if (memory != nullptr) heap_used += malloc_usable_size(memory) + header_bytes;
  return memory;
}
// What was allocated before a launch is not the heap's: it may not make it larger than it is.
void given_back(void* memory) {
  if (memory == nullptr) return;
  const std::size_t bytes = malloc_usable_size(memory) + header_bytes;
  std::size_t used = heap_used;
  while (!heap_used.compare_exchange_weak(used, used < bytes ? 0 : used - bytes)) {
  }
}

}  // namespace

using lab::emulator::effect;
using lab::emulator::note_side_effect;

// What allocates: NAME(parameters), called with the arguments.
#define LAB_ALLOCATES(NAME, PARAMETERS, ...)                                                             \
  void* __real_##NAME PARAMETERS;                                                                        \
  void* __wrap_##NAME PARAMETERS {                                                                       \
    note_side_effect(effect::allocates, __builtin_return_address(0));                                    \
    if (!is_kernels() || !is_users_code(__builtin_return_address(0))) return __real_##NAME(__VA_ARGS__); \
    return suffices(bytes) ? taken(__real_##NAME(__VA_ARGS__)) : nullptr;                                \
  }
#define LAB_FREES(NAME, PARAMETERS, ...)                                                \
  void __real_##NAME PARAMETERS;                                                        \
  void __wrap_##NAME PARAMETERS {                                                       \
    if (is_kernels() && is_users_code(__builtin_return_address(0))) given_back(memory); \
    __real_##NAME(__VA_ARGS__);                                                         \
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

LAB_FREES(free, (void* memory), memory)
LAB_FREES(_ZdlPv, (void* memory), memory)
LAB_FREES(_ZdaPv, (void* memory), memory)
LAB_FREES(_ZdlPvm, (void* memory, std::size_t bytes), memory, bytes)
LAB_FREES(_ZdaPvm, (void* memory, std::size_t bytes), memory, bytes)

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
#undef LAB_FREES
