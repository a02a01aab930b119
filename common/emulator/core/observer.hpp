// What an observer of kernels is told (for counters and race detection in an instrumented build). Internal.
// A kernel that runs without an observer pays one test of a null pointer at each of these points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

struct kernel_call;  // runtime_api.hpp

// The emulated thread that runs now on this OS thread.
struct running_thread {
  unsigned number = 0;             // x + y * blockDim.x + z * blockDim.x * blockDim.y; lane = number % 32
  std::uintptr_t stack_begin = 0;  // its stack: locals, which a GPU would mostly keep in registers
  std::uintptr_t stack_end = 0;
};
inline constinit thread_local running_thread current_thread{};

// While an observer is active the blocks of a launch run on one OS thread, so none of these functions need
// locks.
class observer {
 public:
  virtual ~observer() = default;
  virtual void begin_launch(const kernel_call& call, dim3 grid, dim3 block,
                            std::size_t dynamic_shared_bytes) = 0;
  // All blocks have ended, or one has failed.
  virtual void end_grid() {}
  // What was found wrong only now, which then fails the launch.
  virtual std::optional<std::string> end_launch() = 0;
  // Between them a launch is computed. What the latter returns counts, for a launch that is not, what was
  // counted for this one.
  virtual void begin_counts() {}
  virtual std::function<void()> end_counts() { return {}; }
  virtual void begin_block(uint3 block) = 0;
  // What was wrong with the block, which then fails the launch. `completed`: it has not been stopped before
  // its end.
  virtual std::optional<std::string> end_block(bool completed) = 0;
  // The block rests until all blocks of the grid have come so far, and goes on: what any of them has done
  // before is ordered before what comes. grid_passed() is called once between.
  virtual void rest_block() {}
  virtual void grid_passed() {}
  // The launch that is told of next may begin before the one that was told of last has ended; the running
  // thread has waited for that one's end.
  virtual void begins_early() {}
  virtual void kernel_before_waited_for() {}
  // Or until other blocks of its cluster have run.
  virtual void rest_in_cluster() {}
  virtual void resume_block(uint3) {}
  // current_thread runs now, for the first time or again.
  virtual void enter_thread() = 0;
  // The emulator runs now, which calls functions of the library that are also compiled into kernels.
  virtual void leave_thread() = 0;
  // Where the running thread was seen last: an address in the program.
  virtual const void* last_seen_at() { return nullptr; }
  // Every thread of the block has reached a barrier and may pass it: what was done before is ordered before
  // what comes.
  virtual void barrier_passed() = 0;
  // Some threads of the block wait at a barrier, and all others have left the kernel. An observed barrier
  // lets them pass, as a GPU does; `warning` says what the program is not entitled to.
  virtual void barrier_without_all(const std::string& warning) = 0;
  // The lanes of `lanes` have met in a warp collective. `warp` counts within the block. Only __syncwarp()
  // orders what they did before with what the others do after.
  virtual void collective_passed(unsigned warp, unsigned lanes, bool orders_memory) = 0;
  // No lane of the warp can go on, and some have called pause_thread(): makes room for what they have to say.
  virtual void make_room(unsigned warp) = 0;
  // Each lane of the warp has left the kernel or waits at a block barrier; the next events belong to another
  // warp.
  virtual void leave_warp(unsigned warp) = 0;
  // `reads`: whether it is more than a store.
  virtual void atomic_access(const void* address, unsigned bytes, const void* return_address, bool reads) = 0;
  // Before atomic_access() of an atomicCAS(): what it writes, if anything.
  virtual void compare_and_swap(std::uint64_t /*desired*/, const void* /*return_address*/) {}
  // The running thread copies to shared memory by a copy that goes on by itself (its accesses have been told
  // already), which began at that address. Later it has waited for it; or not yet (`is_over` false): a
  // barrier is told when it is over (bulk_copy_over()).
  virtual void copy_began(const void* /*to*/, std::size_t /*bytes*/, const void* /*return_address*/) {}
  virtual void copy_waited_for(const void* /*to*/, std::size_t /*bytes*/, const void* /*return_address*/,
                               bool /*is_over*/) {}
  // The running thread initialises a barrier in shared memory, arrives at it or waits for it.
  virtual void barrier_used(const void* /*barrier*/, bool /*initialises*/, const void* /*return_address*/) {}
  // What the running thread has done is ordered before what those do who are told by `key` from now on; and
  // it is told.
  virtual void tell_block(const void* /*key*/) {}
  virtual void told_by_block(const void* /*key*/) {}
  // The running thread begins a bulk copy between shared and device memory, or what `name` says. Nobody may
  // touch the shared memory, or write it where it is read, until that is over. Either side may be null.
  virtual void bulk_copy_began(const void* /*shared*/, const void* /*global*/, std::size_t /*bytes*/,
                               bool /*into_shared*/, const void* /*return_address*/,
                               const char* /*name*/ = "bulk copy") {}
  virtual void bulk_copy_over(const void* /*shared*/, std::size_t /*bytes*/) {}
  // One that writes the shared memory of another block of the cluster, by the address that the running one
  // has for it; until it is over (false), as the owner calls it.
  virtual void copy_to_neighbour(const void* /*there*/, std::size_t /*bytes*/, bool /*begins*/,
                                 const void* /*return_address*/) {}
  // The running thread has waited for a phase of a barrier in shared memory.
  virtual void phase_waited_for() {}
  // fence.proxy.async
  virtual void proxy_fence_passed() {}
  virtual void fence_passed() = 0;
  // The running thread's next atomic access orders nothing before what the thread does behind it.
  virtual void release_only() {}
};
inline constinit observer* active_observer = nullptr;

// For as long as it exists the emulator runs, and not the kernel that has called it.
class outside_of_kernel {
 public:
  outside_of_kernel() {
    if (active_observer) active_observer->leave_thread();
  }
  outside_of_kernel(const outside_of_kernel&) = delete;
  outside_of_kernel& operator=(const outside_of_kernel&) = delete;
  ~outside_of_kernel() {
    if (active_observer) active_observer->enter_thread();
  }
};

}  // namespace lab::emulator
