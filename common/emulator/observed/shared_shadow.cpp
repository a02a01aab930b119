#include "common/emulator/observed/shared_shadow.hpp"

#include <algorithm>
#include <bit>

namespace lab::emulator {
namespace {

unsigned lane_of(unsigned thread) {
  return thread % warp_lanes;
}
unsigned warp_of(unsigned thread) {
  return thread / warp_lanes;
}

shared_conflict with(unsigned thread, std::uint32_t place, bool wrote, bool both_write = false,
                     bool is_atomic = false) {
  return {shared_conflict::access{thread, place, wrote, both_write, is_atomic}};
}

}  // namespace

void shared_shadow::resize(std::size_t bytes) {
  words_.assign(bytes / 4 + 1, {});
  bytes_.assign(4 * words_.size(), {});
  ignored_.assign(words_.size(), 0);
}

void shared_shadow::ignore(std::size_t offset, std::size_t bytes) {
  for (std::size_t byte = offset; byte < offset + bytes; ++byte) ignored_[byte / 4] = 1;
}

void shared_shadow::begin_block() {
  block_began_ = ++epoch_;
}

void shared_shadow::warp_synchronized(unsigned warp, unsigned lanes) {
  const std::uint32_t turn = ++turn_[warp];
  if (lanes == all_lanes) {
    seen_by_all_[warp] = turn;
    return;
  }
  // Each learns what any of the others knew.
  std::array<std::uint32_t, warp_lanes> together{};
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto& one = seen_[warp][static_cast<unsigned>(std::countr_zero(left))];
    for (unsigned other = 0; other < warp_lanes; ++other)
      together[other] = std::max(together[other], one[other]);
  }
  for (unsigned left = lanes; left != 0; left &= left - 1)
    together[static_cast<unsigned>(std::countr_zero(left))] = turn;
  for (unsigned left = lanes; left != 0; left &= left - 1)
    seen_[warp][static_cast<unsigned>(std::countr_zero(left))] = together;
}

bool shared_shadow::ordered(unsigned earlier, std::uint32_t turn, unsigned now) const {
  if (earlier == now) return true;
  const unsigned warp = warp_of(now);
  if (warp_of(earlier) != warp) return false;
  return turn < seen_by_all_[warp] || turn < seen_[warp][lane_of(now)][lane_of(earlier)];
}

std::optional<shared_conflict> shared_shadow::note(std::size_t offset, unsigned bytes,
                                                   const shared_access& access) {
  std::optional<shared_conflict> found;
  const auto keep_first = [&found](std::optional<shared_conflict> conflict) {
    if (conflict && !found) found = conflict;
  };
  const std::size_t end = offset + bytes;
  for (std::size_t word = offset / 4; word * 4 < end; ++word) {
    cell& whole = words_[word];
    const bool covers_word = word * 4 >= offset && word * 4 + 4 <= end;
    const bool stale = whole.written_in < block_began_ && whole.read_in < block_began_;
    if (stale && whole.in_bytes) whole.in_bytes = false;
    if (covers_word && !whole.in_bytes) {
      keep_first(note(whole, access));
      continue;
    }
    cell* const parts = &bytes_[4 * word];
    if (!whole.in_bytes) {
      std::fill(parts, parts + 4, whole);
      whole.in_bytes = true;
    }
    for (std::size_t byte = std::max(offset, word * 4); byte < std::min(end, word * 4 + 4); ++byte) {
      keep_first(note(parts[byte - word * 4], access));
    }
    whole.read_in = epoch_;  // not stale
  }
  return found;
}

std::optional<shared_conflict> shared_shadow::note(cell& at, const shared_access& access) {
  std::optional<shared_conflict> conflict = conflict_with_writers(at, access);
  if (access.operation == memory_operation::load) {
    if (!conflict && at.written_in < block_began_) conflict = shared_conflict{};
    add_reader(at, access);
  } else {
    if (!conflict) conflict = conflict_with_readers(at, access);
    add_writer(at, access);
  }
  return conflict;
}

std::optional<shared_conflict> shared_shadow::conflict_with_writers(const cell& at,
                                                                    const shared_access& access) const {
  if (at.written_in != epoch_) return std::nullopt;
  if (at.plain_in == epoch_ && !ordered(at.plain_writer, at.plain_turn, access.thread))
    return with(at.plain_writer, at.plain_place, true, access.operation == memory_operation::store);
  if (at.atomic && access.operation == memory_operation::atomic) return std::nullopt;
  if (!ordered(at.writer, at.write_turn, access.thread))
    return with(at.writer, at.write_place, true, false, at.atomic);
  if (at.has_second_writer && !ordered(at.second_writer, at.write_turn, access.thread)) {
    return with(at.second_writer, at.second_write_place, true, false, at.atomic);
  }
  return std::nullopt;
}

std::optional<shared_conflict> shared_shadow::conflict_with_readers(const cell& at,
                                                                    const shared_access& access) const {
  if (at.read_in != epoch_) return std::nullopt;
  if (at.read_warp != warp_of(access.thread)) return with(at.reader, at.read_place, false);
  if (!ordered(at.reader, at.read_turn, access.thread)) return with(at.reader, at.read_place, false);
  for (unsigned left = at.read_lanes; left != 0; left &= left - 1) {
    const unsigned reader = at.read_warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left));
    if (!ordered(reader, at.read_turn, access.thread)) return with(reader, at.read_place, false);
  }
  if (at.has_second_reader) return with(at.second, at.second_place, false);
  return std::nullopt;
}

void shared_shadow::add_writer(cell& at, const shared_access& access) {
  const bool atomic = access.operation == memory_operation::atomic;
  const bool beside = atomic && at.atomic && at.written_in == epoch_ && at.writer != access.thread;
  if (beside) {
    at.has_second_writer = true;
    at.second_writer = at.writer;
    at.second_write_place = at.write_place;
  } else if (!(atomic && at.atomic && at.written_in == epoch_)) {
    at.has_second_writer = false;
  }
  set_writer(at, access);
}

}  // namespace lab::emulator
