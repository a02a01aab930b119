#include "common/emulator/core/block_copies.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"

namespace lab::emulator {
namespace {

// 20 bits of arrivals, 20 of missing ones, 21 of bytes, the parity, and two that no pattern of fresh shared
// memory has.
constexpr unsigned missing_shift = 20, bytes_shift = 40, parity_shift = 61, mark_shift = 62;
constexpr std::uint64_t valid_mark = 2, twenty_bits = (1 << 20) - 1, twenty_one_bits = (1 << 21) - 1;

std::string prefixed(const char* what, const std::string& wrong) {
  return wrong.empty() ? wrong : what + wrong;
}

}  // namespace

std::uint64_t phase_barrier::packed() const {
  return arrivals | std::uint64_t{missing} << missing_shift |
         (static_cast<std::uint64_t>(bytes) & twenty_one_bits) << bytes_shift |
         std::uint64_t{is_odd} << parity_shift | valid_mark << mark_shift;
}

phase_barrier phase_barrier::unpacked(std::uint64_t word) {
  constexpr int unused_bits = 64 - 21;
  const auto bytes = static_cast<std::int64_t>(word >> bytes_shift << unused_bits) >> unused_bits;
  return {static_cast<unsigned>(word & twenty_bits),
          static_cast<unsigned>(word >> missing_shift & twenty_bits), static_cast<int>(bytes),
          (word >> parity_shift & 1) != 0};
}

void block_copies::begin_block(std::uint64_t seed, unsigned char pattern) {
  random_ = seed;
  distance_ = 0;
  is_early_ = draw() % 4 == 0;
  pattern_ = pattern;
  barriers_.clear();
  in_.clear();
  out_.clear();
  groups_.clear();
  of_thread_.clear();
}

// SplitMix64, Steele, Lea and Flood 2014.
std::uint64_t block_copies::draw() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// ---- barriers

std::string block_copies::initialise(std::uint64_t* barrier, int arrivals, unsigned thread, place where) {
  if (arrivals < 1 || static_cast<unsigned>(arrivals) > phase_barrier::most_arrivals)
    return format("initialises a barrier for %d arrivals, which is not from 1 to %u", arrivals,
                  phase_barrier::most_arrivals);
  const auto count = static_cast<unsigned>(arrivals);
  *here(barrier) = phase_barrier{count, count, 0, false}.packed();
  barriers_[reinterpret_cast<std::uintptr_t>(barrier)] = {*here(barrier), 0, thread, where, false};
  return "";
}

void block_copies::fence_initialisations(unsigned thread) {
  for (auto& [address, known] : barriers_) {
    if (known.thread == thread) known.is_fenced = true;
  }
}

std::string block_copies::complaint(const std::uint64_t* barrier) const {
  const auto found = barriers_.find(reinterpret_cast<std::uintptr_t>(barrier));
  if (found == barriers_.end()) return "uses a barrier that was never initialised";
  if (*here(barrier) != found->second.word)
    return "uses a barrier that something else has written over since it was initialised at " +
           text_of(found->second.where);
  return "";
}

// The current phase ends as soon as it can.
void block_copies::store(std::uint64_t* barrier, phase_barrier now) {
  known_barrier& known = barriers_.at(reinterpret_cast<std::uintptr_t>(barrier));
  if (now.is_over()) {
    ++known.phase;
    now = {now.arrivals, now.arrivals, 0, !now.is_odd};
  }
  known.word = *here(barrier) = now.packed();
}

std::string block_copies::arrive(std::uint64_t* barrier, bool arrives, std::int64_t bytes, bool drops,
                                 unsigned& parity) {
  if (std::string wrong = complaint(barrier); !wrong.empty()) return wrong;
  phase_barrier now = phase_barrier::unpacked(*here(barrier));
  parity = now.is_odd ? 1 : 0;
  if (bytes < 0 || bytes > phase_barrier::most_bytes - now.bytes)
    return format("expects %lld bytes in ", static_cast<long long>(bytes)) + text_of_phase(barrier) +
           format(": one phase counts up to %d", phase_barrier::most_bytes);
  if (arrives && now.missing == 0) return "arrives once too often in " + text_of_phase(barrier);
  now.bytes += static_cast<int>(bytes);
  if (arrives) --now.missing;
  if (drops) --now.arrivals;
  store(barrier, now);
  return "";
}

std::string block_copies::complete(std::uint64_t* barrier, std::size_t bytes) {
  if (std::string wrong = complaint(barrier); !wrong.empty()) return wrong;
  phase_barrier now = phase_barrier::unpacked(*here(barrier));
  if (now.bytes - static_cast<int>(bytes) < -phase_barrier::most_bytes)
    return "brings more bytes than a phase can count, to " + text_of_phase(barrier);
  now.bytes -= static_cast<int>(bytes);
  store(barrier, now);
  return "";
}

std::string block_copies::refuse_wait(const std::uint64_t* barrier, unsigned phase) const {
  if (std::string wrong = complaint(barrier); !wrong.empty()) return wrong;
  const unsigned current = barriers_.at(reinterpret_cast<std::uintptr_t>(barrier)).phase;
  if (phase <= 1 || phase == current || phase == current - 1) return "";
  return format(
      "waits for phase %u of a barrier that is in phase %u: a GPU sees whether the number is even "
      "or odd, and takes it for phase %u",
      phase, current, (phase - current) % 2 == 0 ? current : current - 1);
}

bool block_copies::has_ended(const std::uint64_t* barrier, unsigned phase) const {
  return phase_barrier::unpacked(*here(barrier)).is_odd != (phase % 2 != 0);
}

std::string block_copies::text_of_phase(const std::uint64_t* barrier) const {
  const phase_barrier now = phase_barrier::unpacked(*here(barrier));
  const auto found = barriers_.find(reinterpret_cast<std::uintptr_t>(barrier));
  if (found == barriers_.end()) return "a barrier that was never initialised";
  const std::string missing = format("%u of %u arrivals", now.missing, now.arrivals);
  const std::string bytes = now.bytes < 0 ? format("%d bytes arrived that were not expected", -now.bytes)
                                          : format("%d bytes are missing", now.bytes);
  return format("phase %u of the barrier initialised at ", found->second.phase) +
         text_of(found->second.where) + ", of which " +
         (now.bytes == 0  ? missing + " are missing"
          : now.bytes < 0 ? missing + " are missing, and " + bytes
                          : missing + " and " + bytes);
}

unsigned phase_parity(const std::uint64_t* barrier) {
  return phase_barrier::unpacked(*barrier).is_odd ? 1 : 0;
}

// ---- copies

void tensor_box::read_to(void* shared) const {
  auto* const tile = static_cast<unsigned char*>(shared);
  std::memset(tile, 0, layout.box_bytes());
  for_each_row(direction::in, [&](std::size_t offset, const unsigned char* global, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += layout.element_bytes)
      std::memcpy(tile + swizzled(layout.pattern, static_cast<unsigned>(offset + k)), global + k,
                  layout.element_bytes);
  });
}

void tensor_box::write_from(const void* shared) const {
  const auto* const tile = static_cast<const unsigned char*>(shared);
  for_each_row(direction::out, [&](std::size_t offset, unsigned char* global, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += layout.element_bytes)
      std::memcpy(global + k, tile + swizzled(layout.pattern, static_cast<unsigned>(offset + k)),
                  layout.element_bytes);
  });
}

void block_copies::perform(const pending_in& copy) const {
  if (copy.box) {
    copy.box->read_to(here(copy.shared));
  } else {
    std::memcpy(here(copy.shared), copy.source ? copy.source->here(copy.from) : copy.from, copy.bytes);
  }
}

void block_copies::pending_out::perform(const void* from) const {
  if (box) {
    box->write_from(from);
  } else {
    std::memcpy(global, from, bytes);
  }
}

std::string block_copies::copy_in(void* shared, const void* from, std::size_t bytes, std::uint64_t* barrier,
                                  origin by, place where, const block_copies* source) {
  return begin({shared, from, bytes, barrier, by, where, source});
}

std::string block_copies::copy_in(void* shared, const tensor_box& box, std::uint64_t* barrier, origin by,
                                  place where) {
  return begin({shared, nullptr, box.layout.box_bytes(), barrier, by, where, nullptr, box});
}

std::string block_copies::begin(const pending_in& copy) {
  if (std::string wrong = complaint(copy.barrier); !wrong.empty()) return wrong;
  known_barrier& known = barriers_.at(reinterpret_cast<std::uintptr_t>(copy.barrier));
  if (!known.is_fenced) {
    const std::string unfenced = "begins a copy to a barrier that was initialised at " +
                                 text_of(known.where) +
                                 " with no fence_mbarrier_init() of that thread behind it";
    if (!configuration().is_program) return unfenced;
    add_diagnostic("warning: " + text_of(copy.where) + ": " + unfenced);
    known.is_fenced = true;
  }
  if (happens_at_once()) {
    perform(copy);
    return complete(copy.barrier, copy.bytes);
  }
  std::memset(here(copy.shared), pattern_, copy.bytes);
  in_.push_back(copy);
  return "";
}

block_copies::landing block_copies::land_one(
    const std::function<bool(const std::uint64_t* barrier)>& is_awaited) {
  auto chosen = in_.begin() + static_cast<std::ptrdiff_t>(draw() % in_.size());
  if (chosen->thread_copies && !is_awaited(chosen->barrier) && draw() % 8 != 0) {
    const auto other =
        std::find_if(in_.begin(), in_.end(), [&](const pending_in& one) { return is_awaited(one.barrier); });
    if (other != in_.end()) chosen = other;
  }
  const pending_in copy = std::exchange(*chosen, in_.back());
  in_.pop_back();
  if (!copy.thread_copies) {
    perform(copy);
    return {copy.barrier,
            {{copy.shared, copy.bytes}},
            copy.by,
            copy.where,
            prefixed("has begun a bulk copy that ", complete(copy.barrier, copy.bytes))};
  }
  std::vector<std::pair<const void*, std::size_t>> places;
  for (const thread_copy& one :
       land(copy.by.thread, [&](const thread_copy& each) { return each.number < *copy.thread_copies; }))
    places.emplace_back(one.shared, one.bytes);
  unsigned parity = 0;
  return {copy.barrier, std::move(places), copy.by, copy.where, arrive(copy.barrier, true, 0, false, parity)};
}

// ---- copies of one thread

void block_copies::copy_by_thread(void* shared, const void* from, std::size_t bytes, std::size_t taken,
                                  unsigned thread, const void* return_address) {
  thread_queue& own = of_thread_[thread];
  own.copies.push_back(
      {shared, from, bytes, taken, return_address, own.begun++, own.groups, happens_at_once()});
  // The thread has copied.
  if (!own.copies.back().is_done) std::memset(here(shared), pattern_, bytes);
}

void block_copies::commit_thread_copies(unsigned thread) {
  ++of_thread_[thread].groups;
}

std::vector<block_copies::thread_copy> block_copies::wait_for_thread_copies(unsigned thread,
                                                                            std::size_t pending, bool all) {
  const std::uint64_t groups = of_thread_[thread].groups;
  return land(thread, [&](const thread_copy& one) { return all || one.group + pending < groups; });
}

std::vector<block_copies::thread_copy> block_copies::leave_to_barrier(unsigned thread) {
  std::vector<thread_copy> left;
  for (thread_copy& one : of_thread_[thread].copies) {
    if (!std::exchange(one.is_at_barrier, true)) left.push_back(one);
  }
  return left;
}

std::string block_copies::arrive_behind_copies(std::uint64_t* barrier, bool is_extra, origin by,
                                               place where) {
  if (std::string wrong = complaint(barrier); !wrong.empty()) return wrong;
  const thread_queue& own = of_thread_[by.thread];
  unsigned parity = 0;
  if (own.copies.empty()) return is_extra ? "" : arrive(barrier, true, 0, false, parity);
  if (is_extra) {
    phase_barrier now = phase_barrier::unpacked(*here(barrier));
    ++now.missing;
    store(barrier, now);
  }
  in_.push_back({nullptr, nullptr, 0, barrier, by, where, nullptr, {}, own.begun});
  return "";
}

void block_copies::perform(const thread_copy& copy) const {
  auto* const to = static_cast<unsigned char*>(here(copy.shared));
  std::memcpy(to, copy.from, copy.taken);
  std::memset(to + copy.taken, 0, copy.bytes - copy.taken);
}

template <class Test>
std::vector<block_copies::thread_copy> block_copies::land(unsigned thread, Test is_over) {
  std::vector<thread_copy>& copies = of_thread_[thread].copies;
  const auto first = std::stable_partition(copies.begin(), copies.end(), std::not_fn(is_over));
  std::vector<thread_copy> landed(first, copies.end());
  copies.erase(first, copies.end());
  for (const thread_copy& one : landed) {
    if (!one.is_done) perform(one);
  }
  return landed;
}

bool block_copies::is_in_flight(const void* shared, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(shared);
  return std::any_of(in_.begin(), in_.end(), [&](const pending_in& one) {
    const auto other = reinterpret_cast<std::uintptr_t>(one.shared);
    return other < begin + bytes && begin < other + one.bytes;
  });
}

std::optional<block_copies::left_copy> block_copies::find_copy_from(const block_copies& source) const {
  const auto found =
      std::find_if(in_.begin(), in_.end(), [&](const pending_in& one) { return one.source == &source; });
  if (found == in_.end()) return std::nullopt;
  return left_copy{found->where, found->by};
}

void block_copies::read(pending_out& copy) const {
  if (std::exchange(copy.is_read, true)) return;
  const auto* const from = static_cast<const unsigned char*>(here(copy.shared));
  copy.values.assign(from, from + copy.bytes);
}

void block_copies::copy_out(void* global, const void* shared, std::size_t bytes, origin by, place where) {
  begin({global, shared, bytes, by, where, groups_[by.thread]});
}

void block_copies::copy_out(const tensor_box& box, const void* shared, origin by, place where) {
  begin({nullptr, shared, box.layout.box_bytes(), by, where, groups_[by.thread], false, {}, box});
}

void block_copies::begin(pending_out copy) {
  copy.is_read = happens_at_once();
  if (copy.is_read) copy.perform(copy.shared);
  out_.push_back(std::move(copy));
}

bool block_copies::is_waited_for(const pending_out& copy, unsigned thread, std::size_t pending) {
  return copy.by.thread == thread && copy.group + pending < groups_[thread];
}

void block_copies::commit_group(unsigned thread) {
  ++groups_[thread];
}

std::vector<std::pair<const void*, std::size_t>> block_copies::wait_group_read(unsigned thread,
                                                                               std::size_t pending) {
  std::vector<std::pair<const void*, std::size_t>> over;
  for (pending_out& copy : out_) {
    if (!is_waited_for(copy, thread, pending) || copy.shared == nullptr) continue;
    read(copy);
    over.emplace_back(std::exchange(copy.shared, nullptr), copy.bytes);
  }
  return over;
}

void block_copies::write_groups(unsigned thread, std::size_t pending) {
  for (pending_out& copy : out_) {
    if (!is_waited_for(copy, thread, pending) || copy.values.empty()) continue;
    copy.perform(copy.values.data());
    copy.values.clear();
  }
}

std::optional<block_copies::left_copy> block_copies::end_block() {
  for (pending_out& copy : out_) read(copy);
  for (const pending_out& copy : out_) {
    if (!copy.values.empty()) copy.perform(copy.values.data());
  }
  const auto unread =
      std::find_if(out_.begin(), out_.end(), [](const pending_out& one) { return one.shared != nullptr; });
  std::optional<left_copy> left;
  if (unread != out_.end()) left = {unread->where, unread->by, true};
  // cp.async that nobody has waited for writes nothing that anybody could still read.
  const auto unlanded =
      std::find_if(in_.begin(), in_.end(), [](const pending_in& one) { return !one.thread_copies; });
  if (unlanded != in_.end()) left = {unlanded->where, unlanded->by};
  out_.clear();
  return left;
}

}  // namespace lab::emulator
