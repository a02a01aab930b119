// What common/bulk_copy.hpp is on the emulator. The functions check what they are given, and fail the launch
// with the line of their call; block_copies.hpp says when copies are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// mbarrier.init, .arrive, .arrive_drop and .expect_tx, a wait until phase `phase` has ended, and .try_wait:
// false if it has not when no thread can go on otherwise. An arrival returns the parity of its phase.
void initialise_phases(std::uint64_t* barrier, int arrivals, place where);
unsigned arrive_in_phase(std::uint64_t* barrier, bool arrives, std::int64_t bytes, place where,
                         bool drops = false);
void wait_for_phase(std::uint64_t* barrier, unsigned phase, place where);
bool try_wait_for_phase(std::uint64_t* barrier, unsigned phase, place where);
// The parity of the phase that the barrier is in.
unsigned phase_parity(const std::uint64_t* barrier);
void fence_phases();
// fence.proxy.async
void fence_proxies();
// cp.async.bulk; in to each block of the cluster whose bit is set in `blocks`, or to the one whose shared
// memory it is.
void copy_in_bulk(void* shared, const void* global, std::int64_t bytes, std::uint64_t* barrier,
                  std::optional<unsigned> blocks, place where);
void copy_out_in_bulk(void* global, const void* shared, std::int64_t bytes, place where);
void check_prefetch(const void* global, std::int64_t bytes, place where);
// cp.async of one thread, which has just copied: in shared memory it is done again when it is waited for, and
// holds a pattern until then. `taken` bytes are copied, and zeros behind them.
void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t taken);
// cp.async.commit_group, .wait_group, and with `all` .wait_all
void commit_copies();
void wait_for_copies(std::size_t prior, bool all = false);
// cp.async.mbarrier.arrive; with .noinc not `is_extra`
void arrive_behind_copies(std::uint64_t* barrier, bool is_extra, place where);
void commit_copies_out();
// cp.async.bulk.wait_group.read; with `written` without .read.
void wait_for_copies_out(std::size_t pending, bool written = false);
// bar.sync and bar.red, without `threads` of the whole block: the number of threads whose predicate is true.
unsigned wait_at_named_barrier(int name, std::optional<int> threads, bool predicate, place where);
// bar.arrive
void arrive_at_named_barrier(int name, int threads, place where);

}  // namespace lab::emulator

namespace lab {

struct mbarrier {
  std::uint64_t state;

  __forceinline__ void initialise(int arrivals, emulator::place where = emulator::place::here()) {
    emulator::initialise_phases(&state, arrivals, where);
  }
  __forceinline__ void arrive(emulator::place where = emulator::place::here()) {
    emulator::arrive_in_phase(&state, true, 0, where);
  }
  __forceinline__ void arrive_expect_tx(int bytes, emulator::place where = emulator::place::here()) {
    emulator::arrive_in_phase(&state, true, bytes, where);
  }
  __forceinline__ void wait(unsigned phase, emulator::place where = emulator::place::here()) {
    emulator::wait_for_phase(&state, phase, where);
  }
};

__forceinline__ void fence_mbarrier_init() {
  emulator::fence_phases();
}

__forceinline__ void fence_proxy_async() {
  emulator::fence_proxies();
}

template <class T>
__forceinline__ void copy_in(T* shared, const T* global, int count, mbarrier& barrier,
                             emulator::place where = emulator::place::here()) {
  const auto bytes = std::int64_t{count} * static_cast<std::int64_t>(sizeof(T));
  emulator::arrive_in_phase(&barrier.state, true, bytes, where);
  emulator::copy_in_bulk(shared, global, bytes, &barrier.state, {}, where);
}

template <class T>
__forceinline__ void copy_in_and_keep(T* shared, const T* global, int count, mbarrier& barrier,
                                      emulator::place where = emulator::place::here()) {
  copy_in(shared, global, count, barrier, where);
}

template <class T>
__forceinline__ void prefetch(const T* global, int count, emulator::place where = emulator::place::here()) {
  emulator::check_prefetch(global, std::int64_t{count} * static_cast<std::int64_t>(sizeof(T)), where);
}

template <class T>
__forceinline__ void copy_out(T* global, const T* shared, int count,
                              emulator::place where = emulator::place::here()) {
  emulator::copy_out_in_bulk(global, shared, std::int64_t{count} * static_cast<std::int64_t>(sizeof(T)),
                             where);
}

__forceinline__ void commit_group() {
  emulator::commit_copies_out();
}

template <int pending>
__forceinline__ void wait_group_read() {
  emulator::wait_for_copies_out(pending);
}

__forceinline__ void named_barrier(int name, int threads, emulator::place where = emulator::place::here()) {
  emulator::wait_at_named_barrier(name, threads, false, where);
}

}  // namespace lab
