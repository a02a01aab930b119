// Which block has touched which device memory during a launch: finds accesses outside of allocations, and
// blocks that race. Internal.
//
// Blocks run one after the other here, on a GPU in any order. Two accesses of one location by two blocks, one
// of them a write, are a race unless both are atomic (volatile counts as such), or the first block called
// __threadfence() after its access and the second had made an atomic access before its own: that is how
// blocks hand over data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/device_memory.hpp"
#include "common/emulator/observed/warp_trace.hpp"

namespace lab::emulator {

struct global_access {
  unsigned thread;
  std::uint32_t place;
  memory_operation operation;
  bool strong;  // atomic or volatile: made to be seen by other blocks
};

struct global_conflict {
  std::uint64_t block;  // linear index
  unsigned thread;
  std::uint32_t place;
  bool wrote;
};

class global_shadow {
 public:
  // Of 4 bytes. Blocks are counted through all launches, so that older entries are known as such; 0 is none.
  struct cell {
    std::uint32_t writer = 0;
    std::uint32_t reader = 0;  // the first of this launch: later ones are in conflict with no fewer writers
    std::uint32_t write_place = 0;
    std::uint32_t read_place = 0;
    std::uint16_t write_thread : 10 = 0;
    std::uint16_t write_bytes : 4 = 0;  // one bit each
    std::uint16_t strong : 1 = 0;
    std::uint16_t fenced : 1 = 0;  // the block had called __threadfence() before
    std::uint16_t read_thread : 10 = 0;
    std::uint16_t read_bytes : 4 = 0;
  };
  struct range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    cell* cells = nullptr;
  };

  global_shadow() = default;
  global_shadow(const global_shadow&) = delete;
  global_shadow& operator=(const global_shadow&) = delete;
  ~global_shadow();

  // Looks at all allocations anew.
  void begin_launch(std::uint64_t blocks);
  void end_launch();
  void begin_block(std::uint64_t block);
  void fence_passed();

  // The range around an access of `bytes` that lies within an allocation's usable part; null otherwise. The
  // last two are found fast: most kernels read from one array and write to another.
  range* find(std::uintptr_t address, unsigned bytes) {
    if (address - last_->begin <= last_->bytes - bytes && last_->bytes >= bytes) return last_;
    return find_elsewhere(address, bytes);
  }
  // In words, of an access that find() did not find: "offset 12 of an allocation of 8 bytes".
  std::string describe_outside(std::uintptr_t address) const;

  // Whether noting the access would change nothing: what this block has read before is in no new conflict
  // when it reads it again; nor is what nobody writes and another block is known to have read.
  bool is_known(const range& in, std::uintptr_t address, unsigned bytes, memory_operation operation,
                bool strong) const {
    const cell* const cells = in.cells + (address - in.begin) / 4;
    const auto is_known_read = [this](const cell& at) {
      return at.reader == block_ ||
             (at.reader > launch_began_ && at.read_bytes == 0xf && at.writer <= launch_began_);
    };
    return operation == memory_operation::load && !strong && bytes >= 4 && is_known_read(cells[0]) &&
           is_known_read(cells[(bytes - 1) / 4]);
  }
  std::optional<global_conflict> note(range& in, std::uintptr_t address, unsigned bytes,
                                      const global_access& access) {
    return note_cells(in.cells + (address - in.begin) / 4, address % 4, bytes, access);
  }

 private:
  struct history {
    std::uint32_t fences = 0;
    bool acquired = false;  // has made a strong access
  };

  range* find_elsewhere(std::uintptr_t address, unsigned bytes);
  std::optional<global_conflict> note_cells(cell* cells, unsigned first_byte, unsigned bytes,
                                            const global_access& access);
  bool in_order(std::uint32_t earlier, bool fenced) const;
  std::optional<global_conflict> conflict_of(const cell& at, unsigned mask,
                                             const global_access& access) const;
  void add(cell& at, unsigned mask, const global_access& access);

  std::vector<range> ranges_;  // by address
  range nothing_;
  range* last_ = &nothing_;
  range* last_but_one_ = &nothing_;
  std::uint32_t launch_began_ = 0;  // the last block of the launch before
  std::uint32_t blocks_ = 0;
  std::uint32_t block_ = 0;
  std::vector<history> histories_;  // of the launch's blocks
};

}  // namespace lab::emulator
