#include "common/emulator/observe/global_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/source_lines.hpp"

namespace lab::emulator {
namespace {

// Wherever within a word they begin.
constexpr unsigned most_fences = 127;  // that a cell counts

std::size_t cells_of(std::size_t bytes) {
  return (bytes + 3) / 4 + 1;
}

// Of zeros in large pages: most ranges are written whole, but one that is not may be as large as all memory.
constexpr std::size_t most_in_large_pages = std::size_t{256} << 20;

// Zeros that take memory only where they are written.
template <class T>
T* map_zeros(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (count * sizeof(T) <= most_in_large_pages) madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
  return static_cast<T*>(memory);
}

global_shadow::range map(std::uintptr_t begin, std::size_t bytes, const std::string* variable = nullptr) {
  return {begin, bytes, map_zeros<global_shadow::cell>(cells_of(bytes)), variable};
}

void unmap(const global_shadow::range& one) {
  munmap(one.cells, cells_of(one.bytes) * sizeof(global_shadow::cell));
  if (one.parts != nullptr) munmap(one.parts, 4 * cells_of(one.bytes) * sizeof(global_shadow::cell));
}

}  // namespace

global_shadow::~global_shadow() {
  for (const range& one : ranges_) unmap(one);
  for (const auto& [begin, one] : variables_) unmap(one);
}

void global_shadow::begin_launch(dim3 grid, dim3 cluster, bool early) {
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  grid_ = grid;
  cluster_ = cluster;
  std::vector<range> now;
  auto known = ranges_.begin();
  const auto drop = [](const range& one) {
    // What kernels have written there is not known any more.
    device_memory::instance().note_written(reinterpret_cast<const void*>(one.begin), one.bytes);
    unmap(one);
  };
  // Both lists are sorted by address, and an address that was freed is not used again soon.
  for (const device_memory::range& usable : device_memory::instance().usable_ranges()) {
    for (; known != ranges_.end() && known->begin < usable.begin; ++known) drop(*known);
    if (known != ranges_.end() && known->begin == usable.begin && known->bytes == usable.bytes) {
      now.push_back(*known++);
    } else {
      if (known != ranges_.end() && known->begin == usable.begin) drop(*known++);
      now.push_back(map(usable.begin, usable.bytes));
    }
  }
  for (; known != ranges_.end(); ++known) drop(*known);
  ranges_ = std::move(now);
  last_ = last_but_one_ = &nothing_;
  early_from_ = launch_began_;
  launch_began_ += blocks_;
  if (!early) early_from_ = launch_began_;
  if (blocks > std::numeric_limits<std::uint32_t>::max() - launch_began_ - 1) {
    const auto clear = [](const range& one) {
      for (cell* at = one.cells; at != one.cells + cells_of(one.bytes); ++at) {
        const auto written = at->ever_written;
        *at = {};
        at->ever_written = written;
      }
    };
    for (const range& one : ranges_) clear(one);
    for (const auto& [begin, one] : variables_) clear(one);
    launch_began_ = early_from_ = 0;
  }
  blocks_ = static_cast<std::uint32_t>(blocks);
  block_of_epoch_.clear();
  histories_.assign(blocks_ + 1, {});
  kept_.clear();
}

std::vector<std::uint32_t> global_shadow::blocks_of(std::uintptr_t address, unsigned bytes,
                                                    bool readers) const {
  std::vector<std::uint32_t> blocks;
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uintptr_t value, const range& one) { return value < one.begin; });
  if (after == ranges_.begin()) return blocks;
  const range& in = *std::prev(after);
  if (in.bytes < bytes || address - in.begin > in.bytes - bytes) return blocks;
  const auto add = [&](const cell& at) {
    blocks.push_back(at.writer);
    if (readers) blocks.push_back(at.reader);
  };
  for (std::uintptr_t byte = address; byte < address + bytes; ++byte) {
    const std::size_t word = in.word_of(byte);
    if (in.cells[word].in_bytes && in.parts != nullptr) {
      add(in.parts[4 * word + byte % 4]);
    } else if (byte == address || byte % 4 == 0) {
      add(in.cells[word]);
    }
  }
  return blocks;
}

void global_shadow::end_launch() {
  last_ = last_but_one_ = &nothing_;
}

void global_shadow::grid_passed() {
  launch_began_ += blocks_;
  early_from_ = launch_began_;
  histories_.assign(blocks_ + 1, {});
  kept_.clear();
}

void global_shadow::begin_block(std::uint64_t block) {
  block_ = launch_began_ + 1 + static_cast<std::uint32_t>(block);
  barrier_passed();
}

global_shadow::range* global_shadow::find_elsewhere(std::uintptr_t address, unsigned bytes) {
  std::swap(last_, last_but_one_);
  if (address - last_->begin <= last_->bytes - bytes && last_->bytes >= bytes) return last_;
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uintptr_t value, const range& one) { return value < one.begin; });
  if (after == ranges_.begin()) return nullptr;
  range& found = *std::prev(after);
  if (found.bytes < bytes || address - found.begin > found.bytes - bytes) return nullptr;
  last_ = &found;
  return last_;
}

global_shadow::range* global_shadow::find_variable(std::uintptr_t address) {
  const device_variable* const variable = find_device_variable(address - the_program().begin);
  if (variable == nullptr) return nullptr;
  const std::uintptr_t begin = variable->begin + the_program().begin;
  const auto [entry, is_new] = variables_.try_emplace(begin);
  if (is_new) entry->second = map(begin, variable->bytes, &variable->name);
  return &entry->second;
}

std::string global_shadow::describe_outside(std::uintptr_t address) const {
  // Farther away an access is not taken for a step beside an allocation.
  constexpr std::uintptr_t near = 1 << 20;
  const std::string other = device_memory::instance().describe(reinterpret_cast<const void*>(address));
  if (other.ends_with("freed")) return other.substr(3);  // without its "at "
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uintptr_t value, const range& one) { return value < one.begin; });
  std::uintptr_t behind = near, before = near;
  if (after != ranges_.begin()) {
    const std::uintptr_t end = std::prev(after)->begin + std::prev(after)->bytes;
    behind = address > end ? address - end : 0;  // it may begin inside
  }
  if (after != ranges_.end()) before = after->begin - address;
  if (behind < near && behind <= before) {
    return format("offset %zu of an allocation of %zu bytes", address - std::prev(after)->begin,
                  std::prev(after)->bytes);
  }
  if (before < near) return format("offset -%zu of an allocation of %zu bytes", before, after->bytes);
  return "an address that lies in no allocation";
}

void global_shadow::barrier_passed() {
  epoch_ = warps_->epoch();
  if (cluster_.x * cluster_.y * cluster_.z == 1) return;
  if (block_of_epoch_.empty()) first_epoch_ = epoch_;
  if (block_of_epoch_.size() <= epoch_ - first_epoch_) block_of_epoch_.resize(epoch_ - first_epoch_ + 1);
  block_of_epoch_[epoch_ - first_epoch_] = block_;
}

std::optional<std::uint32_t> global_shadow::neighbour_that_read(const cell& at) const {
  if (at.near_epoch - first_epoch_ >= block_of_epoch_.size() || at.near_epoch == epoch_) return std::nullopt;
  const std::uint32_t block = block_of_epoch_[at.near_epoch - first_epoch_];
  return block != block_ && rank_in_cluster(block) ? std::optional(block) : std::nullopt;
}

// The block's rank in the cluster of the current one; nothing if that is another.
std::optional<unsigned> global_shadow::rank_in_cluster(std::uint32_t block) const {
  if (cluster_.x * cluster_.y * cluster_.z == 1) return std::nullopt;
  const auto at = [this](std::uint32_t one) {
    const std::uint32_t number = one - launch_began_ - 1, row = number / grid_.x;
    return std::array{number % grid_.x, row % grid_.y, row / grid_.y};
  };
  const auto own = at(block_), other = at(block);
  if (own[0] / cluster_.x != other[0] / cluster_.x || own[1] / cluster_.y != other[1] / cluster_.y ||
      own[2] / cluster_.z != other[2] / cluster_.z)
    return std::nullopt;
  return (other[2] % cluster_.z * cluster_.y + other[1] % cluster_.y) * cluster_.x + other[0] % cluster_.x;
}

// Whether the last write of another block happened before what a thread of the current one does.
bool global_shadow::in_order(const cell& at, unsigned thread) const {
  if (const auto rank = rank_in_cluster(at.writer);
      rank && warps_->happened_before(*rank * shared_shadow::block_threads + at.write_thread, at.write_epoch,
                                      at.write_turn, thread))
    return true;
  // What was changed atomically is where all blocks look for it.
  if (at.strong == static_cast<unsigned>(strength::is_atomic)) return now().acquired;
  return in_order(at.writer, at.fences);
}

// Whether the block's access, made after so many fences, happened before what the current block does.
bool global_shadow::in_order(std::uint32_t earlier, unsigned fences) const {
  const history& then = histories_[earlier - launch_began_ - 1];
  return now().acquired && (then.fences > fences || fences == most_fences);
}

// Whether they need not be noted any more.
inline void global_shadow::tell_readers(std::uintptr_t word, const cell& at) const {
  if (!at.in_bytes && at.near_epoch == epoch_ && at.far_second() && at.write_epoch != epoch_ &&
      at.atomic_epoch != epoch_) {
    the_known_reads.add_for_block(word);
  } else {
    the_known_reads.remove(word);
  }
}

bool global_shadow::note_harmless(range& in, std::uintptr_t address, const global_access& access) {
  if (address % 4 != 0) return false;
  cell& at = in.cells[in.word_of(address)];
  if (at.in_bytes) return false;
  const bool own = at.writer == block_ && at.atomic_epoch != epoch_ &&
                   (at.write_epoch != epoch_ || at.write_thread == access.thread);
  if (at.writer > early_from_ && !own) return false;
  if (access.operation == memory_operation::load) {
    add_read(at, access);
    tell_readers(address, at);
    return true;
  }
  const bool others_read =
      at.near_epoch == epoch_ || (at.reader > early_from_ && at.reader != block_) || neighbour_that_read(at);
  if (access.operation != memory_operation::store || others_read) return false;
  at.ever_written = 0xf;
  add(at, access);
  return true;
}

// The cells of the word's bytes, which begin with what is known of the word.
global_shadow::cell* global_shadow::split(range& in, std::size_t word) {
  if (in.parts == nullptr) in.parts = map_zeros<cell>(4 * cells_of(in.bytes));
  cell& whole = in.cells[word];
  cell* const parts = in.parts + 4 * word;
  if (!whole.in_bytes) {
    std::fill(parts, parts + 4, whole);  // which have no parts themselves
    whole.in_bytes = 1;
  }
  whole.reader = block_;  // touched in this launch
  return parts;
}

std::optional<global_conflict> global_shadow::note_cell(cell& at, const global_access& access) {
  const auto conflict = conflict_of(at, access);
  add(at, access);
  return conflict;
}

std::optional<global_conflict> global_shadow::note(range& in, std::uintptr_t address, unsigned bytes,
                                                   const global_access& access) {
  std::optional<global_conflict> found;
  const auto keep_first = [&found](const std::optional<global_conflict>& conflict) {
    if (!found) found = conflict;
  };
  constexpr unsigned whole_word = 0xf;
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t begin = address; begin < end;) {
    const std::uintptr_t word_address = begin / 4 * 4, next = std::min(word_address + 4, end);
    const std::size_t word = in.word_of(begin);
    const unsigned mask = (whole_word >> (4 - (next - begin))) << begin % 4;
    cell& whole = in.cells[word];
    if (whole.in_bytes && whole.writer <= launch_began_ && whole.reader <= launch_began_) whole.in_bytes = 0;
    if (access.operation != memory_operation::load) whole.ever_written |= mask & whole_word;
    if (mask == whole_word && !whole.in_bytes) {
      keep_first(note_cell(whole, access));
    } else {
      cell* const parts = split(in, word);
      for (; begin < next; ++begin) keep_first(note_cell(parts[begin % 4], access));
    }
    tell_readers(word_address, whole);
    begin = next;
  }
  if (access.strong != strength::plain) {
    history& mine = now();
    mine.acquired = true;
    mine.strong_writes += access.operation != memory_operation::load;
  }
  return found;
}

std::optional<global_conflict> global_shadow::conflict_of(const cell& at, const global_access& access) const {
  const bool strong = access.strong != strength::plain;
  const bool is_load = access.operation == memory_operation::load;
  const auto has_tested = [&at](unsigned thread) {
    return at.near_epoch != 0 &&
           (at.near_thread == thread || (at.has_second() && at.second_thread == thread));
  };
  // Of the kernel before, for which this thread has not waited.
  const auto is_early = [&](std::uint32_t block) {
    return block > early_from_ && block <= launch_began_ && !strong &&
           !warps_->knows_kernel_before(access.thread);
  };
  if (is_early(at.writer))
    return global_conflict{
        at.writer - early_from_ - 1, at.write_thread, at.write_place, true, false, false, false, true};
  if (!is_load && is_early(at.reader))
    return global_conflict{
        at.reader - early_from_ - 1, at.read_thread, at.read_place, false, false, false, false, true};
  if (at.writer > launch_began_ && !(strong && at.strong != 0)) {
    bool ordered = true;
    if (at.writer == block_) {
      ordered = at.write_epoch != epoch_ || at.write_thread == access.thread ||
                warps_->ordered(at.write_thread, at.write_turn, access.thread);
    } else {
      ordered = in_order(at, access.thread);
    }
    if (!ordered) {
      return global_conflict{at.writer - launch_began_ - 1,
                             at.write_thread,
                             at.write_place,
                             true,
                             at.writer == block_,
                             is_load && has_tested(at.write_thread),
                             at.strong == static_cast<unsigned>(strength::is_atomic)};
    }
  }
  if (!strong && at.writer == block_ && at.atomic_epoch == epoch_ &&
      !warps_->ordered(at.atomic_thread, at.atomic_turn, access.thread))
    return global_conflict{
        block_ - launch_began_ - 1, at.atomic_thread, at.atomic_place, true, true, false, true};
  if (is_load) return std::nullopt;
  if (at.near_epoch == epoch_) {
    const auto near = [&](unsigned thread, std::uint32_t place) {
      return global_conflict{block_ - launch_began_ - 1, thread, place, false, true,
                             has_tested(access.thread)};
    };
    if (!warps_->ordered(at.near_thread, at.near_turn, access.thread))
      return near(at.near_thread, at.near_place);
    if (at.has_second() && !warps_->ordered(at.second_thread, at.second_turn, access.thread))
      return near(at.second_thread, at.second_place);
  }
  if (const auto reader = neighbour_that_read(at)) {
    const auto is_unordered = [&](unsigned thread, std::uint32_t turn) {
      return !in_order(*reader, 0) &&
             !warps_->happened_before(*rank_in_cluster(*reader) * shared_shadow::block_threads + thread,
                                      at.near_epoch, turn, access.thread);
    };
    const auto far = [&](unsigned thread, std::uint32_t place) {
      return global_conflict{*reader - launch_began_ - 1, thread, place, false, false,
                             has_tested(access.thread)};
    };
    if (is_unordered(at.near_thread, at.near_turn)) return far(at.near_thread, at.near_place);
    if (at.has_second() && is_unordered(at.second_thread, at.second_turn))
      return far(at.second_thread, at.second_place);
  }
  const bool other_read = at.reader > launch_began_ && at.reader != block_;
  // Of the first reader in the same cluster it is not known when it was.
  if (other_read && !rank_in_cluster(at.reader) && !in_order(at.reader, 0)) {
    return global_conflict{at.reader - launch_began_ - 1, at.read_thread, at.read_place, false, false,
                           has_tested(access.thread)};
  }
  return std::nullopt;
}

void global_shadow::add_read(cell& at, const global_access& access) {
  const unsigned warp = access.thread / warp_lanes;
  const auto be_the_first = [&] {
    at.near_turn = warps_->turn_of(warp);
    at.near_thread = at.second_thread = access.thread & 0x3ff;
    at.near_place = access.place;
  };
  if (at.near_epoch != epoch_) {
    at.near_epoch = epoch_;
    be_the_first();
  } else if (at.near_thread != access.thread && !at.far_second()) {
    // Readers before a __syncwarp() or another hand-over need not be remembered.
    if (warps_->ordered(at.near_thread, at.near_turn, access.thread) &&
        (!at.has_second() || warps_->ordered(at.second_thread, at.second_turn, access.thread))) {
      be_the_first();
    } else {
      at.second_thread = access.thread & 0x3ff;
      at.second_turn = warps_->turn_of(warp);
      at.second_place = access.place;
    }
  } else if (at.near_thread == access.thread && !at.has_second()) {
    be_the_first();
  }
  if (at.reader <= launch_began_) {
    at.reader = block_;
    at.read_place = access.place;
    at.read_thread = access.thread & 0x3ff;
  }
}

void global_shadow::add(cell& at, const global_access& access) {
  const bool strong = access.strong != strength::plain;
  if (access.operation == memory_operation::load) {
    if (!strong) add_read(at, access);
    return;
  }
  // An atomic does not make good what the block has written plainly before.
  if (strong && at.writer == block_ && at.strong == 0) {
    at.atomic_epoch = epoch_;
    at.atomic_turn = warps_->turn_of(access.thread / warp_lanes);
    at.atomic_thread = access.thread & 0x3ff;
    at.atomic_place = access.place;
    return;
  }
  at.writer = block_;
  at.write_place = access.place;
  at.write_epoch = epoch_;
  at.write_turn = warps_->turn_of(access.thread / warp_lanes);
  at.write_thread = access.thread & 0x3ff;
  at.strong = static_cast<unsigned>(access.strong) & 3;
  at.fences = std::min(most_fences, now().fences) & most_fences;
}

bool global_shadow::nobody_wrote(const range& in, std::uintptr_t address, unsigned bytes) const {
  const cell* at = in.cells + in.word_of(address);
  for (unsigned begin = 0; begin < address % 4 + bytes; begin += 4, ++at) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const bool within = begin + byte >= address % 4 && begin + byte < address % 4 + bytes;
      if (within && (at->ever_written >> byte & 1) != 0) return false;
    }
  }
  return true;
}

void global_shadow::keep_value(std::uintptr_t address, unsigned bytes) {
  kept_value& kept = kept_[address];
  kept.block = block_;
  kept.strong_writes = now().strong_writes + 1;
  kept.fences = now().fences;
  std::memcpy(kept.before.data(), reinterpret_cast<const void*>(address), std::min<std::size_t>(bytes, 8));
}

std::optional<global_shadow::late_value> global_shadow::may_come_late(const range& in, std::uintptr_t address,
                                                                      unsigned bytes) const {
  const std::size_t word = in.word_of(address);
  const cell& at = in.cells[word].in_bytes ? in.parts[4 * word + address % 4] : in.cells[word];
  if (bytes > 8 || at.writer <= launch_began_ || at.writer == block_ || !now().acquired ||
      at.strong != static_cast<unsigned>(strength::is_volatile)) {
    return std::nullopt;
  }
  const auto kept = kept_.find(address);
  if (kept == kept_.end() || kept->second.block != at.writer) return std::nullopt;
  if (rank_in_cluster(at.writer)) return std::nullopt;
  const history& then = histories_[at.writer - launch_began_ - 1];
  if (then.fences > kept->second.fences || then.strong_writes <= kept->second.strong_writes)
    return std::nullopt;
  return late_value{at.writer - launch_began_ - 1, at.write_thread, at.write_place, kept->second.before};
}

}  // namespace lab::emulator
