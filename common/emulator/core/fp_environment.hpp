// How this OS thread rounds, and what it does with denormals. Internal.
#pragma once

#include <cfenv>

namespace lab::emulator {

// The control words of the floating-point units; exceptions that were raised are no part of them. A GPU has
// neither: each of its instructions says how it rounds.
class fp_environment {
 public:
  static fp_environment current() {
    fp_environment now;
#if defined(__x86_64__)
    unsigned control = 0;
    asm volatile("stmxcsr %0" : "=m"(control));
    asm volatile("fnstcw %0" : "=m"(now.x87_));
    now.control_ = control & ~raised;
#else
    now.control_ = static_cast<unsigned>(std::fegetround());
#endif
    return now;
  }

  // What a program begins with.
  static fp_environment initial() {
    fp_environment words;
#if defined(__x86_64__)
    words.control_ = 0x1f80;
    words.x87_ = 0x37f;
#else
    words.control_ = static_cast<unsigned>(FE_TONEAREST);
#endif
    return words;
  }

  // Whether the unit that kernels use is as a program begins with it; says it faster than a comparison.
  static bool is_usual() {
#if defined(__x86_64__)
    unsigned control = 0;
    asm volatile("stmxcsr %0" : "=m"(control));
    return (control & ~raised) == 0x1f80;
#else
    return current() == initial();
#endif
  }

  void apply() const {
#if defined(__x86_64__)
    asm volatile("ldmxcsr %0" : : "m"(control_));
    asm volatile("fldcw %0" : : "m"(x87_));
#else
    std::fesetround(static_cast<int>(control_));
#endif
  }

  bool operator==(const fp_environment&) const = default;

 private:
  static constexpr unsigned raised = 0x3f;
  unsigned control_ = 0;
  unsigned short x87_ = 0;
};

}  // namespace lab::emulator
