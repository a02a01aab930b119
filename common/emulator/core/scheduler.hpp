// Runs the threads of one block at a time as fibers, on the OS thread that calls it. Internal.
//
// A fiber carries threads one after the other: when a thread leaves the kernel, the next one of its warp
// starts on the same stack, without a switch. Only a thread that waits keeps its carrier, and another carrier
// takes over; a kernel without barriers and collectives therefore costs one switch for each warp. A thread
// that waits hands over to the next one of its warp, if that can go on, and otherwise to the scheduler.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/core/block_cluster.hpp"
#include "common/emulator/core/block_copies.hpp"
#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/fault_handler.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/core/sanitizer_fiber.hpp"
#include "common/emulator/core/stack_switch.hpp"
#include "common/emulator/core/thread_functions.hpp"
#include "common/emulator/core/warpgroup_products.hpp"

namespace lab::emulator {

// What all blocks of a launch share.
struct launch_state {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  kernel_call call;
  bool reverse;
  bool reverse_blocks;
  bool is_program = false;  // options::is_program
  unsigned seed;
  std::span<const shared_variable> shared_variables;
  unsigned char shared_byte;  // what shared memory holds when a block begins
  // By the order in which blocks start; those behind it may stop early.
  std::atomic<std::uint64_t> first_failed_block{none};
  dim3 cluster{};  // blocks that run together
  [[nodiscard]] unsigned cluster_size() const { return cluster.x * cluster.y * cluster.z; }
  // The block that starts as number `turn`: those of a cluster start one after the other.
  [[nodiscard]] uint3 block_at(std::uint64_t turn) const {
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    const std::uint64_t number = reverse_blocks ? blocks - 1 - turn : turn;
    const auto rank = static_cast<unsigned>(number % cluster_size());
    const std::uint64_t of_cluster = number / cluster_size(), row = of_cluster / (grid.x / cluster.x);
    return {static_cast<unsigned>(of_cluster % (grid.x / cluster.x)) * cluster.x + rank % cluster.x,
            static_cast<unsigned>(row % (grid.y / cluster.y)) * cluster.y + rank / cluster.x % cluster.y,
            static_cast<unsigned>(row / (grid.y / cluster.y)) * cluster.z + rank / cluster.x / cluster.y};
  }
  // Of what happens in another order in each block, launch and order of threads, and in the same one whenever
  // the launch is repeated.
  [[nodiscard]] std::uint64_t seed_of(std::uint64_t turn) const {
    return (std::uint64_t{seed} << 40 ^ turn << 16) | std::uint64_t{shared_byte} << 8 |
           std::uint64_t{reverse} << 1 | std::uint64_t{reverse_blocks};
  }

  // What the launch returns when it has failed.
  mutable std::atomic<cudaError_t> error{cudaErrorLaunchFailure};
  std::atomic<std::uint64_t> next_block{0};
  // Whether the kernel before it has not run yet, and whether it has let the next one begin
  // (dependent_launch_functions.hpp).
  bool waits_for_kernel = false;
  mutable std::atomic<bool> has_triggered{false};
  // OS threads that run a block, and those of them whose block waits for ever unless another one helps it.
  mutable std::atomic<int> running{0}, stuck{0};
  // How often the clock was asked, by the place that asks.
  mutable std::array<std::atomic<long long>, 64> clock_calls{};
};

// Where the running thread notices that an earlier block, for which it may be waiting, has failed. Does not
// return then.
void stop_if_launch_failed();
// The same before an atomic function of that word; a loop of such calls that waits lets other threads run.
void pass_atomic(const void* address, std::size_t bytes, const void* return_address);

// Grows with each barrier that a block of this OS thread passes, and with each block. A number that is no
// data.
inline constinit thread_local std::uint64_t barrier_epoch = 0x9e3779b97f4a7c15u;

// Whether this OS thread is inside a kernel now.
bool inside_kernel();

// cudaLimitStackSize. A thread's stack is larger, since the host's compiler takes other frames than a GPU's.
inline constinit std::atomic<std::size_t> stack_limit{1024};
inline std::size_t stack_bytes_of_threads() {
  constexpr std::size_t least = 256 << 10, factor = 4;
  return std::max(least, (factor * stack_limit + 4095) / 4096 * 4096);
}

// Takes a fault for the end of the running thread, which then leaves its stack for good, and of
// its launch: `context` (of the signal handler's third argument) goes on there. False if no kernel of this OS
// thread has faulted, or if the machine is not known.
bool divert_fault(const machine_fault& fault, void* context);

// Called by a signal handler, on the interrupted stack (spin_watch.hpp).
void tick(void* context);

// For observers, about the running thread: stops it until the observer has made room, or ends the launch with
// this diagnostic.
void pause_thread();
std::string misaligned_access(const void* address, std::size_t bytes, const char* verb);
void fail_thread(place where, const std::string& what);
void fail_assertion(const char* condition, const char* file, unsigned line);  // returns outside of kernels
[[noreturn]] void fail_launch(const std::string& diagnostic, cudaError_t error = cudaErrorLaunchFailure);
// In an observed launch, whose blocks run on one OS thread: stops the running thread until in each block of
// the grid one thread has called this. Its block rests as soon as no other thread of it can go on.
void wait_for_all_blocks(place where);
// Whether the address is a local variable of some thread of the block that runs.
bool is_on_another_stack(std::uintptr_t address);
// Whether it is an address in the shared memory of another block of the running one's cluster.
bool is_in_cluster(const void* address);
// The rank of that block, and where it has it while it runs; and back, from the running block's.
struct place_in_cluster {
  unsigned rank;
  const void* own;
};
place_in_cluster find_in_cluster(const void* address);
const void* address_for_neighbours(const void* own);
// What an access of that address does wrong; empty if its block is there.
std::string describe_absence(const void* address);

class block_runner {
 public:
  block_runner();
  block_runner(const block_runner&) = delete;
  block_runner& operator=(const block_runner&) = delete;
  ~block_runner();

  // Runs the block to its end, or to the first thing that is wrong with it: then its diagnostic.
  std::optional<std::string> run(const launch_state& launch, std::uint64_t block_number,
                                 block_cluster* cluster = nullptr, unsigned rank = 0);

  // Whether the block rests, because a thread of it waits for all blocks, or threads for the kernel before;
  // go_on() when they are there, or it has ended. Other
  // blocks may run on other runners meanwhile: what is in shared memory comes back.
  bool waits_for_blocks() const { return waits_for_blocks_; }
  std::optional<std::string> go_on();
  // Of a block of a cluster, which rests when none of its threads can go on. Whether one can by now, and
  // whether that is sure: threads that ask in loops may go on.
  bool rests() const { return rests_; }
  bool has_stopped() const { return stopping_; }
  bool may_go_on() const { return woken_ || yielded_ != 0; }
  bool is_awake() const { return woken_; }
  // Whether its threads have done nothing new for as long as they were looked at.
  bool is_quiet() const;
  uint3 block_index() const { return block_index_; }
  const std::optional<std::string>& failure() const { return failure_; }
  std::string describe_deadlock() const;
  // It rests, and does not go on.
  void give_up();
  // True if a copy has landed; something may be wrong then.
  bool land_copy();
  // True if a thread goes on without the phase that it has tried to wait for.
  bool give_up_waits();
  // Lets all threads go on that wait at the cluster's barrier, if all threads of the cluster have arrived.
  static bool pass_cluster_barrier(const block_cluster& cluster);
  // What is wrong if another block has ended instead.
  std::string describe_missing_block(std::uint64_t block) const;

  // For the running thread.
  void wait_for_all_blocks(place where);
  void wait_for_kernel_before(place where);
  void trigger_dependents() const { launch_->has_triggered = true; }
  unsigned wait_at_barrier(bool predicate, place where);
  collective_result wait_for_lanes(const collective_call& call);
  void pause();
  void yield_from(const void* instruction);
  void tick(void* context);
  long long count_clock_call(const void* instruction);
  [[noreturn]] void fail(place where, const std::string& what);
  [[noreturn]] void fail_assertion(const char* condition, place where);
  [[noreturn]] void fail_at(const void* instruction, const std::string& what, cudaError_t error);
  [[noreturn]] void abandon(const std::string& diagnostic, cudaError_t error);
  bool is_stack(std::uintptr_t address) const;
  void note_fault(const machine_fault& fault);
  [[noreturn]] void leave_for_good();
  void stop_if_launch_failed();
  void pass_atomic(const void* address, std::size_t bytes, const void* return_address);
  std::uint64_t number() const { return block_number_; }  // in the order in which blocks start
  // bulk_copy_functions.hpp
  void initialise_phases(std::uint64_t* barrier, int arrivals, place where, const void* return_address);
  unsigned arrive_in_phase(std::uint64_t* barrier, bool arrives, std::int64_t bytes, place where, bool drops,
                           const void* return_address);
  // `gives_up`: returns false where nobody can go on otherwise.
  bool wait_for_phase(std::uint64_t* barrier, unsigned phase, bool gives_up, place where,
                      const void* return_address);
  void fence_phases();
  void fence_proxies();
  void copy_in_bulk(void* shared, const void* global, std::int64_t bytes, std::uint64_t* barrier,
                    std::optional<unsigned> blocks, place where, const void* return_address);
  void copy_out_in_bulk(void* global, const void* shared, std::int64_t bytes, place where,
                        const void* return_address);
  void check_prefetch(const void* global, std::int64_t bytes, place where);
  void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t taken,
                  const void* return_address);
  void commit_copies();
  void wait_for_copies(std::size_t prior, bool all);
  void arrive_behind_copies(std::uint64_t* barrier, bool is_extra, place where, const void* return_address);
  void commit_copies_out();
  void wait_for_copies_out(std::size_t pending, bool written);
  unsigned wait_at_named_barrier(int name, std::optional<int> threads, bool predicate, place where);
  void arrive_at_named_barrier(int name, int threads, place where);
  // tensor_copy_functions.hpp
  void tensor_copy_in(void* shared, const tensor_box& box, unsigned dimensions, std::uint64_t* barrier,
                      std::optional<unsigned> blocks, place where, const void* return_address);
  void tensor_copy_out(const tensor_box& box, unsigned dimensions, const void* shared, place where,
                       const void* return_address);
  // matrix_functions.hpp
  void check_matrix_row(const void* row, const char* name, place where);
  // warpgroup_functions.hpp
  void begin_product(const warpgroup_shape& shape, const unsigned* a, float* const* d, place where,
                     const void* return_address);
  void fence_products(place where);
  void commit_products(place where);
  void wait_for_products(std::size_t pending, place where);
  void change_registers(int count, bool takes, place where);
  // cluster_functions.hpp
  [[nodiscard]] dim3 cluster_shape() const { return launch_->cluster; }
  [[nodiscard]] unsigned cluster_rank() const;
  void arrive_in_cluster(place where);
  void wait_for_cluster(place where);
  void* map_to_block(const void* own, unsigned rank, place where);
  void* reach_block(const void* own, unsigned rank, place where);
  void copy_to_block(void* there, const void* shared, std::int64_t bytes, std::uint64_t* barrier, place where,
                     const void* return_address);
  bool is_in_cluster(const void* address) const;
  place_in_cluster find_in_cluster(const void* address) const;
  const void* address_for_neighbours(const void* own) const;
  std::string describe_absence(const void* address) const;

 private:
  enum class thread_state : std::uint8_t {
    fresh,
    ready,
    running,
    yielded,
    paused,
    at_barrier,
    at_collective,
    at_phase,
    at_named_barrier,
    at_cluster,
    at_registers,
    at_kernel,
    exited
  };
  // At the cluster's barrier: of a thread that has not waited there since.
  enum class arrival : std::uint8_t { none, arrived, passed };
  struct carrier;

  // Of a named barrier, from this name on: for what the other warps of a warpgroup have to begin.
  static constexpr unsigned wait_for_product = 16;

  static bool waits_at_other_barrier(thread_state state) {
    return state == thread_state::at_phase || state == thread_state::at_named_barrier ||
           state == thread_state::at_cluster || state == thread_state::at_registers ||
           state == thread_state::at_kernel;
  }

  // A thread's wait for a phase of a barrier in shared memory, at a named barrier or at the cluster's; on its
  // own stack.
  struct barrier_wait {
    place where;
    const std::uint64_t* barrier = nullptr;  // null: a named one
    unsigned phase = 0;                      // or its name
    unsigned threads = 0;  // of a named one, 0: all of the block; groups of products that may be under way
    bool predicate = false;
    unsigned votes = 0;
    bool gives_up = false, has_given_up = false;  // of a phase
  };

  // One cache line, since a block that waits at a barrier goes from one to the next.
  struct alignas(64) emulated_thread {
    thread_state state = thread_state::fresh;
    bool predicate = false;  // at_barrier
    arrival in_cluster = arrival::none;
    bool odd_cluster_phase = false;
    uint3 index{};
    unsigned number = 0;
    carrier* on = nullptr;
    union {
      const collective_call* call = nullptr;  // at_collective; lives on the thread's own stack
      barrier_wait* wait;                     // at_phase and what follows it; likewise
    };
    union {
      place where{};             // at_barrier
      collective_result result;  // of the last collective
    };

    [[nodiscard]] bool waits_at(unsigned named_barrier) const {
      return state == thread_state::at_named_barrier && wait->phase == named_barrier;
    }
  };
  static_assert(sizeof(emulated_thread) == 64);
  static bool may_give_up(const emulated_thread& thread) {
    return thread.state == thread_state::at_phase && thread.wait->gives_up;
  }

  void prepare_threads();
  void prepare_shared_memory();
  void enter_block();
  std::optional<std::string> run_threads();
  std::optional<std::string> rest();
  bool rests_for_kernel();
  void select_warp(unsigned warp);
  emulated_thread& lane(unsigned number) { return threads_[warp_begin_ + number]; }
  emulated_thread* next_runnable(thread_state kind);
  emulated_thread* next_runnable();
  void run_warp();
  void run_carrier(carrier& self);
  void begin(emulated_thread& thread, carrier& on);
  void check_fp_environment();
  void enter(emulated_thread& thread);
  void resume(emulated_thread& thread);
  void suspend();
  static void enter_carrier();
  void switch_from(carrier& self);
  void switch_to_scheduler(carrier& self);
  void forget_spins();
  bool repeats(unsigned thread, std::uint64_t state, const void* instruction, place where = {});
  bool repeats_at_call(std::uint64_t state, const void* return_address, place where = {});
  void sample();
  bool asks_again(const void* address, std::size_t bytes);
  void look_at_stops() { samples_left_ = static_cast<unsigned>(2 * threads_.size() + 64); }
  void stop_if_endless();
  bool waits_for_ever();
  std::optional<std::uint64_t> digest_of_all_memory() const;
  std::string describe_endless_loop() const;
  carrier& idle_carrier();

  unsigned exited_lanes() const;
  bool complete_collectives();
  bool complete_collective(const collective_call& call, unsigned exited);
  bool complete_active_masks();
  std::optional<std::string> read_from_nobody(unsigned arrived);
  std::string describe_lost_lane(const collective_call& call, unsigned arrived) const;

  // The running thread waits until the others have had their turn.
  void give_way();
  bool wake_paused();
  bool wake_yielded();
  bool pass_barrier();
  bool others_go_on();
  bool goes_on_in_cluster();
  std::optional<std::string> rest_in_cluster();
  std::optional<std::string> go_on_in_cluster();
  bool has_arrived_in_cluster() const;
  void pass_cluster_barrier();
  void wake_waiting(const std::uint64_t* barrier);
  bool warp_waits_at(unsigned name, std::size_t first) const;
  [[nodiscard]] unsigned warp_arrivals(unsigned name, std::size_t first) const;
  void spend_arrivals(unsigned name, unsigned threads);
  unsigned check_named_barrier(const char* verb, int name, std::optional<int> threads, place where);
  bool pass_named_barrier(unsigned name);
  void pass_named_barriers();
  void refuse(place where, const std::string& what);
  void check_bulk_copy(const void* global, const void* shared, std::int64_t bytes, bool writes_global,
                       place where);
  void check_tensor_copy(const tensor_box& box, unsigned dimensions, const void* shared, bool writes_global,
                         place where);
  static void observe_tensor_copy(const tensor_box& box, const void* shared, bool into_shared,
                                  const void* return_address);
  void check_tile(const matrix_descriptor& tile, major order, int extent, const char* name, place where);
  bool is_shared(const void* pointer, std::size_t bytes) const;
  std::string describe_waits() const;
  std::string describe_cluster_wait() const;
  std::string describe_register_wait(const emulated_thread& thread) const;
  [[nodiscard]] unsigned threads_of_group(unsigned group) const;
  void begin_registers();
  [[nodiscard]] int free_registers() const;
  bool serve_registers();
  void finish_copies();
  void refuse_copies_from_here();
  std::string describe_missing_lane(const emulated_thread& waiting) const;
  std::string describe_uneven_barrier() const;
  std::string prefix(place where) const { return prefix(where, block_index_); }
  std::string prefix(place where, uint3 block) const;
  [[nodiscard]] block_copies::origin this_thread() const { return {block_index_, running_->number}; }
  // The block whose barrier it is, and where that has it.
  std::pair<block_runner*, std::uint64_t*> owner_of(std::uint64_t* barrier, place where);
  void refuse_absent(const void* address, place where);
  // Where a copy goes: in each block of the cluster whose bit is set, to these places of its own.
  struct copy_target {
    void* shared;
    std::uint64_t* barrier;
    unsigned blocks;

    [[nodiscard]] bool has(unsigned rank) const { return (blocks >> rank & 1) != 0; }
  };
  copy_target find_target(void* shared, std::uint64_t* barrier, std::optional<unsigned> blocks, place where);
  void check_destinations(unsigned blocks, const void* shared, std::size_t bytes, place where);
  void observe_copies_to_neighbours(const copy_target& to, std::size_t bytes, const void* return_address);
  void begin_copies(const copy_target& to, std::size_t bytes, place where,
                    const std::function<std::string(block_copies&)>& begin);
  void abandon_threads();
  std::optional<std::string> check_shared_red_zone() const;

  const launch_state* launch_ = nullptr;
  std::uint64_t block_number_ = 0;
  uint3 block_index_{};
  block_cluster* cluster_ = nullptr;  // null: the block is a cluster of its own
  unsigned rank_ = 0;                 // in the cluster
  bool rests_ = false;
  const thread_local_range thread_local_memory_ = thread_local_memory();  // the OS thread's
  std::vector<emulated_thread> threads_;
  dim3 prepared_for_{0, 0, 0};
  emulated_thread* running_ = nullptr;
  carrier* starting_ = nullptr;  // the carrier that is switched to for the first time
  carrier* left_ = nullptr;      // from which the scheduler was switched to
  suspended_stack scheduler_{};
  stack_bounds scheduler_bounds_;

  unsigned warp_ = 0;
  unsigned warp_begin_ = 0;  // number of the warp's first thread
  unsigned warp_lanes_ = 0;
  unsigned turn_ = 0;  // lanes of the warp that this pass has already looked at

  unsigned exited_ = 0;
  unsigned yielded_ = 0;
  unsigned paused_ = 0;
  unsigned at_collective_ = 0;
  unsigned at_barrier_ = 0;
  unsigned at_other_barriers_ = 0;   // at_phase and what follows it
  bool arrives_in_cluster_ = false;  // a thread has arrived at the cluster's barrier since it was passed
  bool woken_ = false;               // a thread that waited there can go on
  // Of a named barrier: how often each thread has arrived without waiting, and for a barrier of how many.
  struct named_arrivals {
    std::vector<unsigned> of_thread;
    unsigned threads = 0;
    place where{};
  };
  std::vector<named_arrivals> arrivals_;  // empty before the first arrival
  // Of the threads of a warpgroup, each of which asks for `wanted`. None before somebody has asked.
  struct register_share {
    int count;
    int wanted;
    unsigned arrived;  // threads that ask
    bool is_known = false;
    place where{};
  };
  std::vector<register_share> registers_;
  block_copies copies_;
  warpgroup_products products_;
  unsigned passes_with_copies_ = 0;
  // Copies that have landed since the block rests, of which an observer is told later.
  std::vector<std::pair<const void*, std::size_t>> landed_at_rest_;
  unsigned barrier_count_ = 0;  // threads whose predicate was true at the last barrier

  // Of a thread in a launch that has taken long enough to be looked at: states in which it was found.
  struct spin {
    std::array<std::uint64_t, 64> states{};
    unsigned count = 0;
    bool is_in_calls = false;  // since the last tick it was found in a call of the emulator's
    const void* instruction = nullptr;
    place where{};
    const std::uint64_t* tried = nullptr;  // the barrier of the last wait, if that has been given up
  };
  std::vector<spin> spins_;                  // empty while nobody looks
  std::uint64_t quiet_ = 0;                  // states found again since the last new one
  std::int64_t quiet_since_ = 0;             // ns; 0: for a moment
  std::vector<std::uint64_t> quiet_memory_;  // digests of what all memory has held meanwhile
  std::int64_t began_ = 0;                   // the block, in nanoseconds
  unsigned ticks_ = 0;
  unsigned samples_left_ = 0;    // of threads that stop, to be looked at
  const void* asked_ = nullptr;  // the word of the last atomic function, by whom, what that found, how often
  unsigned asks_ = 0;
  std::uint64_t found_ = 0;
  unsigned times_asked_ = 0;
  bool stuck_ = false;

  bool waits_for_blocks_ = false;
  place waits_at_{};
  std::vector<unsigned char> kept_shared_;  // of a block that rests

  bool stopping_ = false;  // threads that wait are to leave the kernel instead of going on
  std::optional<std::string> failure_;

  std::size_t stack_bytes_ = 0;
  std::vector<std::unique_ptr<carrier>> carriers_;
  std::vector<carrier*> idle_;
};

// That of the running thread.
block_runner& running_block();

}  // namespace lab::emulator
