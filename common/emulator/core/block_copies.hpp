// The phase barriers (mbarrier) and bulk asynchronous copies of the block that runs. PTX ISA, sections
// "mbarrier" and "cp.async.bulk". Internal.
//
// A copy is done when it is least convenient and still legal. One into shared memory leaves a pattern in its
// destination, and lands when no thread of the block can go on otherwise, one at a time and in an order that
// a seed draws. One out of shared memory reads when its thread waits for that, or when the block ends, and
// writes when the block ends. In blocks that the seed draws, half of the copies are done at once instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/tensor_copy_functions.hpp"

namespace lab::emulator {

// What the 64 bits of a barrier in shared memory hold.
struct phase_barrier {
  static constexpr unsigned most_arrivals = (1u << 20) - 1;
  static constexpr int most_bytes = (1 << 20) - 1;

  unsigned arrivals = 0;  // that end a phase
  unsigned missing = 0;   // of the current phase
  int bytes = 0;          // expected in it, and not yet there; below 0: there, and not yet expected
  bool is_odd = false;    // the current phase

  [[nodiscard]] std::uint64_t packed() const;
  static phase_barrier unpacked(std::uint64_t word);
  [[nodiscard]] bool is_over() const { return missing == 0 && bytes == 0; }
};

class block_copies {
 public:
  void begin_block(std::uint64_t seed, unsigned char pattern);
  // Whether the next copy, or product, is one of those that are done when they begin.
  bool happens_at_once() { return is_early_ && draw() % 2 == 0; }

  // ---- barriers. Each returns what is wrong; empty if nothing is.
  std::string initialise(std::uint64_t* barrier, int arrivals, unsigned thread, place where);
  // The thread's initialisations so far are known to copies.
  void fence_initialisations(unsigned thread);
  // Expects `bytes` more in the current phase, and arrives if `arrives`. May end the phase, whose
  // parity it says. Where it `drops`, later phases need an arrival less.
  std::string arrive(std::uint64_t* barrier, bool arrives, std::int64_t bytes, bool drops, unsigned& parity);
  // Whether phase `phase` may be waited for; 0 and 1 may stand for any phase of that parity.
  std::string refuse_wait(const std::uint64_t* barrier, unsigned phase) const;
  [[nodiscard]] bool has_ended(const std::uint64_t* barrier, unsigned phase) const;
  // "phase 1 of the barrier initialised at FILE:LINE, of which 1 of 2 arrivals and 16 bytes are missing".
  [[nodiscard]] std::string text_of_phase(const std::uint64_t* barrier) const;

  // ---- copies. The addresses have been checked.
  struct origin {
    uint3 block;
    unsigned thread;
  };
  // `source`: that of the block in whose shared memory `from` lies, while that runs; null: device memory.
  std::string copy_in(void* shared, const void* from, std::size_t bytes, std::uint64_t* barrier, origin by,
                      place where, const block_copies* source = nullptr);
  std::string copy_in(void* shared, const tensor_box& box, std::uint64_t* barrier, origin by, place where);
  void copy_out(void* global, const void* shared, std::size_t bytes, origin by, place where);
  void copy_out(const tensor_box& box, const void* shared, origin by, place where);
  void commit_group(unsigned thread);
  // All groups of the thread but the last `pending` have left shared memory, which is returned.
  std::vector<std::pair<const void*, std::size_t>> wait_group_read(unsigned thread, std::size_t pending);
  // They have been written, too.
  void write_groups(unsigned thread, std::size_t pending);

  // ---- cp.async: copies that their thread waits for in groups, or that a barrier is told of. Each lands
  // when its thread waits for it, in land_one() where a barrier is told of it, or when it begins.
  struct thread_copy {
    void* shared;
    const void* from;
    std::size_t bytes, taken;  // the rest is zeros
    const void* return_address;
    std::uint64_t number, group;
    bool is_done;                // when it began
    bool is_at_barrier = false;  // which is told of it
  };
  void copy_by_thread(void* shared, const void* from, std::size_t bytes, std::size_t taken, unsigned thread,
                      const void* return_address);
  void commit_thread_copies(unsigned thread);
  // Those of the thread's groups but the last `pending` land; `all`: those in no group, too.
  std::vector<thread_copy> wait_for_thread_copies(unsigned thread, std::size_t pending, bool all);
  // Those that the thread has begun so far and no barrier was to be told of; now one is.
  std::vector<thread_copy> leave_to_barrier(unsigned thread);
  // When all that the thread has begun so far have landed, one arrives at the barrier: one that its phase
  // waits for besides, where `is_extra`.
  std::string arrive_behind_copies(std::uint64_t* barrier, bool is_extra, origin by, place where);

  // Copies into shared memory that have not landed.
  [[nodiscard]] bool has_copies_in() const { return !in_.empty(); }
  // Of one that reads the shared memory of `source`.
  struct left_copy {
    place where;
    origin by;
    bool is_out = false;
  };
  [[nodiscard]] std::optional<left_copy> find_copy_from(const block_copies& source) const;
  // Whether one of them writes any of these bytes.
  [[nodiscard]] bool is_in_flight(const void* shared, std::size_t bytes) const;
  // Lets one of them land, and says what is wrong then.
  struct landing {
    std::uint64_t* barrier;
    std::vector<std::pair<const void*, std::size_t>> places;
    origin by;
    place where;
    std::string complaint;
  };
  // One thread's copies for whose barrier nobody waits mostly land behind those of one that is awaited.
  landing land_one(const std::function<bool(const std::uint64_t* barrier)>& is_awaited);
  // The block has ended: copies out are completed. Where a copy began that nobody has waited for.
  std::optional<left_copy> end_block();
  // What has been, and is, called by its address while the block runs lies so many bytes behind that now.
  void move(std::ptrdiff_t distance) { distance_ = distance; }

 private:
  struct known_barrier {
    std::uint64_t word;
    unsigned phase;
    unsigned thread;  // that has initialised it
    place where;
    bool is_fenced;
  };
  struct pending_in {
    void* shared;
    const void* from;
    std::size_t bytes;
    std::uint64_t* barrier;
    origin by;
    place where;
    const block_copies* source;
    std::optional<tensor_box> box{};  // instead of `from`
    // Instead of both: those before this number of copies of its thread.
    std::optional<std::uint64_t> thread_copies{};
  };
  struct thread_queue {
    std::vector<thread_copy> copies;  // that nobody knows to be over
    std::uint64_t begun = 0, groups = 0;
  };
  struct pending_out {
    void* global;
    const void* shared;
    std::size_t bytes;
    origin by;
    place where;
    std::uint64_t group;
    bool is_read = false;
    std::vector<unsigned char> values{};  // until the block ends; empty if they have been written
    std::optional<tensor_box> box{};      // instead of `global`
    void perform(const void* from) const;
  };

  std::uint64_t draw();
  std::string complaint(const std::uint64_t* barrier) const;
  void store(std::uint64_t* barrier, phase_barrier now);
  std::string complete(std::uint64_t* barrier, std::size_t bytes);
  std::string begin(const pending_in& copy);
  void begin(pending_out copy);
  void perform(const pending_in& copy) const;
  void perform(const thread_copy& copy) const;
  // Those of the thread's for which `is_over` says so.
  template <class Test>
  std::vector<thread_copy> land(unsigned thread, Test is_over);
  void read(pending_out& copy) const;
  // Whether it is of the thread's groups but the last `pending`.
  bool is_waited_for(const pending_out& copy, unsigned thread, std::size_t pending);
  // Where it lies now.
  template <class T>
  T* here(T* address) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) +
                                static_cast<std::uintptr_t>(distance_));
  }

  std::ptrdiff_t distance_ = 0;
  std::uint64_t random_ = 0;
  bool is_early_ = false;
  unsigned char pattern_ = 0;
  std::unordered_map<std::uintptr_t, known_barrier> barriers_;
  std::vector<pending_in> in_;
  std::vector<pending_out> out_;
  std::unordered_map<unsigned, std::uint64_t> groups_;  // that the thread has committed
  std::unordered_map<unsigned, thread_queue> of_thread_;
};

}  // namespace lab::emulator
