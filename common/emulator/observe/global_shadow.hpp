// Who has touched which device memory during a launch: finds accesses outside of allocations, and threads and
// blocks that race. Internal.
//
// Blocks run one after the other here, on a GPU in any order. Two accesses of one location, one of them a
// write, are a race unless both are strong (atomic or volatile), or something orders them:
//  * of two blocks, the first called __threadfence() after its access, and the second had made a strong
//  access
//    before its own: that is how blocks hand over data
//  * of two threads of a block, what orders accesses of shared memory (shared_shadow.hpp)
//  * of two blocks of one cluster, what orders their accesses of shared memory, too
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/observe/known_reads.hpp"
#include "common/emulator/observe/shared_shadow.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

enum class strength : std::uint8_t { plain, is_volatile, is_atomic };

struct global_access {
  unsigned thread;
  std::uint32_t place;
  memory_operation operation;
  strength strong;  // other than plain: made to be seen by others
};

struct global_conflict {
  std::uint64_t block;  // linear index
  unsigned thread;
  std::uint32_t place;
  bool wrote;
  bool same_block;
  // The thread that writes had read the location before: it may be a flag that is set once.
  bool tested_before;
  bool is_atomic = false;         // what was written was changed by an atomic function
  bool of_kernel_before = false;  // whose blocks are meant
};

class global_shadow {
 public:
  // Of 4 bytes, or of one byte where single bytes have been accessed in this launch. Blocks are counted
  // through all launches, so that older entries are known as such; 0 is none. So are epochs: one begins with
  // each block and each of its barriers.
  struct alignas(64) cell {
    std::uint32_t writer = 0;
    std::uint32_t reader = 0;  // the first of this launch: later ones are in conflict with no fewer writers
    std::uint32_t write_place = 0;
    std::uint32_t read_place = 0;
    std::uint32_t write_epoch = 0;
    std::uint32_t write_turn = 0;  // of the writer's warp (shared_shadow.hpp)
    // Two threads that have read in one epoch, the second of another warp if there is one.
    std::uint32_t near_epoch = 0;
    std::uint32_t near_turn = 0;
    std::uint32_t near_place = 0;
    std::uint32_t second_turn = 0;
    std::uint32_t second_place = 0;
    // The block's last atomic behind a plain write of its own, which is what other blocks are compared with.
    std::uint32_t atomic_epoch = 0;
    std::uint32_t atomic_turn = 0;
    std::uint32_t atomic_place = 0;
    unsigned atomic_thread : 10 = 0;
    unsigned write_thread : 10 = 0;
    unsigned read_thread : 10 = 0;
    unsigned strong : 2 = 0;
    unsigned near_thread : 10 = 0;
    unsigned second_thread : 10 = 0;  // the same: there is no second
    unsigned in_bytes : 1 = 0;        // this word's bytes have cells of their own
    unsigned ever_written : 4 = 0;    // of a word: its bytes, one bit each, since the allocation
    unsigned fences : 7 = 0;          // that the block had called before it wrote; 127 or more

    [[nodiscard]] bool has_second() const { return second_thread != near_thread; }
    [[nodiscard]] bool far_second() const { return second_thread / warp_lanes != near_thread / warp_lanes; }
  };
  static_assert(sizeof(cell) == 64, "a line of the cache");
  struct range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    cell* cells = nullptr;                  // of the words, by their addresses
    const std::string* variable = nullptr;  // the name of a __device__ variable
    cell* parts = nullptr;                  // of the bytes of these words; null: nobody has asked for one

    [[nodiscard]] std::size_t word_of(std::uintptr_t address) const { return address / 4 - begin / 4; }
  };

  global_shadow() = default;
  global_shadow(const global_shadow&) = delete;
  global_shadow& operator=(const global_shadow&) = delete;
  ~global_shadow();

  // What orders the threads of the block that runs.
  void set_order(const shared_shadow& of_block) { warps_ = &of_block; }
  // Looks at all allocations anew. `early`: the launch may begin before the one before it has ended.
  void begin_launch(dim3 grid, dim3 cluster, bool early);
  void end_launch();
  // All blocks have waited for each other: what they did before is ordered as if it were another launch's.
  void grid_passed();
  void begin_block(std::uint64_t block);
  void barrier_passed();
  void fence_passed() { ++now().fences; }

  // The range around an access of `bytes` that lies within an allocation's usable part; null otherwise. The
  // last two are found fast: most kernels read from one array and write to another.
  range* find(std::uintptr_t address, unsigned bytes) {
    if (address - last_->begin <= last_->bytes - bytes && last_->bytes >= bytes) return last_;
    return find_elsewhere(address, bytes);
  }
  // The __device__ variable that the address lies in, or just behind; null if there is none.
  range* find_variable(std::uintptr_t address);
  // In words, of an access that find() did not find: "offset 12 of an allocation of 8 bytes".
  std::string describe_outside(std::uintptr_t address) const;

  // Whether noting a load would change nothing: this thread, or two of which it is no better witness, have
  // read the same in this epoch, and nobody of the block has written it. Other blocks do not run meanwhile.
  bool is_known(const range& in, std::uintptr_t address, unsigned bytes, unsigned thread) const {
    const std::size_t word = in.word_of(address);
    const cell* const cells = in.cells + word;
    const unsigned warp = thread / warp_lanes;
    const auto is_read_by_warp = [&](const cell& at) {
      return at.has_second() && at.near_thread / warp_lanes == warp && at.near_turn == warps_->turn_of(warp);
    };
    const auto is_read_before = [&](const cell& at) {
      return at.near_epoch == epoch_ && at.write_epoch != epoch_ && !at.in_bytes;
    };
    const auto is_known_read = [&](const cell& at, std::uintptr_t from) {
      if (!is_read_before(at)) return false;
      if (at.far_second() || at.near_thread == thread) return true;
      const bool by_warp = is_read_by_warp(at);
      if (by_warp && bytes <= 8 && at.atomic_epoch != epoch_ && from % 4 == 0)
        the_known_reads.add_for_warp(from);
      return by_warp;
    };
    if (bytes >= 4) {
      return is_known_read(cells[0], address) &&
             (bytes == 4 || is_known_read(cells[(bytes - 1) / 4], address + bytes - 4));
    }
    if (address % 4 + bytes > 4 || !cells->in_bytes) return false;
    const cell* const parts = in.parts + 4 * word + address % 4;
    return std::all_of(parts, parts + bytes, [&](const cell& at) {
      return is_read_before(at) && (at.far_second() || at.near_thread == thread || is_read_by_warp(at));
    });
  }
  std::optional<global_conflict> note(range& in, std::uintptr_t address, unsigned bytes,
                                      const global_access& access);
  // Notes a plain load or store of one whole word, if that can be in conflict with nothing: only this thread
  // has written it in this launch, or its block before the last barrier. Otherwise false, and nothing is
  // noted.
  bool note_harmless(range& in, std::uintptr_t address, const global_access& access);
  // The blocks of this launch, counted through all launches.
  [[nodiscard]] std::uint32_t first_block() const { return launch_began_ + 1; }
  [[nodiscard]] std::uint32_t last_block() const { return launch_began_ + blocks_; }
  [[nodiscard]] std::uint32_t running_block() const { return block_; }
  // The blocks that have written, or else read, any of these bytes last. For other threads of the host.
  [[nodiscard]] std::vector<std::uint32_t> blocks_of(std::uintptr_t address, unsigned bytes,
                                                     bool readers) const;
  // Whether no kernel has written any of these bytes since they were allocated.
  bool nobody_wrote(const range& in, std::uintptr_t address, unsigned bytes) const;

  // Of a volatile write that another block reads without being ordered behind it: whether the writer has made
  // what comes after it visible, and the reader has looked at that. Then it may still read the old value.
  struct late_value {
    std::uint64_t block;
    unsigned thread;
    std::uint32_t place;
    std::array<unsigned char, 8> before;
  };
  std::optional<late_value> may_come_late(const range& in, std::uintptr_t address, unsigned bytes) const;
  // Before a volatile write of up to 8 bytes.
  void keep_value(std::uintptr_t address, unsigned bytes);

 private:
  struct history {
    std::uint32_t fences = 0;
    std::uint32_t strong_writes = 0;
    bool acquired = false;  // has made a strong access
  };
  struct kept_value {
    std::uint32_t block = 0;
    std::uint32_t strong_writes = 0;  // that the block had made, this one included
    std::uint32_t fences = 0;
    std::array<unsigned char, 8> before{};
  };

  range* find_elsewhere(std::uintptr_t address, unsigned bytes);
  std::optional<global_conflict> note_cell(cell& at, const global_access& access);
  cell* split(range& in, std::size_t word);
  history& now() { return histories_[block_ - launch_began_ - 1]; }
  const history& now() const { return histories_[block_ - launch_began_ - 1]; }
  bool in_order(std::uint32_t earlier, unsigned fences) const;
  bool in_order(const cell& at, unsigned thread) const;
  std::optional<unsigned> rank_in_cluster(std::uint32_t block) const;
  // The block of the running one's cluster that has read there last, if it is another one.
  std::optional<std::uint32_t> neighbour_that_read(const cell& at) const;
  void tell_readers(std::uintptr_t word, const cell& at) const;
  std::optional<global_conflict> conflict_of(const cell& at, const global_access& access) const;
  void add_read(cell& at, const global_access& access);
  void add(cell& at, const global_access& access);

  const shared_shadow* warps_ = nullptr;
  std::vector<range> ranges_;  // by address
  std::map<std::uintptr_t, range> variables_;
  range nothing_;
  range* last_ = &nothing_;
  range* last_but_one_ = &nothing_;
  std::uint32_t launch_began_ = 0;  // the last block of the launch before
  std::uint32_t early_from_ = 0;    // the one before the first block that need not have ended
  std::uint32_t blocks_ = 0;
  dim3 grid_{}, cluster_{};
  std::uint32_t block_ = 0;
  std::uint32_t epoch_ = 0;  // of the running block's shadow
  // Of a launch of clusters, whose blocks take turns: the first epoch, and the block of each from there on.
  std::uint32_t first_epoch_ = 0;
  std::vector<std::uint32_t> block_of_epoch_;
  std::vector<history> histories_;             // of the launch's blocks
  std::map<std::uintptr_t, kept_value> kept_;  // of the launch, by address
};

}  // namespace lab::emulator
