#include "common/emulator/observe/warp_trace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/emulator/observe/access_model.hpp"

namespace lab::emulator {
namespace {

constexpr std::uint64_t no_order = ~std::uint64_t{0};

// Length of the common beginning of two streams of codes.
std::uint32_t common_length(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t length) {
  std::uint32_t same = 0;
  while (same + 16 <= length && std::memcmp(a + same, b + same, 16 * sizeof *a) == 0) same += 16;
  while (same < length && a[same] == b[same]) ++same;
  return same;
}

}  // namespace

memory_counters& memory_counters::operator+=(const memory_counters& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  units += other.units;
  least += other.least;
  return *this;
}

site_counters& site_counters::operator+=(const site_counters& other) {
  for (std::size_t space = 0; space < memory.size(); ++space) {
    for (std::size_t operation = 0; operation < memory[space].size(); ++operation) {
      memory[space][operation] += other.memory[space][operation];
    }
  }
  executed += other.executed;
  executed_lanes += other.executed_lanes;
  return *this;
}

memory_counters& memory_counters::operator-=(const memory_counters& other) {
  requests -= other.requests;
  lanes -= other.lanes;
  bytes -= other.bytes;
  units -= other.units;
  least -= other.least;
  return *this;
}

site_counters& site_counters::operator-=(const site_counters& other) {
  for (std::size_t space = 0; space < memory.size(); ++space) {
    for (std::size_t operation = 0; operation < memory[space].size(); ++operation)
      memory[space][operation] -= other.memory[space][operation];
  }
  executed -= other.executed;
  executed_lanes -= other.executed_lanes;
  return *this;
}

std::uint32_t site_table::add(std::uint32_t offset) {
  offsets_.push_back(offset);
  counters_.emplace_back();
  return static_cast<std::uint32_t>(counters_.size());
}

void warp_events::clear() {
  for (lane_stream& stream : streams) stream.count = 0;
  meetings.clear();
  steps.clear();
  is_grouped = false;
}

// ---- the warp that runs

void warp_trace::meet(unsigned lanes) {
  std::vector<unsigned>& meetings = events_->meetings;
  const std::uint32_t code =
      static_cast<std::uint32_t>(event::meeting) | static_cast<std::uint32_t>(meetings.size());
  meetings.push_back(lanes);
  for (unsigned left = lanes; left != 0; left &= left - 1) stream(lowest(left)).push(code);
}

unsigned warp_trace::full_streams() const {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (events_->streams[lane].full()) lanes |= bit(lane);
  }
  return lanes;
}

const warp_events& warp_trace::group(unsigned warp, unsigned to_come) {
  events_->warp = warp;
  std::copy_n(grouped_depths(warp), warp_lanes, events_->depths.data());
  grouping_.group(*events_, to_come);
  std::copy_n(events_->depths.data(), warp_lanes, grouped_depths(warp));
  return *events_;
}

void warp_trace::forget_grouped() {
  move_rest(*events_);
  events_->steps.clear();
}

std::unique_ptr<warp_events> warp_trace::hand_over(unsigned warp, unsigned to_come,
                                                   std::unique_ptr<warp_events> empty) {
  if (to_come != 0) {
    group(warp, to_come);
    move_rest(*empty);
    events_->is_grouped = true;
  } else {
    events_->warp = warp;
    std::copy_n(grouped_depths(warp), warp_lanes, events_->depths.data());
    std::copy_n(depths_.data() + warp * warp_lanes, warp_lanes, grouped_depths(warp));
  }
  events_.swap(empty);
  return empty;
}

// Moves what has not been grouped to the beginning of its stream in `to`.
void warp_trace::move_rest(warp_events& to) {
  bool is_empty = true;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const lane_stream& from = events_->streams[lane];
    const std::uint32_t grouped = grouping_.grouped()[lane];
    const std::uint32_t rest = from.count - grouped;
    if (rest != 0) {
      std::memmove(to.streams[lane].codes, from.codes + grouped, rest * sizeof *from.codes);
      std::memmove(to.streams[lane].accesses, from.accesses + grouped, rest * sizeof *from.accesses);
      is_empty = false;
    }
    to.streams[lane].count = rest;
  }
  if (is_empty) {
    to.meetings.clear();
  } else if (&to != events_.get()) {
    to.meetings = events_->meetings;
  }
}

// ---- grouping

void warp_grouping::group(warp_events& events, unsigned to_come) {
  events_ = &events;
  at_.fill(0);
  active_ = meeting_ = 0;
  look_at(all_lanes);
  // What a lane that goes on does next is not known once its stream is empty, and it could be what comes
  // first.
  while (active_ != 0 && (to_come & ~active_) == 0) {
    if (meeting_ != 0 && pass_meetings()) continue;
    std::uint64_t bound = no_order;
    const unsigned group = select(bound);
    step(group, common_run(group, bound));
    look_at(group);
  }
}

// Lanes do their next events together.
void warp_grouping::step(unsigned lanes, std::uint32_t length) {
  std::vector<warp_events::step>& steps = events_->steps;
  if (!steps.empty() && steps.back().lanes == lanes) {
    steps.back().length += length;
  } else {
    steps.push_back({lanes, length});
  }
  const std::uint32_t* const codes = events_->streams[lowest(lanes)].codes + at_[lowest(lanes)];
  constexpr auto call_or_leave =
      static_cast<std::uint32_t>(event::call) & static_cast<std::uint32_t>(event::leave);
  std::uint32_t all = 0;
  for (std::uint32_t number = 0; number < length; ++number) all |= codes[number];
  for (std::uint32_t number = 0; (all & call_or_leave) != 0 && number < length; ++number) {
    if (kind_of(codes[number]) == event::call) {
      for (unsigned left = lanes; left != 0; left &= left - 1) ++events_->depths[lowest(left)];
    } else if (kind_of(codes[number]) == event::leave) {
      for (unsigned left = lanes; left != 0; left &= left - 1) {
        std::uint8_t& depth = events_->depths[lowest(left)];
        depth -= depth > 0;
      }
    }
  }
  for (unsigned left = lanes; left != 0; left &= left - 1) at_[lowest(left)] += length;
}

// Lets lanes whose next event is a meeting go on if all of its lanes are there; true if any did.
bool warp_grouping::pass_meetings() {
  unsigned passed = 0;
  for (unsigned left = meeting_; left != 0; left &= left - 1) {
    const unsigned lane = lowest(left);
    const std::uint32_t code = events_->streams[lane].codes[at_[lane]];
    const unsigned lanes = events_->meetings.at(place_of(code));
    bool all_there = (lanes & ~meeting_) == 0;
    for (unsigned others = lanes & meeting_; others != 0 && all_there; others &= others - 1) {
      all_there = events_->streams[lowest(others)].codes[at_[lowest(others)]] == code;
    }
    if (!all_there) continue;
    passed |= lanes;
    left &= ~lanes | bit(lane);
  }
  if (passed != 0) step(passed, 1);
  look_at(passed);
  return passed != 0;
}

// Notes what the lanes do next. First goes the deepest call, in it the lowest place; a return last of its
// function.
void warp_grouping::look_at(unsigned lanes) {
  active_ |= lanes;
  meeting_ &= ~lanes;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = lowest(left);
    const lane_stream& stream = events_->streams[lane];
    const std::uint32_t at = at_[lane];
    if (at >= stream.count) {
      active_ &= ~bit(lane);
      next_[lane] = {no_order, 0};
      continue;
    }
    const std::uint32_t code = stream.codes[at];
    if (kind_of(code) == event::meeting) {
      meeting_ |= bit(lane);
      next_[lane] = {no_order, code};
      continue;
    }
    const std::uint64_t depth = std::uint64_t{255} - events_->depths[lane];
    const std::uint32_t place = kind_of(code) == event::leave ? site_table::offset_limit : place_of(code);
    const packed_access manner = kind_of(code) == event::access ? manner_of(stream.accesses[at]) : 0;
    next_[lane] = {depth << 32 | place, std::uint64_t{code} << 32 | manner};
  }
}

// The lanes that go first together. `bound` is the order of the first of the others.
unsigned warp_grouping::select(std::uint64_t& bound) const {
  std::uint64_t first = no_order;
  for (unsigned left = active_; left != 0; left &= left - 1)
    first = std::min(first, next_[lowest(left)].order);
  unsigned group = 0;
  std::uint64_t others = no_order;
  for (unsigned left = active_; left != 0; left &= left - 1) {
    const std::uint64_t order = next_[lowest(left)].order;
    if (order == first) {
      group |= bit(lowest(left));
    } else {
      others = std::min(others, order);
    }
  }
  bound = others;
  // Equal orders are not yet equal events: a block begins where a call returns to, say.
  const std::uint64_t what = next_[lowest(group)].what;
  unsigned same = 0;
  for (unsigned left = group; left != 0; left &= left - 1) {
    if (next_[lowest(left)].what == what) same |= bit(lowest(left));
  }
  if (same != group) bound = first;
  return same;
}

// How many events the lanes of the group have in common before one of the others would go first.
std::uint32_t warp_grouping::common_run(unsigned group, std::uint64_t bound) const {
  const unsigned leader = lowest(group);
  const bool is_alone = bound == no_order && group == all_lanes;
  const std::uint32_t* const codes = events_->streams[leader].codes + at_[leader];
  const std::uint64_t depth = (std::uint64_t{255} - events_->depths[leader]) << 32;
  std::uint32_t longest = events_->streams[leader].count - at_[leader];
  for (unsigned left = group & (group - 1); left != 0; left &= left - 1)
    longest = std::min(longest, events_->streams[lowest(left)].count - at_[lowest(left)]);
  // In pieces, since lanes that diverge often have little in common.
  std::uint32_t run = 1;
  for (std::uint32_t piece = is_alone ? longest : 4; run < longest; piece *= 2) {
    std::uint32_t end = std::min(longest, run + piece);
    if (!is_alone) {
      // Calls and meetings change who goes first, so they end a run.
      const auto goes_on = [&](std::uint32_t at) {
        return kind_of(codes[at - 1]) <= event::access && kind_of(codes[at]) <= event::access &&
               (depth | place_of(codes[at])) < bound;
      };
      std::uint32_t at = run;
      while (at < end && goes_on(at)) ++at;
      end = at;
    }
    const std::uint32_t wanted = end - run;
    std::uint32_t length = wanted;
    for (unsigned left = group & (group - 1); left != 0 && length != 0; left &= left - 1) {
      const unsigned lane = lowest(left);
      length = common_length(codes + run, events_->streams[lane].codes + at_[lane] + run, length);
    }
    run += length;
    if (length < wanted || wanted < piece) break;
  }
  return run;
}

}  // namespace lab::emulator
