// What threads of a block say to one another: barriers, warp collectives, fences; and the loads and stores
// with cache hints, which are plain here.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/observer.hpp"

namespace lab::emulator {

// Waits for all threads of the block; the number of threads whose predicate is true.
unsigned wait_at_barrier(bool predicate, place where);

enum class collective { synchronize, active_mask, shuffle, ballot, match, reduce, whole_warp };

// One lane's part in a warp collective.
struct collective_call {
  collective kind;
  const char* name;  // the function, as the kernel's author wrote it
  unsigned mask;
  place where;
  std::uint64_t value = 0;
  unsigned source_lane = 0;                                          // shuffle
  std::uint64_t (*combine)(std::uint64_t, std::uint64_t) = nullptr;  // reduce
  // whole_warp: does the work of all 32 lanes, of which each has brought a value.
  void (*perform)(const std::uint64_t* values) = nullptr;
};

struct collective_result {
  std::uint64_t value;
  unsigned lanes;  // the lanes that took part: those of the mask that have not left the kernel
};

collective_result wait_for_lanes(const collective_call& call);

[[noreturn]] void trap(place where);
[[noreturn]] void refuse_width(const char* name, int width, place where);
void yield_thread();
void fence();
// The thread's next atomic access is an arrival: it does not wait for what others have done.
void release_only();
long long ticks();

__forceinline__ unsigned lane() {
  return current_thread.number % 32;
}

template <class T>
__forceinline__ std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8, "a lane exchanges 8 bytes at most");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
__forceinline__ T from_bits(std::uint64_t bits) {
  static_assert(sizeof(T) <= 8, "a lane exchanges 8 bytes at most");
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

template <class T>
__forceinline__ T shuffle(const char* name, unsigned mask, T value, unsigned source, place where) {
  return from_bits<T>(wait_for_lanes({collective::shuffle, name, mask, where, to_bits(value), source}).value);
}

__forceinline__ unsigned checked_width(const char* name, int width, place where) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) refuse_width(name, width, where);
  return static_cast<unsigned>(width);
}

template <class T, class Combine>
__forceinline__ T reduce(const char* name, unsigned mask, T value, Combine, place where) {
  static_assert(std::is_empty_v<Combine>);
  const auto combine = [](std::uint64_t a, std::uint64_t b) {
    return to_bits(static_cast<T>(Combine{}(from_bits<T>(a), from_bits<T>(b))));
  };
  return from_bits<T>(
      wait_for_lanes({collective::reduce, name, mask, where, to_bits(value), 0, combine}).value);
}

// A load that the compiler may not keep from one turn of a spinning loop to the next.
template <class T>
__forceinline__ T load_again(const T* address) {
  if constexpr (std::is_scalar_v<T>) {
    return *static_cast<const volatile T*>(address);
  } else {
    return *address;
  }
}

}  // namespace lab::emulator

// ---- block

__forceinline__ void __syncthreads(lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::wait_at_barrier(false, where);
}

__forceinline__ int __syncthreads_count(int predicate,
                                        lab::emulator::place where = lab::emulator::place::here()) {
  return static_cast<int>(lab::emulator::wait_at_barrier(predicate != 0, where));
}

__forceinline__ int __syncthreads_and(int predicate,
                                      lab::emulator::place where = lab::emulator::place::here()) {
  return lab::emulator::wait_at_barrier(predicate == 0, where) == 0;
}

__forceinline__ int __syncthreads_or(int predicate,
                                     lab::emulator::place where = lab::emulator::place::here()) {
  return lab::emulator::wait_at_barrier(predicate != 0, where) != 0;
}

// ---- warp

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu,
                                lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::wait_for_lanes({lab::emulator::collective::synchronize, "__syncwarp", mask, where});
}

// The lanes that wait at this very line when no lane of the warp can go on.
__forceinline__ unsigned __activemask(lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  return wait_for_lanes({collective::active_mask, "__activemask", 1u << lane(), where}).lanes;
}

__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate,
                                       lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  return static_cast<unsigned>(
      wait_for_lanes({collective::ballot, "__ballot_sync", mask, where, predicate != 0}).value);
}

__forceinline__ int __any_sync(unsigned mask, int predicate,
                               lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  return wait_for_lanes({collective::ballot, "__any_sync", mask, where, predicate != 0}).value != 0;
}

__forceinline__ int __all_sync(unsigned mask, int predicate,
                               lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  return wait_for_lanes({collective::ballot, "__all_sync", mask, where, predicate == 0}).value == 0;
}

template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value,
                                          lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  return static_cast<unsigned>(
      wait_for_lanes({collective::match, "__match_any_sync", mask, where, to_bits(value)}).value);
}

template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all_equal,
                                          lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  const collective_result result =
      wait_for_lanes({collective::match, "__match_all_sync", mask, where, to_bits(value)});
  *all_equal = result.value == result.lanes;
  return *all_equal ? result.lanes : 0;
}

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                              lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  const unsigned segment = checked_width("__shfl_sync", width, where);
  const unsigned first = lane() & ~(segment - 1);
  return shuffle("__shfl_sync", mask, value, first + (static_cast<unsigned>(source) & (segment - 1)), where);
}

template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                 lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  const unsigned segment = checked_width("__shfl_up_sync", width, where);
  const unsigned position = lane() & (segment - 1);
  return shuffle("__shfl_up_sync", mask, value, position >= distance ? lane() - distance : lane(), where);
}

template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                   lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  const unsigned segment = checked_width("__shfl_down_sync", width, where);
  const unsigned left = segment - (lane() & (segment - 1));
  return shuffle("__shfl_down_sync", mask, value, distance < left ? lane() + distance : lane(), where);
}

template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                                  lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  const unsigned segment = checked_width("__shfl_xor_sync", width, where);
  const unsigned source = lane() ^ static_cast<unsigned>(lane_mask);
  // A lane may read from its own segment and the ones before it, never from one behind.
  return shuffle("__shfl_xor_sync", mask, value, source / segment <= lane() / segment ? source : lane(),
                 where);
}

#define LAB_EMULATOR_REDUCE(name, type, expression)                                      \
  __forceinline__ type name(unsigned mask, type value,                                   \
                            lab::emulator::place where = lab::emulator::place::here()) { \
    return lab::emulator::reduce(                                                        \
        #name, mask, value, [](type a, type b) { return expression; }, where);           \
  }
LAB_EMULATOR_REDUCE(__reduce_add_sync, unsigned, a + b)
LAB_EMULATOR_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
LAB_EMULATOR_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
LAB_EMULATOR_REDUCE(__reduce_and_sync, unsigned, a& b)
LAB_EMULATOR_REDUCE(__reduce_or_sync, unsigned, a | b)
LAB_EMULATOR_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
// The sum wraps around, as on a GPU.
LAB_EMULATOR_REDUCE(__reduce_add_sync, int,
                    static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
LAB_EMULATOR_REDUCE(__reduce_min_sync, int, a < b ? a : b)
LAB_EMULATOR_REDUCE(__reduce_max_sync, int, a < b ? b : a)
#undef LAB_EMULATOR_REDUCE

// ---- fences, waiting, stopping

__forceinline__ void __threadfence() {
  lab::emulator::fence();
}
__forceinline__ void __threadfence_block() {
  lab::emulator::fence();
}
__forceinline__ void __threadfence_system() {
  lab::emulator::fence();
}

// Lets the other threads of the block run: a loop that waits for one of them must call it.
__forceinline__ void __nanosleep(unsigned) {
  lab::emulator::yield_thread();
}

__forceinline__ void __trap(lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::trap(where);
}

// Grows from call to call. It is no time, and differences mean nothing.
__forceinline__ long long clock64() {
  return lab::emulator::ticks();
}

// ---- loads and stores with cache hints

#define LAB_EMULATOR_LOAD(name, expression)  \
  template <class T>                         \
  __forceinline__ T name(const T* address) { \
    return expression;                       \
  }
LAB_EMULATOR_LOAD(__ldg, *address)
LAB_EMULATOR_LOAD(__ldca, *address)
LAB_EMULATOR_LOAD(__ldcs, *address)
LAB_EMULATOR_LOAD(__ldlu, *address)
LAB_EMULATOR_LOAD(__ldcg, lab::emulator::load_again(address))
LAB_EMULATOR_LOAD(__ldcv, lab::emulator::load_again(address))
#undef LAB_EMULATOR_LOAD

#define LAB_EMULATOR_STORE(name)                                                \
  template <class T>                                                            \
  __forceinline__ void name(T* address, const std::type_identity_t<T>& value) { \
    *address = value;                                                           \
  }
LAB_EMULATOR_STORE(__stwb)
LAB_EMULATOR_STORE(__stcg)
LAB_EMULATOR_STORE(__stcs)
LAB_EMULATOR_STORE(__stwt)
#undef LAB_EMULATOR_STORE
