// CUDA's atomic functions. Relaxed, as on a GPU; __threadfence() orders. They are ordinary functions of the
// library rather than inline ones, so that an instrumented kernel sees one call and not its insides.
#pragma once

#define LAB_EMULATOR_ATOMIC(name, type) type name(type* address, type value)

LAB_EMULATOR_ATOMIC(atomicAdd, int);
LAB_EMULATOR_ATOMIC(atomicAdd, unsigned);
LAB_EMULATOR_ATOMIC(atomicAdd, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicAdd, float);
LAB_EMULATOR_ATOMIC(atomicAdd, double);
LAB_EMULATOR_ATOMIC(atomicSub, int);
LAB_EMULATOR_ATOMIC(atomicSub, unsigned);
LAB_EMULATOR_ATOMIC(atomicExch, int);
LAB_EMULATOR_ATOMIC(atomicExch, unsigned);
LAB_EMULATOR_ATOMIC(atomicExch, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicExch, float);
LAB_EMULATOR_ATOMIC(atomicMin, int);
LAB_EMULATOR_ATOMIC(atomicMin, unsigned);
LAB_EMULATOR_ATOMIC(atomicMin, long long);
LAB_EMULATOR_ATOMIC(atomicMin, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicMax, int);
LAB_EMULATOR_ATOMIC(atomicMax, unsigned);
LAB_EMULATOR_ATOMIC(atomicMax, long long);
LAB_EMULATOR_ATOMIC(atomicMax, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicAnd, int);
LAB_EMULATOR_ATOMIC(atomicAnd, unsigned);
LAB_EMULATOR_ATOMIC(atomicAnd, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicOr, int);
LAB_EMULATOR_ATOMIC(atomicOr, unsigned);
LAB_EMULATOR_ATOMIC(atomicOr, unsigned long long);
LAB_EMULATOR_ATOMIC(atomicXor, int);
LAB_EMULATOR_ATOMIC(atomicXor, unsigned);
LAB_EMULATOR_ATOMIC(atomicXor, unsigned long long);

#undef LAB_EMULATOR_ATOMIC

// Counts from 0 to `limit` and around; counts down from `limit` to 0 and around.
unsigned atomicInc(unsigned* address, unsigned limit);
unsigned atomicDec(unsigned* address, unsigned limit);

int atomicCAS(int* address, int expected, int desired);
unsigned atomicCAS(unsigned* address, unsigned expected, unsigned desired);
unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                             unsigned long long desired);

namespace lab::emulator {

// Of words of 1, 2, 4 and 8 bytes: it becomes `change(old, with)` at once, and the old one is returned; or it
// is stored.
#define LAB_EMULATOR_WORD(type)                                                               \
  type change_word(type* word, type (*change)(type old, const void* with), const void* with); \
  void store_word(type* word, type value);
LAB_EMULATOR_WORD(unsigned char)
LAB_EMULATOR_WORD(unsigned short)
LAB_EMULATOR_WORD(unsigned)
LAB_EMULATOR_WORD(unsigned long long)
#undef LAB_EMULATOR_WORD

}  // namespace lab::emulator
