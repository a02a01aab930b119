// What instrumented kernels call: the functions of the compilers' thread sanitizer and of their coverage,
// under the names that the compilers expect. Nothing else of either is linked.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/observe/recorder.hpp"
#include "common/emulator/observe/stream_order.hpp"

namespace lab::emulator {
namespace {

using enum memory_operation;
using recorder = callbacks::recorder;

[[gnu::always_inline]] inline std::uint32_t place_of_return(const void* return_address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                    the_callbacks.program_begin);
}

[[gnu::noinline]] void wait_for_room() {
  while (the_lane.stream->full()) pause_thread();
}

// What a kernel has on its stack a GPU has in registers.
[[gnu::noinline]] void any_access(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                  strength strong, std::uint32_t place, bool aligned) {
  if (address - the_lane.stack_begin < the_lane.stack_bytes) return;
  if (the_lane.unfinished) [[unlikely]]
    the_callbacks.observer->after_access();
  if (aligned && address % bytes != 0 && the_lane.stream != nullptr) [[unlikely]]
    the_callbacks.observer->stop_misaligned(address, bytes, operation, place);
  if (address - the_callbacks.device_begin < the_callbacks.device_bytes) {
    if (the_lane.stream == nullptr) {
      if (device_memory::instance().host_may_touch(reinterpret_cast<const void*>(address)))
        return host_is_ahead
                   ? the_callbacks.observer->host_access_ahead(address, bytes, operation, strong, place)
                   : void();
      return the_callbacks.observer->host_access(place);
    }
    the_callbacks.observer->access_global(address, bytes, operation, strong, place);
  } else if (address - the_lane.shared_begin < the_lane.shared_bytes) {
    the_callbacks.observer->access_shared(address, bytes, operation, strong, place);
  } else if (the_lane.stream != nullptr) [[unlikely]] {
    the_callbacks.observer->access_elsewhere(address, bytes, operation, strong, place);
  } else if (address >= used_begin.load(std::memory_order_relaxed) &&
             address < used_end.load(std::memory_order_relaxed)) [[unlikely]] {
    the_callbacks.observer->host_access_ahead(address, bytes, operation, strong, place);
  }
}

[[gnu::always_inline]] inline void push(lane_stream& stream, std::uint32_t place, packed_access access) {
  stream.push(static_cast<std::uint32_t>(event::access) | place, access);
  if (stream.full()) [[unlikely]]
    wait_for_room();
}

// A plain access of 4 or 8 bytes, which most accesses of shared memory are.
template <unsigned bytes, memory_operation operation, bool aligned>
[[gnu::noinline]] void access_words(std::uintptr_t address, std::uint32_t place) {
  lane_stream* const stream = the_lane.ready_stream;
  if (address - the_lane.shared_begin < the_lane.shared_bytes && stream != nullptr && address % bytes == 0) {
    recorder& observer = *the_callbacks.observer;
    if (observer.ignores_shared(address)) return;
    if (observer.note_harmless(address, bytes / 4, operation, place))
      return push(*stream, place, pack(address, memory_space::shared, operation, bytes));
  }
  any_access(address, bytes, operation, strength::plain, place, aligned);
}

// Most loads need no more than a line in the lane's stream.
template <unsigned bytes, memory_operation operation, strength strong, bool aligned>
[[gnu::always_inline]] inline void access(std::uintptr_t address, const void* return_address) {
  const std::uint32_t place = place_of_return(return_address);
  if constexpr (strong == strength::plain && operation == load) {
    lane_stream* const stream = the_lane.ready_stream;
    if (stream != nullptr && (!aligned || address % bytes == 0) && the_known_reads.contains<bytes>(address))
        [[likely]] {
      const bool is_shared = address - the_lane.shared_begin < the_lane.shared_bytes;
      return push(*stream, place,
                  pack(address, is_shared ? memory_space::shared : memory_space::global, operation, bytes));
    }
  }
  if constexpr (strong == strength::plain && (bytes == 4 || bytes == 8))
    return access_words<bytes, operation, aligned>(address, place);
  any_access(address, bytes, operation, strong, place, aligned);
}

// A copy of a whole object, which a GPU does in the widest accesses that its alignment allows.
void access_range(const void* begin, std::size_t bytes, memory_operation operation,
                  const void* return_address) {
  auto address = reinterpret_cast<std::uintptr_t>(begin);
  while (bytes != 0) {
    unsigned piece = 16;
    while (address % piece != 0 || piece > bytes) piece /= 2;
    any_access(address, piece, operation, strength::plain, place_of_return(return_address), true);
    address += piece;
    bytes -= piece;
  }
}

[[gnu::always_inline]] inline void note_depth(event kind) {
  if (kind == event::call) the_callbacks.observer->note_call();
  if (kind == event::leave) the_callbacks.observer->note_return();
}

[[gnu::noinline]] void finish_and_note(event kind, std::uint32_t code) {
  if (the_lane.stream == nullptr) return;
  if (the_lane.unfinished) the_callbacks.observer->after_access();
  note_depth(kind);
  the_lane.stream->push(code);
  wait_for_room();
}

[[gnu::always_inline]] inline void note(event kind, const void* return_address) {
  const std::uint32_t code = static_cast<std::uint32_t>(kind) | place_of_return(return_address);
  lane_stream* const stream = the_lane.ready_stream;
  if (stream == nullptr) [[unlikely]]
    return finish_and_note(kind, code);
  note_depth(kind);
  stream->push(code);
  if (stream->full()) [[unlikely]]
    wait_for_room();
}

}  // namespace
}  // namespace lab::emulator

using namespace lab::emulator;

#define LAB_CALLER __builtin_return_address(0)
// `aligned`: a GPU needs the address to be a multiple of the size. It does not where the program says that it
// may not be one (a packed structure).
#define LAB_ACCESS(name, bytes, operation, strong, aligned)                \
  void name(void* address) {                                               \
    access<bytes, memory_operation::operation, strength::strong, aligned>( \
        reinterpret_cast<std::uintptr_t>(address), LAB_CALLER);            \
  }
#define LAB_ACCESSES(bytes)                                                          \
  LAB_ACCESS(__tsan_read##bytes, bytes, load, plain, true)                           \
  LAB_ACCESS(__tsan_write##bytes, bytes, store, plain, true)                         \
  LAB_ACCESS(__tsan_unaligned_read##bytes, bytes, load, plain, false)                \
  LAB_ACCESS(__tsan_unaligned_write##bytes, bytes, store, plain, false)              \
  LAB_ACCESS(__tsan_volatile_read##bytes, bytes, load, is_volatile, true)            \
  LAB_ACCESS(__tsan_volatile_write##bytes, bytes, store, is_volatile, true)          \
  LAB_ACCESS(__tsan_unaligned_volatile_read##bytes, bytes, load, is_volatile, false) \
  LAB_ACCESS(__tsan_unaligned_volatile_write##bytes, bytes, store, is_volatile, false)

extern "C" {

LAB_ACCESSES(1)
LAB_ACCESSES(2)
LAB_ACCESSES(4)
LAB_ACCESSES(8)
LAB_ACCESSES(16)

void __tsan_read_range(void* begin, std::size_t bytes) {
  access_range(begin, bytes, load, LAB_CALLER);
}
void __tsan_write_range(void* begin, std::size_t bytes) {
  access_range(begin, bytes, store, LAB_CALLER);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  access_range(from, bytes, load, LAB_CALLER);
  access_range(to, bytes, store, LAB_CALLER);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  access_range(from, bytes, load, LAB_CALLER);
  access_range(to, bytes, store, LAB_CALLER);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  access_range(to, bytes, store, LAB_CALLER);
  return std::memset(to, value, bytes);
}

void __tsan_init() {}
// A class with virtual functions keeps a pointer to its table, set by the constructor.
void __tsan_vptr_read(void** address) {
  access<sizeof(void*), memory_operation::load, strength::plain, true>(
      reinterpret_cast<std::uintptr_t>(address), LAB_CALLER);
}
void __tsan_vptr_update(void** address, void* table) {
  if (the_lane.stream != nullptr) the_callbacks.observer->table_set(reinterpret_cast<std::uintptr_t>(table));
  access<sizeof(void*), memory_operation::store, strength::plain, true>(
      reinterpret_cast<std::uintptr_t>(address), LAB_CALLER);
}
// Where a function is called, and where it returns.
void __tsan_func_entry(void* caller) {
  note(event::call, caller);
}
void __tsan_func_exit() {
  note(event::leave, LAB_CALLER);
}
// A basic block begins.
void __sanitizer_cov_trace_pc() {
  note(event::block, LAB_CALLER);
}

}  // extern "C"

// What std::atomic and the compilers' atomic functions become.
#define LAB_ATOMIC(bits, type)                                                                            \
  type __tsan_atomic##bits##_load(const volatile type* address, int order) {                              \
    before_atomic(address, load, LAB_CALLER);                                                             \
    return __atomic_load_n(address, order);                                                               \
  }                                                                                                       \
  void __tsan_atomic##bits##_store(volatile type* address, type value, int order) {                       \
    before_atomic(address, store, LAB_CALLER, order);                                                     \
    __atomic_store_n(address, value, order);                                                              \
  }                                                                                                       \
  LAB_ATOMIC_CHANGE(bits, type, exchange, __atomic_exchange_n)                                            \
  LAB_ATOMIC_CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                            \
  LAB_ATOMIC_CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                            \
  LAB_ATOMIC_CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                            \
  LAB_ATOMIC_CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                              \
  LAB_ATOMIC_CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                            \
  LAB_ATOMIC_CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* address, type* expected, type desired, \
                                                    int order, int failure) {                             \
    before_atomic(address, memory_operation::atomic, LAB_CALLER, order);                                  \
    return __atomic_compare_exchange_n(address, expected, desired, false, order, failure);                \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* address, type* expected, type desired,   \
                                                  int order, int failure) {                               \
    before_atomic(address, memory_operation::atomic, LAB_CALLER, order);                                  \
    return __atomic_compare_exchange_n(address, expected, desired, true, order, failure);                 \
  }
#define LAB_ATOMIC_CHANGE(bits, type, name, function)                                \
  type __tsan_atomic##bits##_##name(volatile type* address, type value, int order) { \
    before_atomic(address, memory_operation::atomic, LAB_CALLER, order);             \
    return function(address, value, order);                                          \
  }

namespace {

template <class T>
void before_atomic(const volatile T* address, memory_operation operation, const void* return_address,
                   int order = __ATOMIC_RELAXED) {
  if (the_lane.stream == nullptr) return;
  // A release orders what came before it, as a fence does.
  if (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST)
    the_callbacks.observer->fence_passed();
  any_access(reinterpret_cast<std::uintptr_t>(address), sizeof(T), operation, strength::is_atomic,
             place_of_return(return_address), true);
}

}  // namespace

extern "C" {

LAB_ATOMIC(8, std::uint8_t)
LAB_ATOMIC(16, std::uint16_t)
LAB_ATOMIC(32, std::uint32_t)
LAB_ATOMIC(64, std::uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (the_lane.stream != nullptr) the_callbacks.observer->fence_passed();
  __atomic_thread_fence(order);
}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
