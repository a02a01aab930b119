#include "common/emulator/observed/global_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "common/emulator/diagnostics.hpp"

namespace lab::emulator {
namespace {

std::size_t cells_of(std::size_t bytes) {
  return bytes / 4 + 1;
}

// Zeros that take memory only where they are written.
global_shadow::cell* map_cells(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(global_shadow::cell), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<global_shadow::cell*>(memory);
}

void unmap(const global_shadow::range& one) {
  munmap(one.cells, cells_of(one.bytes) * sizeof(global_shadow::cell));
}

}  // namespace

global_shadow::~global_shadow() {
  for (const range& one : ranges_) unmap(one);
}

void global_shadow::begin_launch(std::uint64_t blocks) {
  std::vector<range> now;
  auto known = ranges_.begin();
  // Both lists are sorted by address, and an address that was freed is not used again soon.
  for (const device_memory::range& usable : device_memory::instance().usable_ranges()) {
    for (; known != ranges_.end() && known->begin < usable.begin; ++known) unmap(*known);
    if (known != ranges_.end() && known->begin == usable.begin && known->bytes == usable.bytes) {
      now.push_back(*known++);
    } else {
      if (known != ranges_.end() && known->begin == usable.begin) unmap(*known++);
      now.push_back({usable.begin, usable.bytes, map_cells(cells_of(usable.bytes))});
    }
  }
  for (; known != ranges_.end(); ++known) unmap(*known);
  ranges_ = std::move(now);
  last_ = last_but_one_ = &nothing_;
  launch_began_ += blocks_;
  if (blocks > std::numeric_limits<std::uint32_t>::max() - launch_began_ - 1) {
    for (const range& one : ranges_) std::fill_n(one.cells, cells_of(one.bytes), cell{});
    launch_began_ = 0;
  }
  blocks_ = static_cast<std::uint32_t>(blocks);
  histories_.assign(blocks_ + 1, {});
}

void global_shadow::end_launch() {
  last_ = last_but_one_ = &nothing_;
}

void global_shadow::begin_block(std::uint64_t block) {
  block_ = launch_began_ + 1 + static_cast<std::uint32_t>(block);
}

void global_shadow::fence_passed() {
  ++histories_[block_ - launch_began_ - 1].fences;
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

std::string global_shadow::describe_outside(std::uintptr_t address) const {
  // Farther away an access is not taken for a step beside an allocation.
  constexpr std::uintptr_t near = 1 << 20;
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

// Whether the block's accesses, made after a fence or not, happened before what the current block does.
bool global_shadow::in_order(std::uint32_t earlier, bool fenced) const {
  const history& now = histories_[block_ - launch_began_ - 1];
  const history& then = histories_[earlier - launch_began_ - 1];
  return now.acquired && then.fences > (fenced ? 1u : 0u);
}

std::optional<global_conflict> global_shadow::note_cells(cell* cells, unsigned first_byte, unsigned bytes,
                                                         const global_access& access) {
  std::optional<global_conflict> found;
  const unsigned end = first_byte + bytes;
  for (unsigned begin = 0; begin < end; begin += 4, ++cells) {
    unsigned mask = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      if (begin + byte >= first_byte && begin + byte < end) mask |= 1u << byte;
    }
    if (!found) found = conflict_of(*cells, mask, access);
    add(*cells, mask, access);
  }
  if (access.strong) histories_[block_ - launch_began_ - 1].acquired = true;
  return found;
}

std::optional<global_conflict> global_shadow::conflict_of(const cell& at, unsigned mask,
                                                          const global_access& access) const {
  const bool other_wrote = at.writer > launch_began_ && at.writer != block_ && (at.write_bytes & mask) != 0;
  if (other_wrote && !(access.strong && at.strong)) {
    const bool handed_over =
        at.strong ? histories_[block_ - launch_began_ - 1].acquired : in_order(at.writer, at.fenced);
    if (!handed_over)
      return global_conflict{at.writer - launch_began_ - 1, at.write_thread, at.write_place, true};
  }
  if (access.operation == memory_operation::load) return std::nullopt;
  const bool other_read = at.reader > launch_began_ && at.reader != block_ && (at.read_bytes & mask) != 0;
  if (other_read && !in_order(at.reader, false)) {
    return global_conflict{at.reader - launch_began_ - 1, at.read_thread, at.read_place, false};
  }
  return std::nullopt;
}

void global_shadow::add(cell& at, unsigned mask, const global_access& access) {
  if (access.operation == memory_operation::load) {
    if (access.strong) return;
    if (at.reader == block_) {
      at.read_bytes |= mask & 0xf;
    } else if (at.reader <= launch_began_ || (at.read_bytes & mask) == 0) {
      at.reader = block_;
      at.read_place = access.place;
      at.read_thread = access.thread & 0x3ff;
      at.read_bytes = mask & 0xf;
    }
    return;
  }
  // An atomic does not make good what the block has written plainly before.
  if (access.strong && at.writer == block_ && !at.strong && (at.write_bytes & mask) == mask) return;
  at.write_bytes = (at.writer == block_ ? at.write_bytes | mask : mask) & 0xf;
  at.writer = block_;
  at.write_place = access.place;
  at.write_thread = access.thread & 0x3ff;
  at.strong = access.strong;
  at.fenced = histories_[block_ - launch_began_ - 1].fences > 0;
}

}  // namespace lab::emulator
