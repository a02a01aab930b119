#include "common/emulator/observe/shared_shadow.hpp"

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
  uses_.assign(words_.size(), use::shared);
}

void shared_shadow::mark(std::size_t offset, std::size_t bytes, use how) {
  for (std::size_t byte = offset; byte < offset + bytes; ++byte) uses_[byte / 4] = how;
}

void shared_shadow::begin_block() {
  begin_epoch();
  block_began_ = epoch_;
  forget_proxy_fences();
}

void shared_shadow::forget_proxy_fences() {
  for (const unsigned thread : have_fenced_) fencing_[thread] = {};
  have_fenced_.clear();
  fences_known_since_ = epoch_;
}

void shared_shadow::proxy_fence_passed(unsigned thread) {
  fencing_thread& mine = fencing_[thread];
  if (mine.fences.empty()) have_fenced_.push_back(thread);
  const unsigned warp = warp_of(thread);
  mine.fences.push_back({epoch_, turn_[warp]});
  mine.told = told_[thread];
  mine.seen_by_all = seen_by_all_[warp];
  mine.seen = seen_[warp][lane_of(thread)];
}

bool shared_shadow::is_fenced(const cell& at, unsigned thread) const {
  if (at.written_in < fences_known_since_ || at.by_copy) return true;
  const std::vector<proxy_fence>& own = fencing_[at.writer].fences;
  if (at.fences_before < own.size()) {
    const proxy_fence& first = own[at.fences_before];
    if (first.epoch < epoch_ || ordered(at.writer, first.turn, thread)) return true;
  }
  // Of another thread's fence it is not asked whether it happened before the copy.
  return std::any_of(have_fenced_.begin(), have_fenced_.end(), [&](unsigned other) {
    const fencing_thread& by = fencing_[other];
    if (other == at.writer) return false;
    if (by.fences.back().epoch > at.written_in) return true;
    if (by.told && at.write_turn < (*by.told)[at.writer]) return true;
    return warp_of(other) == warp_of(at.writer) &&
           (at.write_turn < by.seen_by_all || at.write_turn < by.seen[lane_of(at.writer)]);
  });
}

std::optional<shared_conflict::access> shared_shadow::unfenced_write(std::size_t offset, std::size_t bytes,
                                                                     unsigned thread) const {
  const auto check = [&](const cell& at) -> std::optional<shared_conflict::access> {
    if (is_fenced(at, thread)) return std::nullopt;
    return shared_conflict::access{at.writer, at.write_place, true, false, at.atomic};
  };
  for (std::size_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    const cell& whole = words_[word];
    if (!whole.in_bytes) {
      if (auto found = check(whole)) return found;
      continue;
    }
    for (std::size_t byte = 4 * word; byte < 4 * word + 4; ++byte) {
      if (auto found = check(bytes_[byte])) return found;
    }
  }
  return std::nullopt;
}

void shared_shadow::begin_epoch() {
  ++epoch_;
  if (!has_fences_) return;
  has_fences_ = false;
  told_.fill(nullptr);
  at_fence_.fill(nullptr);
  released_.clear();
}

shared_shadow::shared_knowledge shared_shadow::join(const shared_knowledge& one,
                                                    const shared_knowledge& other) {
  if (other == nullptr || one == other) return one;
  if (one == nullptr) return other;
  auto both = std::make_shared<knowledge>();
  bool is_one = true, is_other = true;
  for (std::size_t thread = 0; thread < both->size(); ++thread) {
    (*both)[thread] = std::max((*one)[thread], (*other)[thread]);
    is_one = is_one && (*both)[thread] == (*one)[thread];
    is_other = is_other && (*both)[thread] == (*other)[thread];
  }
  return is_one ? one : is_other ? other : both;
}

void shared_shadow::fence_passed(unsigned thread) {
  has_fences_ = true;
  const unsigned warp = warp_of(thread);
  const std::uint32_t turn = ++turn_[warp];
  auto known = told_[thread] ? std::make_shared<knowledge>(*told_[thread]) : std::make_shared<knowledge>();
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t& of_lane = (*known)[warp * warp_lanes + lane];
    of_lane = std::max({of_lane, seen_by_all_[warp], seen_[warp][lane_of(thread)][lane]});
  }
  (*known)[thread] = turn;
  at_fence_[thread] = std::move(known);
}

bool shared_shadow::strong_access(unsigned thread, std::uintptr_t address, memory_operation operation) {
  const bool only_releases = only_releases_ == thread;
  if (only_releases) only_releases_.reset();
  const bool reads = operation != memory_operation::store && !only_releases;
  if (!has_fences_) return reads;
  const shared_knowledge& own = at_fence_[thread];
  const bool writes = operation != memory_operation::load && own != nullptr;
  const auto found = released_.find(address);
  if (reads && found != released_.end()) told_[thread] = join(told_[thread], found->second);
  if (writes && found != released_.end()) found->second = join(found->second, own);
  if (writes && found == released_.end()) released_.emplace(address, own);
  return reads;
}

void shared_shadow::warp_synchronized(unsigned warp, unsigned lanes) {
  const std::uint32_t turn = ++turn_[warp];
  if (has_fences_) {
    shared_knowledge told;
    for (unsigned left = lanes; left != 0; left &= left - 1)
      told = join(told, told_[warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left))]);
    for (unsigned left = lanes; left != 0; left &= left - 1)
      told_[warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left))] = told;
  }
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
  if (const shared_knowledge& told = told_[now]; told && turn < (*told)[earlier]) return true;
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
    if (!conflict) at.read_in = 0;  // who is ordered behind this write is so behind its readers
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
  if (at.has_second_writer && !ordered(at.second_writer, at.second_write_turn, access.thread)) {
    return with(at.second_writer, at.second_write_place, true, false, at.atomic);
  }
  return std::nullopt;
}

std::optional<shared_conflict> shared_shadow::conflict_with_readers(const cell& at,
                                                                    const shared_access& access) const {
  if (at.read_in != epoch_) return std::nullopt;
  if (!ordered(at.reader, at.read_turn, access.thread)) return with(at.reader, at.read_place, false);
  for (unsigned left = at.read_lanes; left != 0; left &= left - 1) {
    const unsigned reader = at.read_warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left));
    if (!ordered(reader, at.read_turn, access.thread)) return with(reader, at.read_place, false);
  }
  if (at.has_second_reader && !ordered(at.second, at.second_turn, access.thread))
    return with(at.second, at.second_place, false);
  return std::nullopt;
}

void shared_shadow::add_writer(cell& at, const shared_access& access) {
  const bool atomic = access.operation == memory_operation::atomic;
  const bool beside = atomic && at.atomic && at.written_in == epoch_ && at.writer != access.thread;
  if (beside) {
    at.has_second_writer = true;
    at.second_writer = at.writer;
    at.second_write_place = at.write_place;
    at.second_write_turn = at.write_turn;
  } else if (!(atomic && at.atomic && at.written_in == epoch_)) {
    at.has_second_writer = false;
  }
  set_writer(at, access);
}

}  // namespace lab::emulator
