// The observer behind an observation, and the state that the compiler's callbacks look at. Internal.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/observe/compiled_counts.hpp"
#include "common/emulator/observe/counting_threads.hpp"
#include "common/emulator/observe/global_shadow.hpp"
#include "common/emulator/observe/observation.hpp"
#include "common/emulator/observe/shared_shadow.hpp"
#include "common/emulator/observe/stream_order.hpp"
#include "common/emulator/observe/warp_counter.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

class observation::recorder final : public observer, private request_sink {
 public:
  recorder();
  ~recorder() override;

  void use_compiled_code(std::string_view listing) {
    compiled_code_ = std::make_unique<compiled_code>(listing);
  }
  void keep_block(std::uint64_t number) { wanted_block_ = number; }
  [[nodiscard]] const std::vector<observed_block>& kept_blocks() const { return kept_; }

  void begin_launch(const kernel_call& call, dim3 grid, dim3 block,
                    std::size_t dynamic_shared_bytes) override;
  void end_grid() override;
  std::optional<std::string> end_launch() override;
  void begin_counts() override;
  std::function<void()> end_counts() override;
  void begin_block(uint3 block) override;
  std::optional<std::string> end_block(bool completed) override;
  void rest_block() override;
  void rest_in_cluster() override;
  void begins_early() override { begins_early_ = true; }
  void kernel_before_waited_for() override;
  void grid_passed() override;
  void resume_block(uint3 block) override;
  void enter_thread() override;
  void leave_thread() override;
  const void* last_seen_at() override;
  void barrier_passed() override;
  void barrier_without_all(const std::string& warning) override;
  void collective_passed(unsigned warp, unsigned lanes, bool orders_memory) override;
  void make_room(unsigned warp) override;
  void leave_warp(unsigned warp) override;
  void atomic_access(const void* address, unsigned bytes, const void* return_address, bool reads) override;
  void compare_and_swap(std::uint64_t desired, const void* return_address) override;
  void barrier_used(const void* barrier, bool initialises, const void* return_address) override;
  void tell_block(const void* key) override;
  void told_by_block(const void* key) override;
  void bulk_copy_began(const void* shared, const void* global, std::size_t bytes, bool into_shared,
                       const void* return_address, const char* name) override;
  void bulk_copy_over(const void* shared, std::size_t bytes) override;
  void copy_to_neighbour(const void* there, std::size_t bytes, bool begins,
                         const void* return_address) override;
  void phase_waited_for() override { ++record_->bulk.waits; }
  void proxy_fence_passed() override;
  void fence_passed() override;
  void release_only() override;

  // The running thread calls a function, or returns from one.
  void note_call() { trace_.note_call(the_thread()); }
  void note_return() { trace_.note_return(the_thread()); }
  // Accesses of the running thread. Those outside of any allocation do not return.
  void access_global(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                     std::uint32_t place);
  // What is neither device memory nor shared, nor on the thread's own stack.
  void access_elsewhere(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                        std::uint32_t place);
  bool elsewhere_is_device_memory(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                  std::uint32_t place);
  [[noreturn]] void stop_misaligned(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                    std::uint32_t place);
  [[noreturn]] void stop_outside_shared(std::size_t offset, unsigned bytes, memory_operation operation,
                                        std::uint32_t place);
  // What had to wait until the access before had been made.
  void after_access();
  // Of the shared memory of another block of the cluster.
  void access_neighbour(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                        std::uint32_t place);
  void access_shared(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                     std::uint32_t place);
  // Not the kernel's shared memory, but the emulator's variables that lie there, too.
  bool ignores_shared(std::uintptr_t address) const;
  // A plain access of whole words of shared memory: true if it was noted, since nothing can be wrong with it.
  bool note_harmless(std::uintptr_t address, unsigned words, memory_operation operation, std::uint32_t place);
  void host_access(std::uint32_t place);
  // A kernel's thread makes an object with this table of virtual functions.
  void table_set(std::uintptr_t table);
  // Of memory that host code may touch, while it has not waited for all work.
  void host_access_ahead(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                         std::uint32_t place);
  void copy_began(const void* to, std::size_t bytes, const void* return_address) override;
  void copy_waited_for(const void* to, std::size_t bytes, const void* return_address, bool is_over) override;

  [[nodiscard]] std::vector<observed_kernel> kernels() const;
  [[nodiscard]] const std::vector<observed_fault>& faults() const { return faults_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // What bulk copies and the barriers in shared memory do.
  struct copy_counts {
    std::uint64_t bytes_loaded = 0, bytes_stored = 0;  // from and to device memory
    std::uint64_t copies = 0;
    std::uint64_t waits = 0;  // of threads for a phase

    void add(const copy_counts& other) {
      bytes_loaded += other.bytes_loaded;
      bytes_stored += other.bytes_stored;
      copies += other.copies;
      waits += other.waits;
    }
    [[nodiscard]] copy_counts since(const copy_counts& before) const {
      return {bytes_loaded - before.bytes_loaded, bytes_stored - before.bytes_stored, copies - before.copies,
              waits - before.waits};
    }
  };
  struct kernel_record {
    const void* kernel;
    std::string name;
    std::uint64_t launches = 0;
    std::uint64_t barriers = 0;
    std::uint64_t collectives = 0;  // of warps, __syncwarp() is none
    copy_counts bulk{};
    std::uint64_t cluster_blocks = 0;  // of the last launch; 0: no clusters
    std::uint64_t blocks = 0;          // summed over launches
    std::uint64_t block_threads = 0;   // likewise
    site_table sites;
    bool kept = false;                          // what the wanted block asked of memory
    std::unique_ptr<compiled_counts> compiled;  // null: its compiled code is not known
    bool awaits_function = false;  // whose name may say which code it is: that of the first access
  };

  static unsigned the_thread();
  void count(unsigned warp, unsigned to_come);
  void begin_log();
  void set_sink();
  void begin_compiled(const compiled_kernel* code);
  [[nodiscard]] std::uint64_t threads_of_launch() const;
  void take_request(std::uint32_t place, unsigned warp, unsigned lanes, const std::uintptr_t* address,
                    memory_space space, memory_operation operation, unsigned bytes,
                    const access_cost& cost) override;
  touched_array array_of(memory_space space, std::uintptr_t address, unsigned bytes);

  void name_block(uint3 block);
  void find_host_pointers();
  void find_shared_memory();
  // Two accesses of one location that nothing orders.
  struct race {
    unsigned thread;
    std::uint32_t place;
    memory_operation operation;
    memory_space space;
    std::uint64_t other_block;
    unsigned other_thread;
    std::uint32_t other_place;
    bool other_wrote;
    bool same_block;
    bool of_kernel_before = false;  // the other block
  };
  // A plain write, to be judged when its value is known.
  struct unjudged {
    std::uintptr_t address = 0;
    unsigned bytes = 0;
    std::uint32_t place = 0;
    std::array<unsigned char, 16> before{};
    std::optional<race> with;  // another write; without, the place is one that is watched
  };
  // A place whose writes may set a flag that others test: no race that matters, if all write the same.
  struct flag_writes {
    std::array<unsigned char, 16> value{};
    unsigned bytes = 0;  // 0: nothing written since it is watched
    std::string text;    // the race that it is otherwise
  };
  struct late_read {
    std::uint32_t place;
    std::string text;
  };
  struct bulk_copy {
    std::uintptr_t shared;
    std::size_t bytes;
    bool into_shared;
    unsigned thread;
    std::uint32_t place;
    const char* name;
    std::uint64_t block;  // of the thread
  };

  shared_shadow& shadow_of(unsigned rank);
  uint3 block_of_rank(unsigned rank) const;
  std::uint64_t number_of(uint3 block) const {
    return (std::uint64_t{block.z} * grid_.y + block.y) * grid_.x + block.x;
  }
  bool strong_access(std::uintptr_t address, memory_operation operation);
  void note_neighbour(std::uintptr_t address, unsigned bytes, const shared_access& access);
  void push_access(std::uintptr_t address, unsigned bytes, memory_operation operation, strength strong,
                   std::uint32_t place, memory_space space);
  void forget_known_words(std::uintptr_t address, unsigned bytes);
  void judge(const unjudged& write);
  void judge_later(std::uintptr_t address, unsigned bytes, std::uint32_t place,
                   const std::optional<race>& with);
  std::string text_of(const race& found) const;
  void deliver_late(global_shadow::range& in, std::uintptr_t address, unsigned bytes, std::uint32_t place);
  void report_late_reads();
  void add_warning(const std::string& text);
  void report_hosts_table(std::uintptr_t table, std::uint32_t place);
  void report_in_flight(std::uintptr_t address, unsigned bytes, memory_operation operation,
                        std::uint32_t place);
  void report_unfenced(std::uintptr_t shared, std::size_t bytes, bool into_shared, std::uint32_t place);
  void report_bulk(const std::vector<bulk_copy>& copies, std::uintptr_t address, unsigned bytes,
                   memory_operation operation, std::uint32_t place);
  [[noreturn, gnu::noinline]] void stop_outside(std::uintptr_t address, unsigned bytes,
                                                memory_operation operation, std::uint32_t place);
  [[gnu::noinline]] void note_global(global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                                     const global_access& access);
  std::string prefix(std::uint32_t place, unsigned thread) const;
  std::string text_of_thread(unsigned thread, std::optional<dim3> block = std::nullopt) const;
  std::string text_of_other_block(std::uint64_t block) const;
  void note_test(std::uintptr_t address);
  void note_load(std::uint32_t place, std::uint32_t atomic, const std::string& text);
  void judge_loads();
  void report(fault kind, const std::string& text);
  void report_unwritten_reads();
  void report_race(const global_conflict& conflict, const global_access& access, std::uintptr_t address,
                   unsigned bytes);
  void report_unwritten(const global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                        const global_access& access);
  void report_shared(const shared_conflict& conflict, const shared_access& access, std::uintptr_t address,
                     unsigned bytes);

  std::unique_ptr<compiled_code> compiled_code_;  // lives longer than what counts by it
  std::vector<std::unique_ptr<kernel_record>> records_;
  kernel_record* record_ = nullptr;  // of the launch that is under way
  // Of the kernel's earlier launches, while this one may be counted again.
  std::vector<site_counters> counted_before_;
  std::uint64_t barriers_before_ = 0;
  std::uint64_t collectives_before_ = 0;
  copy_counts bulk_before_;
  std::shared_ptr<compiled_counts::totals> compiled_before_;
  bool barrier_is_partial_ = false;
  dim3 grid_, block_size_;
  uint3 block_{};
  std::uint64_t block_number_ = 0;
  std::size_t dynamic_bytes_ = 0;
  std::uintptr_t dynamic_begin_ = 0;
  std::uintptr_t shared_begin_ = 0;  // of the OS thread that shared_ is laid out for
  warp_trace trace_;
  warp_counter counter_;
  counting_threads counting_{the_program().bytes};
  std::uint32_t epochs_ = 0;
  std::vector<std::unique_ptr<shared_shadow>> shadows_;  // of the blocks of a cluster, by rank
  shared_shadow* shared_ = nullptr;                      // of the block that runs
  dim3 cluster_{};
  unsigned rank_ = 0;
  uint3 first_of_cluster_{};
  std::uint32_t cluster_began_ = shared_shadow::no_cluster;
  // What was told across blocks, by addresses that all blocks of a cluster have for it.
  std::unordered_map<std::uintptr_t, shared_shadow::shared_beyond> told_beyond_;
  bool begins_early_ = false, is_early_ = false;  // the next launch; this one
  struct {
    std::string kernel;
    dim3 grid, block;
  } before_;  // the launch before an early one
  // By the words of shared memory that they write: those that nobody has waited for.
  struct asynchronous_copy {
    unsigned thread;
    std::uint32_t place;
    bool is_at_barrier = false;  // which is told when it is over
  };
  using asynchronous_copies = std::unordered_map<std::uintptr_t, asynchronous_copy>;
  asynchronous_copies in_flight_;
  std::vector<bulk_copy> bulk_;                       // of the block, not over
  bool has_bulk_tiles_ = false;                       // bulk copies fill them, or may
  std::uintptr_t tables_begin_ = 0, tables_end_ = 0;  // of virtual functions, all
  std::set<std::uintptr_t> tables_of_kernels_;        // those of objects that kernels have made
  // Launches that the host may not have waited for: the blocks are numbered through all launches.
  struct unfinished_launch {
    std::uint32_t first_block, last_block;
    std::string kernel;
    stream_work work;
  };
  std::mutex ahead_mutex_;  // of these, and of the ranges of global memory, against other threads of the host
  std::vector<unfinished_launch> unfinished_;
  std::uint32_t first_block_ = 0;                                    // of this launch
  std::unordered_map<std::uintptr_t, std::uint32_t> mapped_writes_;  // words of host memory, by the block
  global_shadow global_;
  std::string kernel_name_;  // of the launch
  std::uintptr_t arguments_begin_ = 0;
  std::uintptr_t host_stack_ = 0;  // within its frame
  std::size_t argument_bytes_ = 0;
  std::vector<std::uintptr_t> host_pointers_;  // among the arguments
  bool saw_events_ = false;                    // in this launch: the kernel is one that is observed
  std::optional<std::string> launch_failure_;
  bool is_told_ = false;  // the last strong access may have been told of what others have done
  std::vector<unjudged> unjudged_;
  std::map<std::uint32_t, flag_writes> flags_;
  std::map<std::uint32_t, bool> same_values_;  // places of which that was said
  // What the last access has to be undone for: a late value that stands in memory until it has been read.
  std::uintptr_t late_address_ = 0;
  unsigned late_bytes_ = 0;
  std::array<unsigned char, 8> late_value_{};
  std::map<std::uintptr_t, late_read> late_reads_;  // of the block, not read again
  std::map<std::uintptr_t, bool> late_delivered_;   // of the block
  std::vector<observed_fault> faults_;
  std::vector<std::string> warnings_;
  // Pairs of places, in this launch; false: two writes, of the same value so far.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> reported_;
  // Plain loads of what other threads change by atomic functions, by place, and the places of loads whose
  // thread goes on to such a function of its own, on the same word and behind a branch.
  struct load_beside_atomics {
    std::string text;
    std::set<std::uint32_t> atomics;  // places
  };
  std::map<std::uint32_t, load_beside_atomics> loads_beside_atomics_;
  std::set<std::uint32_t> tests_before_atomics_;
  // Of each atomicCAS() in this launch the value that it writes; none where it writes several.
  std::map<std::uint32_t, std::optional<std::uint64_t>> swapped_values_;
  std::optional<std::string> block_failure_;
  // By place. Said at the next barrier, unless another thread has written there until then: that is a race.
  std::map<std::uint32_t, std::string> unwritten_reads_;
  std::optional<std::uint64_t> wanted_block_;
  std::vector<observed_block> kept_;
  access_log* log_ = nullptr;  // of the block that runs, if it is wanted
  std::vector<touched_array> shared_variables_;
  // Of the blocks that rest, by number.
  struct resting_block {
    warp_trace::call_depths depths{};
    access_log* log = nullptr;
    bool has_bulk_tiles = false;
    std::vector<bulk_copy> bulk{};
    asynchronous_copies in_flight{};
    std::map<std::uint32_t, std::string> unwritten_reads{};
    std::map<std::uintptr_t, late_read> late_reads{};
    std::map<std::uintptr_t, bool> late_delivered{};
  };
  std::map<std::uint64_t, resting_block> resting_;
};

// What the callbacks need at every access.
struct callbacks {
  using recorder = observation::recorder;

  std::uintptr_t device_begin = 0, device_bytes = 0;
  std::uintptr_t program_begin = 0;
  recorder* observer = nullptr;  // null: nobody observes
};
extern constinit callbacks the_callbacks;

// What they know of the OS thread that calls them: host code of other threads runs beside a kernel.
struct running_lane {
  std::uintptr_t shared_begin = 0, shared_bytes = 0;
  std::uintptr_t stack_begin = 0, stack_bytes = 0;  // of the running thread
  lane_stream* stream = nullptr;                    // of the running lane; null outside of kernels
  lane_stream* ready_stream = nullptr;              // the same, but null while `unfinished`
  unsigned thread = 0;                              // its number within the block
  bool unfinished = false;                          // after_access() has something to do

  void set_stream(lane_stream* now) {
    stream = now;
    ready_stream = unfinished ? nullptr : now;
  }
  void set_unfinished(bool now) {
    unfinished = now;
    ready_stream = unfinished ? nullptr : stream;
  }
};
extern constinit thread_local running_lane the_lane;

// For as long as it exists the emulator runs instead of a kernel: what it accesses is not observed.
class unobserved {
 public:
  unobserved() { the_lane.set_stream(nullptr); }
  unobserved(const unobserved&) = delete;
  unobserved& operator=(const unobserved&) = delete;
  ~unobserved() { the_lane.set_stream(stream_); }

 private:
  lane_stream* const stream_ = the_lane.stream;
};

inline unsigned observation::recorder::the_thread() {
  return the_lane.thread;
}

inline bool observation::recorder::ignores_shared(std::uintptr_t address) const {
  return shared_->ignores(address - the_lane.shared_begin);
}

inline bool observation::recorder::note_harmless(std::uintptr_t address, unsigned words,
                                                 memory_operation operation, std::uint32_t place) {
  const std::size_t offset = address - the_lane.shared_begin;
  const unsigned thread = the_lane.thread;
  if (!in_flight_.empty() || !bulk_.empty() || shared_->is_outside(offset, 4 * words)) return false;
  if (operation == memory_operation::store) {
    const std::size_t in_dynamic = address - dynamic_begin_;
    const bool beyond = in_dynamic < sizeof lab_dynamic_shared && in_dynamic + 4 * words > dynamic_bytes_;
    return !beyond && shared_->note_harmless_store(offset, words, thread, place);
  }
  if (!shared_->note_harmless_load(offset, words, thread, place)) return false;
  for (unsigned byte = 0; byte < 4 * words; byte += 4) {
    if (shared_->is_known(offset + byte)) the_known_reads.add_for_block(address + byte);
  }
  return true;
}

}  // namespace lab::emulator
