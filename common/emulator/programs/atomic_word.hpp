// Atomic operations in any order that C++ knows: cuda::atomic_ref, and the functions that nvcc has built in.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <type_traits>

#include "common/emulator/core/device_functions.hpp"

namespace lab::emulator {

// CUDA's atomic functions where they have T, else a change of its bits. Writes before a release are ordered
// by a fence; a relaxed operation orders nothing by itself.
template <class T>
class atomic_word {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && std::has_single_bit(sizeof(T)),
                "atomic objects are of 1, 2, 4 or 8 bytes");
  using small_word = std::conditional_t<sizeof(T) == 1, unsigned char, unsigned short>;
  using large_word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  using word = std::conditional_t<(sizeof(T) < 4), small_word, large_word>;
  using number =
      std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8,
                         std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>, T>;

 public:
  using value_type = T;
  using difference_type = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

  explicit atomic_word(T& value) : address_(&value) {}
  T load(std::memory_order order = std::memory_order_seq_cst) const {
    return change(order, [](T old) { return old; });
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) const {
    ordered(order, [&] {
      store_word(place(), std::bit_cast<word>(value));
      return value;
    });
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) const {
    return change(order, [value](T) { return value; });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) const {
    const word compared = std::bit_cast<word>(expected);
    if constexpr (sizeof(T) >= 4) {
      expected = ordered(order, [&] {
        return std::bit_cast<T>(atomicCAS(place(), compared, std::bit_cast<word>(desired)));
      });
    } else {
      expected = change(order, [&](T old) { return std::bit_cast<word>(old) == compared ? desired : old; });
    }
    return std::bit_cast<word>(expected) == compared;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                             std::memory_order failure = std::memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order, failure);
  }
#define LAB_FETCH(name, type, function, expression)                                                       \
  T name(type value, std::memory_order order = std::memory_order_seq_cst) const {                         \
    if constexpr (std::is_arithmetic_v<T> && requires(number * one) { function(one, *one); })             \
      return ordered(order, [&] {                                                                         \
        return static_cast<T>(function(reinterpret_cast<number*>(address_), static_cast<number>(value))); \
      });                                                                                                 \
    else                                                                                                  \
      return change(order, [&](T old) { return static_cast<T>(expression); });                            \
  }
  LAB_FETCH(fetch_add, difference_type, atomicAdd, old + value)
  LAB_FETCH(fetch_min, T, atomicMin, value < old ? value : old)
  LAB_FETCH(fetch_max, T, atomicMax, old < value ? value : old)
  LAB_FETCH(fetch_and, T, atomicAnd, (old & value))
  LAB_FETCH(fetch_or, T, atomicOr, old | value)
  LAB_FETCH(fetch_xor, T, atomicXor, old ^ value)
#undef LAB_FETCH
  T fetch_sub(difference_type value, std::memory_order order = std::memory_order_seq_cst) const {
    return fetch_add(static_cast<difference_type>(difference_type{} - value), order);
  }
  // Nobody sleeps here, so there is nobody to wake.
  void wait(T old, std::memory_order order = std::memory_order_seq_cst) const {
    while (load(order) == old) __nanosleep(32);
  }
  void notify_one() const {}
  void notify_all() const {}
  T operator++() const {
    return fetch_add(1) + 1;
  }
  T operator++(int) const {
    return fetch_add(1);
  }
  T operator--() const {
    return fetch_sub(1) - 1;
  }
  T operator--(int) const {
    return fetch_sub(1);
  }
  T operator+=(difference_type value) const {
    return fetch_add(value) + value;
  }
  T operator-=(difference_type value) const {
    return fetch_sub(value) - value;
  }
  T operator=(T value) const {
    store(value);
    return value;
  }
  operator T() const {
    return load();
  }

 private:
  template <class Operation>
  static T ordered(std::memory_order order, Operation operation) {
    if (order != std::memory_order_relaxed && order != std::memory_order_acquire) __threadfence();
    const T value = operation();
    if (order != std::memory_order_relaxed && order != std::memory_order_release) __threadfence();
    return value;
  }
  [[nodiscard]] word* place() const {
    return reinterpret_cast<word*>(address_);
  }
  template <class Change>
  T change(std::memory_order order, Change to) const {
    return ordered(order, [&] {
      return std::bit_cast<T>(change_word(
          place(),
          [](word old, const void* with) {
            return std::bit_cast<word>((*static_cast<const Change*>(with))(std::bit_cast<T>(old)));
          },
          &to));
    });
  }
  T* address_;
};

}  // namespace lab::emulator

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

template <class T>
T __nv_atomic_load_n(T* from, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  return lab::emulator::atomic_word<T>(*from).load(std::memory_order(order));
}
template <class T>
void __nv_atomic_load(T* from, T* to, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  *to = __nv_atomic_load_n(from, order);
}
template <class T>
void __nv_atomic_store_n(T* to, std::type_identity_t<T> value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  lab::emulator::atomic_word<T>(*to).store(value, std::memory_order(order));
}
template <class T>
void __nv_atomic_store(T* to, T* value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(to, *value, order);
}
template <class T>
T __nv_atomic_exchange_n(T* at, std::type_identity_t<T> value, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  return lab::emulator::atomic_word<T>(*at).exchange(value, std::memory_order(order));
}
template <class T>
void __nv_atomic_exchange(T* at, T* value, T* old, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  *old = __nv_atomic_exchange_n(at, *value, order);
}
template <class T>
bool __nv_atomic_compare_exchange_n(T* at, T* expected, std::type_identity_t<T> desired, bool, int order, int,
                                    int = __NV_THREAD_SCOPE_SYSTEM) {
  return lab::emulator::atomic_word<T>(*at).compare_exchange_strong(*expected, desired,
                                                                    std::memory_order(order));
}
template <class T>
bool __nv_atomic_compare_exchange(T* at, T* expected, T* desired, bool is_weak, int order, int failure,
                                  int = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(at, expected, *desired, is_weak, order, failure);
}
#define LAB_FETCH(name)                                                                                   \
  template <class T>                                                                                      \
  T __nv_atomic_##name(T* at, std::type_identity_t<T> value, int order, int = __NV_THREAD_SCOPE_SYSTEM) { \
    return lab::emulator::atomic_word<T>(*at).name(value, std::memory_order(order));                      \
  }
LAB_FETCH(fetch_add)
LAB_FETCH(fetch_sub)
LAB_FETCH(fetch_min)
LAB_FETCH(fetch_max)
LAB_FETCH(fetch_and)
LAB_FETCH(fetch_or)
LAB_FETCH(fetch_xor)
#undef LAB_FETCH
inline void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) __threadfence();
}
