#include "common/emulator/observe/shared_shadow.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <type_traits>
#include <utility>

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
  const std::size_t words = bytes / 4 + 1;
  const auto zeros = [](std::size_t cells) {
    auto* const memory = static_cast<cell*>(std::calloc(cells, sizeof(cell)));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  };
  words_.reset(zeros(words));
  bytes_.reset(zeros(4 * words));
  uses_.assign(words, use::shared);
}

void shared_shadow::mark(std::size_t offset, std::size_t bytes, use how) {
  for (std::size_t byte = offset; byte < offset + bytes; ++byte) uses_[byte / 4] = how;
}

void shared_shadow::begin_block(unsigned rank, std::uint32_t cluster_began) {
  begin_epoch();
  rank_ = rank;
  cluster_began_ = cluster_began;
  block_began_ = cluster_began == no_cluster ? epoch_ : cluster_began;
  known_by_all_.reset();
  if (std::exchange(has_beyond_, false)) beyond_.fill(nullptr);
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
  if (at.written_in < fences_known_since_ || at.by_copy || at.writer / block_threads != rank_) return true;
  const unsigned writer = at.writer % block_threads;
  const std::vector<proxy_fence>& own = fencing_[writer].fences;
  if (at.fences_before < own.size()) {
    const proxy_fence& first = own[at.fences_before];
    if (first.epoch < epoch_ || ordered(writer, first.turn, thread)) return true;
  }
  // Of another thread's fence it is not asked whether it happened before the copy.
  return std::any_of(have_fenced_.begin(), have_fenced_.end(), [&](unsigned other) {
    const fencing_thread& by = fencing_[other];
    if (other == writer) return false;
    if (by.fences.back().epoch > at.written_in) return true;
    if (by.told && at.write_turn < (*by.told)[writer]) return true;
    return warp_of(other) == warp_of(writer) &&
           (at.write_turn < by.seen_by_all || at.write_turn < by.seen[lane_of(writer)]);
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

void shared_shadow::barrier_passed() {
  begin_epoch();
  if (!std::exchange(has_beyond_, false)) return;
  for (shared_beyond& told : beyond_) known_by_all_ = join(known_by_all_, std::exchange(told, nullptr));
}

shared_shadow::shared_beyond shared_shadow::tell(unsigned thread) const {
  const shared_beyond known = join(known_by_all_, beyond_[thread]);
  auto told = known ? std::make_shared<beyond_block>(*known) : std::make_shared<beyond_block>();
  told->blocks[rank_] = {epoch_, at_fence_[thread]};
  return told;
}

void shared_shadow::be_told(unsigned thread, const shared_beyond& what) {
  beyond_[thread] = join(beyond_[thread], what);
  has_beyond_ = has_beyond_ || what;
}

shared_shadow::shared_beyond shared_shadow::join(const shared_beyond& one, const shared_beyond& other) {
  if (other == nullptr || one == other) return one;
  if (one == nullptr) return other;
  auto both = std::make_shared<beyond_block>(*one);
  for (std::size_t rank = 0; rank < both->blocks.size(); ++rank) {
    beyond_block::of_block& mine = both->blocks[rank];
    const beyond_block::of_block& more = other->blocks[rank];
    if (mine.epoch == more.epoch) mine.in_epoch = join(mine.in_epoch, more.in_epoch);
    if (mine.epoch < more.epoch) mine = more;
  }
  both->kernel_before = one->kernel_before || other->kernel_before;
  return both;
}

void shared_shadow::begin_epoch() {
  epoch_ = ++epochs_;
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
  const auto covers = [](const knowledge& more, const knowledge& less) {
    unsigned missed = 0;  // no early end: the loop is one of vectors
    for (std::size_t thread = 0; thread < less.size(); ++thread)
      missed |= more[thread] < less[thread] ? 1U : 0U;
    return missed == 0;
  };
  if (covers(*one, *other)) return one;
  if (covers(*other, *one)) return other;
  auto both = std::make_shared<knowledge>(*one);
  for (std::size_t thread = 0; thread < both->size(); ++thread)
    (*both)[thread] = std::max((*one)[thread], (*other)[thread]);
  return both;
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
  // What one of the lanes was told, all of them know now.
  const auto share = [&](auto& of_threads) {
    std::decay_t<decltype(of_threads[0])> told{};
    for (unsigned left = lanes; left != 0; left &= left - 1)
      told = join(told, of_threads[warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left))]);
    for (unsigned left = lanes; left != 0; left &= left - 1)
      of_threads[warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left))] = told;
  };
  if (has_beyond_) share(beyond_);
  if (has_fences_) share(told_);
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
                                                   const shared_access& access, const shared_shadow& by) {
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
      keep_first(note_cell(whole, access, by));
      continue;
    }
    cell* const parts = &bytes_[4 * word];
    if (!whole.in_bytes) {
      std::fill(parts, parts + 4, whole);
      whole.in_bytes = true;
    }
    for (std::size_t byte = std::max(offset, word * 4); byte < std::min(end, word * 4 + 4); ++byte) {
      keep_first(note_cell(parts[byte - word * 4], access, by));
    }
    whole.read_in = by.epoch_;  // not stale
  }
  return found;
}

std::optional<shared_conflict> shared_shadow::note_cell(cell& at, const shared_access& access,
                                                        const shared_shadow& by) const {
  std::optional<shared_conflict> conflict = by.conflict_with_writers(at, access);
  if (access.operation == memory_operation::load) {
    if (!conflict && at.written_in < block_began_) conflict = shared_conflict{};
    add_reader(at, access, by);
  } else {
    if (!conflict) conflict = by.conflict_with_readers(at, access);
    if (!conflict) at.read_in = 0;  // who is ordered behind this write is so behind its readers
    add_writer(at, access, by);
  }
  return conflict;
}

std::optional<shared_conflict> shared_shadow::conflict_with_writers(const cell& at,
                                                                    const shared_access& access) const {
  if (at.written_in != epoch_ && at.written_in < cluster_began_) return std::nullopt;
  const bool is_read_strongly = access.operation == memory_operation::atomic ||
                                (access.is_volatile && access.operation == memory_operation::load);
  if (!happened_before(at.plain_writer, at.plain_in, at.plain_turn, access.thread) &&
      !(is_read_strongly && at.is_volatile && is_hand_over(at.plain_writer, at.announces, access)))
    return with(at.plain_writer, at.plain_place, true, access.operation == memory_operation::store);
  if (at.atomic && access.operation == memory_operation::atomic) return std::nullopt;
  if ((at.atomic || !is_read_strongly) &&
      !happened_before(at.writer, at.written_in, at.write_turn, access.thread))
    return with(at.writer, at.write_place, true, false, at.atomic);
  if (at.has_second_writer &&
      !happened_before(at.second_writer, at.written_in, at.second_write_turn, access.thread)) {
    return with(at.second_writer, at.second_write_place, true, false, at.atomic);
  }
  return std::nullopt;
}

std::optional<shared_conflict> shared_shadow::conflict_with_readers(const cell& at,
                                                                    const shared_access& access) const {
  if (at.read_in != epoch_ && at.read_in < cluster_began_) return std::nullopt;
  const bool is_store = access.is_volatile && access.operation == memory_operation::store;
  const bool first_sees = is_store && at.all_volatile && is_hand_over(at.reader, announces(access), access);
  const bool second_sees =
      is_store && at.second_volatile && is_hand_over(at.second, announces(access), access);
  if (!first_sees && !happened_before(at.reader, at.read_in, at.read_turn, access.thread))
    return with(at.reader, at.read_place, false);
  for (unsigned left = at.read_lanes; left != 0; left &= left - 1) {
    const unsigned reader = at.read_warp * warp_lanes + static_cast<unsigned>(std::countr_zero(left));
    if (!first_sees && !happened_before(reader, at.read_in, at.read_turn, access.thread))
      return with(reader, at.read_place, false);
  }
  if (at.has_second_reader && !second_sees &&
      !happened_before(at.second, at.second_in, at.second_turn, access.thread))
    return with(at.second, at.second_place, false);
  return std::nullopt;
}

void shared_shadow::add_writer(cell& at, const shared_access& access, const shared_shadow& by) {
  const bool atomic = access.operation == memory_operation::atomic;
  const bool beside =
      atomic && at.atomic && at.written_in == by.epoch_ && at.writer % block_threads != access.thread;
  if (beside) {
    at.has_second_writer = true;
    at.second_writer = at.writer;
    at.second_write_place = at.write_place;
    at.second_write_turn = at.write_turn;
  } else if (!(atomic && at.atomic && at.written_in == by.epoch_)) {
    at.has_second_writer = false;
  }
  set_writer(at, access, by);
}

}  // namespace lab::emulator
