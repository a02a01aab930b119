#include "common/emulator/core/stack_switch.hpp"

// Keeps the registers that a function must keep (System V ABI for x86-64, section 3.2.1) on the stack that is
// left.
#if defined(__x86_64__)
asm(R"(
.text
.globl lab_emulator_switch_stacks
.type lab_emulator_switch_stacks, @function
.align 16
lab_emulator_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size lab_emulator_switch_stacks, . - lab_emulator_switch_stacks
)");
#endif
