#include "common/emulator/core/atomic_functions.hpp"

#include <algorithm>
#include <atomic>

#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace {

using lab::emulator::active_observer;

// Every atomic is a place where a thread that spins lets others run, and learns that an earlier block has
// failed.
template <class T>
std::atomic_ref<T> observed(T* address, const void* return_address, bool reads = true) {
  lab::emulator::pass_atomic(address, sizeof(T), return_address);
  if (active_observer) active_observer->atomic_access(address, sizeof(T), return_address, reads);
  return std::atomic_ref<T>(*address);
}

template <class T, class Change>
T update(std::atomic_ref<T> target, Change change) {
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace

#define LAB_EMULATOR_FETCH(name, type, method)                                                      \
  type name(type* address, type value) {                                                            \
    return observed(address, __builtin_return_address(0)).method(value, std::memory_order_relaxed); \
  }
#define LAB_EMULATOR_UPDATE(name, type, expression)                                                          \
  type name(type* address, type value) {                                                                     \
    return update(observed(address, __builtin_return_address(0)), [value](type old) { return expression; }); \
  }
#define LAB_EMULATOR_COMPARE_AND_SWAP(type)                                                       \
  type atomicCAS(type* address, type expected, type desired) {                                    \
    if (active_observer) active_observer->compare_and_swap(desired, __builtin_return_address(0)); \
    observed(address, __builtin_return_address(0))                                                \
        .compare_exchange_strong(expected, desired, std::memory_order_relaxed);                   \
    return expected;                                                                              \
  }

LAB_EMULATOR_FETCH(atomicAdd, int, fetch_add)
LAB_EMULATOR_FETCH(atomicAdd, unsigned, fetch_add)
LAB_EMULATOR_FETCH(atomicAdd, unsigned long long, fetch_add)
LAB_EMULATOR_UPDATE(atomicAdd, float, old + value)
LAB_EMULATOR_UPDATE(atomicAdd, double, old + value)
LAB_EMULATOR_FETCH(atomicSub, int, fetch_sub)
LAB_EMULATOR_FETCH(atomicSub, unsigned, fetch_sub)
LAB_EMULATOR_FETCH(atomicExch, int, exchange)
LAB_EMULATOR_FETCH(atomicExch, unsigned, exchange)
LAB_EMULATOR_FETCH(atomicExch, unsigned long long, exchange)
LAB_EMULATOR_FETCH(atomicExch, float, exchange)
LAB_EMULATOR_UPDATE(atomicMin, int, std::min(old, value))
LAB_EMULATOR_UPDATE(atomicMin, unsigned, std::min(old, value))
LAB_EMULATOR_UPDATE(atomicMin, long long, std::min(old, value))
LAB_EMULATOR_UPDATE(atomicMin, unsigned long long, std::min(old, value))
LAB_EMULATOR_UPDATE(atomicMax, int, std::max(old, value))
LAB_EMULATOR_UPDATE(atomicMax, unsigned, std::max(old, value))
LAB_EMULATOR_UPDATE(atomicMax, long long, std::max(old, value))
LAB_EMULATOR_UPDATE(atomicMax, unsigned long long, std::max(old, value))
LAB_EMULATOR_FETCH(atomicAnd, int, fetch_and)
LAB_EMULATOR_FETCH(atomicAnd, unsigned, fetch_and)
LAB_EMULATOR_FETCH(atomicAnd, unsigned long long, fetch_and)
LAB_EMULATOR_FETCH(atomicOr, int, fetch_or)
LAB_EMULATOR_FETCH(atomicOr, unsigned, fetch_or)
LAB_EMULATOR_FETCH(atomicOr, unsigned long long, fetch_or)
LAB_EMULATOR_FETCH(atomicXor, int, fetch_xor)
LAB_EMULATOR_FETCH(atomicXor, unsigned, fetch_xor)
LAB_EMULATOR_FETCH(atomicXor, unsigned long long, fetch_xor)
LAB_EMULATOR_UPDATE(atomicInc, unsigned, old >= value ? 0 : old + 1)
LAB_EMULATOR_UPDATE(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
LAB_EMULATOR_COMPARE_AND_SWAP(int)
LAB_EMULATOR_COMPARE_AND_SWAP(unsigned)
LAB_EMULATOR_COMPARE_AND_SWAP(unsigned long long)

#define LAB_EMULATOR_WORD(type)                                                                              \
  type lab::emulator::change_word(type* word, type (*change)(type, const void*), const void* with) {         \
    return update(observed(word, __builtin_return_address(0)), [=](type old) { return change(old, with); }); \
  }                                                                                                          \
  void lab::emulator::store_word(type* word, type value) {                                                   \
    observed(word, __builtin_return_address(0), false).store(value, std::memory_order_relaxed);              \
  }
LAB_EMULATOR_WORD(unsigned char)
LAB_EMULATOR_WORD(unsigned short)
LAB_EMULATOR_WORD(unsigned)
LAB_EMULATOR_WORD(unsigned long long)
