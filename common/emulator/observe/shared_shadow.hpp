// Who has touched which shared memory since the last block barrier: finds races and reads of what nobody
// wrote. Internal.
//
// Two accesses of one location by two threads, one of them a write, are a race unless both are atomic or the
// first happened before the second. What orders them, in any number of steps:
//  * a block barrier, or a __syncwarp() that both take part in
//  * a fence of one thread and then a strong access (atomic or volatile) of some location, and a strong
//  access
//    of that location by the other thread
// It does not matter which came first here.
//
// Each block of a cluster has a shadow of its own. Threads of other blocks are ordered by what tells them
// across blocks: the cluster's barrier, barriers in shared memory, strong accesses.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/emulator/core/dialect.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

struct shared_access {
  unsigned thread;  // number within the block
  std::uint32_t place;
  memory_operation operation;
  bool by_copy = false;  // of a bulk copy
  bool is_volatile = false;
};

// What a new access is in conflict with; without `earlier`, with nothing: it reads what its block never
// wrote.
struct shared_conflict {
  struct access {
    unsigned thread;
    std::uint32_t place;
    bool wrote;
    bool both_write = false;  // plainly: no race that matters if they write the same
    bool is_atomic = false;   // what was written was changed by an atomic function
  };
  std::optional<access> earlier;
};

class shared_shadow {
  // Of each thread of the block the first turn of its warp that is not known of.
  using knowledge = std::array<std::uint32_t, 1024>;
  using shared_knowledge = std::shared_ptr<const knowledge>;

 public:
  static constexpr unsigned block_threads = 1024, block_warps = block_threads / warp_lanes;
  // What a thread knows of other blocks of its cluster: all before an epoch of theirs, and of that epoch so
  // much; and whether the kernel before has ended.
  struct beyond_block {
    struct of_block {
      std::uint32_t epoch = 0;
      shared_knowledge in_epoch;
    };
    std::array<of_block, most_cluster_blocks> blocks;
    bool kernel_before = false;
  };
  using shared_beyond = std::shared_ptr<const beyond_block>;

  // `epochs` numbers those of all shadows.
  explicit shared_shadow(std::uint32_t& epochs) : epochs_(epochs) {}
  // For `bytes` of memory. Forgets everything.
  void resize(std::size_t bytes);
  // Bytes that are no shared memory: of the emulator's own, accesses of which mean nothing, and of those that
  // no kernel may touch. All others are shared memory.
  enum class use : std::uint8_t { shared, ignored, outside };
  void mark(std::size_t offset, std::size_t bytes, use how);

  // `cluster_began`: the epoch in which the block's cluster did.
  static constexpr std::uint32_t no_cluster = std::numeric_limits<std::uint32_t>::max();
  void begin_block(unsigned rank = 0, std::uint32_t cluster_began = no_cluster);
  void barrier_passed();
  // The block goes on after others have run: what it has not written is not known any more.
  void resume_block() {
    begin_epoch();
    block_began_ = 0;
    forget_proxy_fences();
  }
  void warp_synchronized(unsigned warp, unsigned lanes);
  // Whoever makes a strong access of what this thread writes strongly from here on knows what it knows now.
  void fence_passed(unsigned thread);
  // A strong access, of shared or device memory. Whether it is one that is told what others have done.
  bool strong_access(unsigned thread, std::uintptr_t address, memory_operation operation);
  // What the thread knows, for threads of other blocks, and what it is told.
  shared_beyond tell(unsigned thread) const;
  void be_told(unsigned thread, const shared_beyond& what);
  bool knows_kernel_before(unsigned thread) const {
    return (known_by_all_ && known_by_all_->kernel_before) ||
           (beyond_[thread] && beyond_[thread]->kernel_before);
  }
  static shared_beyond join(const shared_beyond& one, const shared_beyond& other);
  // The thread's next strong access tells others what it has done, and tells it nothing: it arrives and does
  // not wait.
  void release_only(unsigned thread) { only_releases_ = thread; }

  // fence.proxy.async: what has happened before it is seen by bulk copies that it happens before.
  void proxy_fence_passed(unsigned thread);
  // The last ordinary write of any of these bytes that a copy of this thread, if it began now, need not see:
  // no such fence stands between, neither the writer's nor one behind what orders the write.
  std::optional<shared_conflict::access> unfenced_write(std::size_t offset, std::size_t bytes,
                                                        unsigned thread) const;

  // Whether what thread `earlier` did in that turn of its warp happened before what thread `now` does. Of
  // this epoch: what a block barrier orders is not asked for.
  bool ordered(unsigned earlier, std::uint32_t turn, unsigned now) const;
  // Whether what a thread of the cluster did in that epoch and turn happened before what thread `now` of this
  // block does.
  bool happened_before(unsigned earlier, std::uint32_t epoch, std::uint32_t turn, unsigned now) const {
    if (epoch == epoch_) return ordered(earlier % block_threads, turn, now);
    return epoch < cluster_began_ || earlier / block_threads == rank_ ||
           is_told_of(known_by_all_, earlier, epoch, turn) || is_told_of(beyond_[now], earlier, epoch, turn);
  }
  std::uint32_t turn_of(unsigned warp) const { return turn_[warp]; }
  std::uint32_t epoch() const { return epoch_; }

  bool ignores(std::size_t offset) const { return uses_[offset / 4] == use::ignored; }
  bool is_outside(std::size_t offset, std::size_t bytes) const {
    return uses_[offset / 4] == use::outside || uses_[(offset + bytes - 1) / 4] == use::outside;
  }
  // Notes the access of bytes [offset, offset + bytes) by a thread of the block whose shadow is `by`.
  std::optional<shared_conflict> note(std::size_t offset, unsigned bytes, const shared_access& access,
                                      const shared_shadow& by);
  std::optional<shared_conflict> note(std::size_t offset, unsigned bytes, const shared_access& access) {
    return note(offset, bytes, access, *this);
  }
  // Notes a load of whole words, if that can be in conflict with nothing: the block has written them, and not
  // in this epoch. Otherwise false, and nothing is noted.
  bool note_harmless_load(std::size_t offset, unsigned words, unsigned thread, std::uint32_t place) {
    if (cluster_began_ != no_cluster) return false;
    cell* const first = &words_[offset / 4];
    for (cell* at = first; at != first + words; ++at) {
      if (at->in_bytes || at->written_in == epoch_ || at->written_in < block_began_) return false;
    }
    for (cell* at = first; at != first + words; ++at)
      add_reader(*at, {thread, place, memory_operation::load}, *this);
    return true;
  }
  // Likewise a plain store, if nobody has touched the words in this epoch.
  bool note_harmless_store(std::size_t offset, unsigned words, unsigned thread, std::uint32_t place) {
    if (cluster_began_ != no_cluster) return false;
    cell* const first = &words_[offset / 4];
    for (cell* at = first; at != first + words; ++at) {
      if (at->in_bytes || at->written_in == epoch_ || at->read_in == epoch_) return false;
    }
    for (cell* at = first; at != first + words; ++at) {
      at->has_second_writer = false;
      set_writer(*at, {thread, place, memory_operation::store}, *this);
    }
    return true;
  }
  // Whether a further load of the word by any thread of the block would make no difference: threads of two
  // warps have read what was written before this epoch.
  bool is_known(std::size_t offset) const {
    const cell& at = words_[offset / 4];
    return !at.in_bytes && at.read_in == epoch_ && at.has_second_reader && at.written_in != epoch_ &&
           at.written_in >= block_began_;
  }

 private:
  // Of a word of 4 bytes, or of one byte where single bytes have been accessed. Two threads are remembered
  // for each side: a third is in conflict with one of the two, unless it is both. A thread is one of the
  // cluster: its number in its block, and 1024 times the block's rank.
  struct cell {
    std::uint32_t written_in = 0;  // epoch of the last write
    std::uint32_t read_in = 0;
    std::uint32_t read_turn = 0;
    std::uint32_t read_place = 0;  // of the last reader in `read_warp`
    std::uint32_t read_lanes = 0;  // of `read_warp`, since the turn
    std::uint32_t second_in = 0;
    std::uint32_t second_place = 0;
    std::uint32_t second_turn = 0;
    std::uint16_t reader = 0;  // the last
    std::uint16_t read_warp = 0;
    std::uint16_t second = 0;  // a reader of another warp
    bool has_second_reader = false;
    bool in_bytes = false;  // this word's bytes have cells of their own
    bool atomic = false;
    bool has_second_writer = false;  // of atomic ones
    bool by_copy = false;            // the last write is a bulk copy's
    bool all_volatile = false;       // the reads that `reader` stands for
    bool second_volatile = false;
    bool is_volatile = false;         // the last plain write is
    bool announces = false;           // and its thread has called a fence before
    std::uint32_t fences_before = 0;  // proxy fences that the writer had called since the block goes on
    std::uint16_t writer = 0;
    std::uint16_t second_writer = 0;
    std::uint16_t plain_writer = 0;
    std::uint32_t write_turn = 0;  // of the writer's warp
    std::uint32_t write_place = 0;
    std::uint32_t second_write_place = 0;
    std::uint32_t second_write_turn = 0;
    // The last plain write, which an atomic that follows does not make good.
    std::uint32_t plain_in = 0;
    std::uint32_t plain_turn = 0;
    std::uint32_t plain_place = 0;
  };

  void begin_epoch();
  void forget_proxy_fences();
  bool is_fenced(const cell& at, unsigned thread) const;
  static shared_knowledge join(const shared_knowledge& one, const shared_knowledge& other);

  std::optional<shared_conflict> note_cell(cell& at, const shared_access& access,
                                           const shared_shadow& by) const;
  // Of accesses by this shadow's threads.
  std::optional<shared_conflict> conflict_with_writers(const cell& at, const shared_access& access) const;
  std::optional<shared_conflict> conflict_with_readers(const cell& at, const shared_access& access) const;
  static void add_reader(cell& at, const shared_access& access, const shared_shadow& by);
  static void add_writer(cell& at, const shared_access& access, const shared_shadow& by);
  static void set_writer(cell& at, const shared_access& access, const shared_shadow& by);
  // Whether a volatile store and a volatile or atomic load of another warp are meant for each other. Within a
  // warp they are code that counts on lanes in lockstep.
  bool is_hand_over(unsigned other, bool announced, const shared_access& access) const {
    const unsigned own_warp = rank_ * block_warps + access.thread / warp_lanes;
    return other / warp_lanes != own_warp && (announced || other / block_threads != rank_);
  }
  bool announces(const shared_access& access) const {
    return access.is_volatile && access.operation == memory_operation::store && at_fence_[access.thread];
  }
  static bool is_told_of(const shared_beyond& told, unsigned earlier, std::uint32_t epoch,
                         std::uint32_t turn) {
    if (!told) return false;
    const beyond_block::of_block& of = told->blocks[earlier / block_threads];
    return of.epoch > epoch ||
           (of.epoch == epoch && of.in_epoch && turn < (*of.in_epoch)[earlier % block_threads]);
  }

  // Zeros take memory only where they are used.
  struct free_memory {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<cell[], free_memory> words_, bytes_;
  std::vector<use> uses_;  // by word
  std::uint32_t& epochs_;
  std::uint32_t epoch_ = 1;  // grows with every barrier and every block
  unsigned rank_ = 0;
  std::uint32_t cluster_began_ = no_cluster;
  shared_beyond known_by_all_;  // since the last barrier
  std::array<shared_beyond, block_threads> beyond_;
  bool has_beyond_ = false;
  std::uint32_t block_began_ = 1;
  // A warp's turn grows with each of its __syncwarp() and fences. seen_[warp][l][m]: what lane m did before
  // this turn has happened before what lane l does now.
  std::array<std::uint32_t, warp_lanes> turn_{};
  std::array<std::uint32_t, warp_lanes> seen_by_all_{};
  std::vector<std::array<std::array<std::uint32_t, warp_lanes>, warp_lanes>> seen_{warp_lanes};
  // Of this epoch, if any thread has called a fence: what threads have been told by strong accesses; what
  // they knew at their last fence; what those knew who have made strong accesses of an address.
  bool has_fences_ = false;
  std::optional<unsigned> only_releases_;  // the thread
  std::array<shared_knowledge, 1024> told_, at_fence_;
  std::unordered_map<std::uintptr_t, shared_knowledge> released_;
  // Of each thread, since the block began or went on: when it called proxy fences, and what it knew at the
  // last.
  struct proxy_fence {
    std::uint32_t epoch;
    std::uint32_t turn;  // of its warp
  };
  struct fencing_thread {
    std::vector<proxy_fence> fences;
    shared_knowledge told;
    std::uint32_t seen_by_all = 0;
    std::array<std::uint32_t, warp_lanes> seen{};
  };
  std::array<fencing_thread, 1024> fencing_;
  std::vector<unsigned> have_fenced_;     // threads that have called one
  std::uint32_t fences_known_since_ = 1;  // the epoch
};

inline void shared_shadow::add_reader(cell& at, const shared_access& access, const shared_shadow& by) {
  const unsigned warp = access.thread / warp_lanes, of_cluster = by.rank_ * block_warps + warp;
  const std::uint32_t lane = 1u << access.thread % warp_lanes;
  // A reader of another block stays, unless it is known of.
  const auto stays = [&](unsigned reader, std::uint32_t epoch, std::uint32_t turn) {
    return epoch >= by.cluster_began_ && reader / block_threads != by.rank_ &&
           !by.happened_before(reader, epoch, turn, access.thread);
  };
  if (at.read_in != by.epoch_ && !stays(at.reader, at.read_in, at.read_turn)) {
    at.read_in = by.epoch_;
    at.read_warp = static_cast<std::uint16_t>(of_cluster);
    at.read_turn = by.turn_[warp];
    at.read_lanes = 0;
    at.has_second_reader = at.has_second_reader && stays(at.second, at.second_in, at.second_turn);
  }
  if (at.read_warp != of_cluster) {
    at.has_second_reader = true;
    at.second = static_cast<std::uint16_t>(by.rank_ * block_threads + access.thread);
    at.second_in = by.epoch_;
    at.second_volatile = access.is_volatile;
    at.second_place = access.place;
    at.second_turn = by.turn_[warp];
    return;
  }
  // Readers before a __syncwarp() of all lanes need not be remembered: what comes is ordered behind them.
  // Behind one of some lanes the older turn stays, which may miss a race, and never invents one.
  if (at.read_turn < by.seen_by_all_[warp]) {
    at.read_turn = by.turn_[warp];
    at.read_lanes = 0;
  }
  at.all_volatile = access.is_volatile && (at.read_lanes == 0 || at.all_volatile);
  at.read_lanes |= lane;
  at.reader = static_cast<std::uint16_t>(by.rank_ * block_threads + access.thread);
  at.read_place = access.place;
}

inline void shared_shadow::set_writer(cell& at, const shared_access& access, const shared_shadow& by) {
  const bool atomic = access.operation == memory_operation::atomic;
  at.written_in = by.epoch_;
  at.write_turn = by.turn_[access.thread / warp_lanes];
  at.writer = static_cast<std::uint16_t>(by.rank_ * block_threads + access.thread);
  at.write_place = access.place;
  at.atomic = atomic;
  at.by_copy = access.by_copy;
  at.fences_before = static_cast<std::uint32_t>(by.fencing_[access.thread].fences.size());
  if (atomic) return;
  at.is_volatile = access.is_volatile;
  at.announces = by.announces(access);
  at.plain_in = by.epoch_;
  at.plain_turn = at.write_turn;
  at.plain_place = access.place;
  at.plain_writer = at.writer;
}

}  // namespace lab::emulator
