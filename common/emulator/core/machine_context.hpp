// The registers of a thread that a signal has stopped, for the machines that the emulator knows. Internal.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace lab::emulator {

// What the access did that has faulted.
inline const char* verb_of_fault([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  // Bit 1 of the page fault's error code: a write.
  const auto error = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
  return (error & 2) != 0 ? "writes" : "reads";
#elif defined(__aarch64__)
  // Of the instruction (Arm Architecture Reference Manual, "Loads and Stores"): bit 22 stands for a load, and
  // so does bit 23 where one general register is loaded. Atomic operations write.
  const std::uint32_t code =
      *reinterpret_cast<const std::uint32_t*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
  const bool general = (code & 0x3c000000u) == 0x38000000u;
  const bool atomic = (code & 0x3f200c00u) == 0x38200000u;
  const bool load = (code & 0x400000u) != 0 || (general && (code & 0x800000u) != 0);
  return load && !atomic ? "reads" : "writes";
#else
  return "touches";
#endif
}

inline std::uintptr_t stack_pointer([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

inline std::uintptr_t instruction_pointer([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

// A digest of the registers. The place in the code is left out: a loop that waits has as many as it has
// instructions, and is met at some of them so rarely that something new seems to go on.
inline std::uint64_t digest_of_registers([[maybe_unused]] void* context) {
  std::uint64_t digest = 1;
  [[maybe_unused]] const auto mix = [&digest](std::uint64_t value) {
    digest = (digest ^ value ^ digest >> 29) * 0x9e3779b97f4a7c15u;
  };
#if defined(__x86_64__)
  const mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  for (int number = REG_R8; number < REG_RIP; ++number)
    mix(static_cast<std::uint64_t>(machine.gregs[number]));
  if (machine.fpregs != nullptr) {
    for (const auto& vector : machine.fpregs->_xmm) {
      for (const std::uint32_t part : vector.element) mix(part);
    }
  }
#elif defined(__aarch64__)
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  for (const std::uint64_t value : machine.regs) mix(value);
#endif
  return digest;
}

// When the signal handler returns, the thread calls `function`, which must not return, with its stack below
// `stack`. False on a machine that is not known.
inline bool go_on_at([[maybe_unused]] void* context, [[maybe_unused]] void (*function)(),
                     [[maybe_unused]] std::uintptr_t stack) {
#if defined(__x86_64__)
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  // Below the 128 bytes that a leaf function may use beyond its stack pointer; 8 beside a multiple of 16, as
  // a call leaves it; string instructions count up.
  constexpr std::uintptr_t red_zone = 128;
  constexpr greg_t direction_flag = 0x400;
  registers[REG_RSP] = static_cast<greg_t>((stack - red_zone) / 16 * 16 - 8);
  registers[REG_RIP] = reinterpret_cast<greg_t>(function);
  registers[REG_EFL] &= ~direction_flag;
  return true;
#elif defined(__aarch64__)
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
  registers.sp = stack / 16 * 16;
  registers.pc = reinterpret_cast<std::uintptr_t>(function);
  return true;
#else
  return false;
#endif
}

}  // namespace lab::emulator
