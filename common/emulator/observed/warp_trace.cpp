#include "common/emulator/observed/warp_trace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lab::emulator {
namespace {

constexpr std::uint64_t no_order = ~std::uint64_t{0};

unsigned bit(unsigned lane) {
  return 1u << lane;
}
unsigned lowest(unsigned lanes) {
  return static_cast<unsigned>(std::countr_zero(lanes));
}
std::uint32_t count_of(unsigned lanes) {
  return static_cast<std::uint32_t>(std::popcount(lanes));
}

std::uintptr_t address_of(packed_access access) {
  return access & ((std::uint64_t{1} << address_bits) - 1);
}
unsigned bytes_of(packed_access access) {
  return access >> address_bits & 0x1f;
}
memory_space space_of(packed_access access) {
  return static_cast<memory_space>(access >> (address_bits + 6) & 3);
}
memory_operation operation_of(packed_access access) {
  return static_cast<memory_operation>(access >> (address_bits + 8) & 3);
}
// All but the address.
packed_access manner_of(packed_access access) {
  return access >> address_bits;
}

access_cost cost_of(unsigned lanes, const std::uintptr_t* address, packed_access manner) {
  const packed_access first = manner << address_bits;
  return space_of(first) == memory_space::global ? global_cost(lanes, address, bytes_of(first))
                                                 : shared_cost(lanes, address, bytes_of(first));
}

void add(site_counters& site, packed_access access, std::uint32_t lanes, const access_cost& cost) {
  memory_counters& counters = site.of(space_of(access), operation_of(access));
  counters.requests += 1;
  counters.lanes += lanes;
  counters.bytes += std::uint64_t{lanes} * bytes_of(access);
  counters.units += cost.units;
  counters.least += cost.least;
  site.executed += 1;
  site.executed_lanes += lanes;
}

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

void warp_trace::meet(unsigned lanes) {
  const std::uint32_t code =
      static_cast<std::uint32_t>(event::meeting) | static_cast<std::uint32_t>(meetings_.size());
  meetings_.push_back(lanes);
  for (unsigned left = lanes; left != 0; left &= left - 1) streams_[lowest(left)].push(code);
}

unsigned warp_trace::full_streams() const {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (streams_[lane].full()) lanes |= bit(lane);
  }
  return lanes;
}

void warp_trace::replay(unsigned warp, unsigned to_come, site_table& sites) {
  depth_ = depths_.data() + warp * warp_lanes;
  warp_ = warp;
  active_ = meeting_ = 0;
  look_at(all_lanes);
  // What a lane that goes on does next is not known once its stream is empty, and it could be what comes
  // first.
  while (active_ != 0 && (to_come & ~active_) == 0) {
    if (meeting_ != 0 && pass_meetings()) continue;
    std::uint64_t bound = no_order;
    const unsigned group = select(bound);
    perform(group, common_run(group, bound), sites);
    look_at(group);
  }
  keep_rest();
}

// Moves what has not been replayed to the beginning of its stream.
void warp_trace::keep_rest() {
  bool empty = true;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    lane_stream& stream = streams_[lane];
    const std::uint32_t rest = stream.count - at_[lane];
    std::copy(stream.codes + at_[lane], stream.codes + stream.count, stream.codes);
    std::copy(stream.accesses + at_[lane], stream.accesses + stream.count, stream.accesses);
    stream.count = rest;
    at_[lane] = 0;
    empty = empty && rest == 0;
  }
  if (empty) meetings_.clear();
}

// Lets lanes whose next event is a meeting go on if all of its lanes are there; true if any did.
bool warp_trace::pass_meetings() {
  unsigned passed = 0;
  for (unsigned left = meeting_; left != 0; left &= left - 1) {
    const unsigned lane = lowest(left);
    const std::uint32_t code = streams_[lane].codes[at_[lane]];
    const unsigned lanes = meetings_[place_of(code)];
    bool all_there = (lanes & ~meeting_) == 0;
    for (unsigned others = lanes & meeting_; others != 0 && all_there; others &= others - 1) {
      all_there = streams_[lowest(others)].codes[at_[lowest(others)]] == code;
    }
    if (!all_there) continue;
    passed |= lanes;
    left &= ~lanes | bit(lane);
  }
  for (unsigned left = passed; left != 0; left &= left - 1) ++at_[lowest(left)];
  look_at(passed);
  return passed != 0;
}

// Notes what the lanes do next. First goes the deepest call, in it the lowest place; a return last of its
// function.
void warp_trace::look_at(unsigned lanes) {
  active_ |= lanes;
  meeting_ &= ~lanes;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = lowest(left);
    const lane_stream& stream = streams_[lane];
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
    const std::uint64_t depth = std::uint64_t{255} - depth_[lane];
    const std::uint32_t place = kind_of(code) == event::leave ? site_table::offset_limit : place_of(code);
    const packed_access manner = kind_of(code) == event::access ? manner_of(stream.accesses[at]) : 0;
    next_[lane] = {depth << 32 | place, std::uint64_t{code} << 32 | manner};
  }
}

// The lanes that go first together. `bound` is the order of the first of the others.
unsigned warp_trace::select(std::uint64_t& bound) const {
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
std::uint32_t warp_trace::common_run(unsigned group, std::uint64_t bound) const {
  const unsigned leader = lowest(group);
  const bool is_alone = bound == no_order && group == all_lanes;
  const std::uint32_t* const codes = streams_[leader].codes + at_[leader];
  const std::uint64_t depth = (std::uint64_t{255} - depth_[leader]) << 32;
  std::uint32_t longest = streams_[leader].count - at_[leader];
  for (unsigned left = group & (group - 1); left != 0; left &= left - 1)
    longest = std::min(longest, streams_[lowest(left)].count - at_[lowest(left)]);
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
      length = common_length(codes + run, streams_[lane].codes + at_[lane] + run, length);
    }
    run += length;
    if (length < wanted || wanted < piece) break;
  }
  return run;
}

void warp_trace::perform(unsigned group, std::uint32_t length, site_table& sites) {
  const unsigned leader = lowest(group);
  const std::uint32_t begin = at_[leader];
  bool together = group == all_lanes;
  for (unsigned lane = 1; lane < warp_lanes && together; ++lane) together = at_[lane] == begin;
  if (together) {
    perform_together(begin, length, sites);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) at_[lane] += length;
    return;
  }
  const std::uint32_t lanes = count_of(group);
  for (std::uint32_t number = 0; number < length; ++number) {
    const std::uint32_t code = streams_[leader].codes[begin + number];
    if (kind_of(code) == event::block) {
      site_counters& site = sites[place_of(code)];
      site.executed += 1;
      site.executed_lanes += lanes;
    } else if (kind_of(code) == event::access) {
      packed_access accesses[warp_lanes];
      for (unsigned left = group; left != 0; left &= left - 1)
        accesses[lowest(left)] = streams_[lowest(left)].accesses[at_[lowest(left)] + number];
      count_access(group, accesses, code, sites);
    } else if (kind_of(code) == event::call) {
      for (unsigned left = group; left != 0; left &= left - 1) ++depth_[lowest(left)];
    } else if (kind_of(code) == event::leave) {
      for (unsigned left = group; left != 0; left &= left - 1)
        depth_[lowest(left)] -= depth_[lowest(left)] > 0;
    }
  }
  for (unsigned left = group; left != 0; left &= left - 1) at_[lowest(left)] += length;
}

// All 32 lanes, side by side: the addresses of most accesses are affine in the lane, or in each half of the
// warp (rows of a tile that is 16 wide), and their cost is known from the first two and the jump between the
// halves.
void warp_trace::perform_together(std::uint32_t begin, std::uint32_t length, site_table& sites) {
  constexpr std::uint32_t piece = 64;
  const std::uint32_t end = begin + length;
  for (; begin < end; begin += piece) {
    const std::uint32_t count = std::min(piece, end - begin);
    std::uint64_t step[piece], jump[piece], uneven[piece] = {};
    const packed_access* before = streams_[0].accesses + begin;
    for (unsigned lane = 1; lane < warp_lanes; ++lane) {
      const packed_access* const here = streams_[lane].accesses + begin;
      if (lane == 1) {
        for (std::uint32_t k = 0; k < count; ++k) step[k] = here[k] - before[k];
      } else if (lane == warp_lanes / 2) {
        for (std::uint32_t k = 0; k < count; ++k) jump[k] = here[k] - before[k];
      } else {
        for (std::uint32_t k = 0; k < count; ++k) uneven[k] |= (here[k] - before[k]) ^ step[k];
      }
      before = here;
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t code = streams_[0].codes[begin + k];
      if (kind_of(code) == event::block) {
        site_counters& site = sites[place_of(code)];
        site.executed += 1;
        site.executed_lanes += warp_lanes;
      } else if (kind_of(code) == event::access) {
        const packed_access first = streams_[0].accesses[begin + k];
        const bool is_affine =
            uneven[k] == 0 && manner_of(first) == manner_of(first + step[k]) &&
            manner_of(first) == manner_of(first + (warp_lanes / 2 - 1) * step[k] + jump[k]);
        if (sink_ == nullptr && is_affine) {
          add(sites[place_of(code)], first, warp_lanes, cost_of_steps(first, step[k], jump[k]));
        } else {
          packed_access accesses[warp_lanes];
          for (unsigned lane = 0; lane < warp_lanes; ++lane)
            accesses[lane] = streams_[lane].accesses[begin + k];
          count_access(all_lanes, accesses, code, sites);
        }
      } else if (kind_of(code) == event::call) {
        for (unsigned lane = 0; lane < warp_lanes; ++lane) ++depth_[lane];
      } else if (kind_of(code) == event::leave) {
        for (unsigned lane = 0; lane < warp_lanes; ++lane) depth_[lane] -= depth_[lane] > 0;
      }
    }
  }
}

// Lanes of one instruction may touch different spaces through generic pointers: each is a request of its own.
void warp_trace::count_access(unsigned group, const packed_access* access, std::uint32_t code,
                              site_table& sites) {
  std::uintptr_t address[warp_lanes];
  for (unsigned left = group; left != 0; left &= left - 1)
    address[lowest(left)] = address_of(access[lowest(left)]);
  while (group != 0) {
    const packed_access first = access[lowest(group)];
    unsigned same = 0;
    for (unsigned left = group; left != 0; left &= left - 1) {
      if (manner_of(access[lowest(left)]) == manner_of(first)) same |= bit(lowest(left));
    }
    const access_cost cost = cost_of(same, address, manner_of(first));
    add(sites[place_of(code)], first, count_of(same), cost);
    if (sink_ != nullptr) {
      sink_->take_request(place_of(code), warp_, same, address, space_of(first), operation_of(first),
                          bytes_of(first), cost);
    }
    group &= ~same;
  }
}

const access_cost& warp_trace::cost_of_steps(packed_access first, std::uint64_t step, std::uint64_t jump) {
  constexpr std::uintptr_t period = 128;  // 32 banks of 4 bytes, 4 sectors: addresses count modulo this
  const packed_access head = manner_of(first) << address_bits | address_of(first) % period;
  const std::uint64_t steps = step * 0x9e3779b97f4a7c15u ^ jump * 0xd6e8feb86659fd93u;
  const std::uint64_t mixed = (head ^ head >> 44 ^ steps >> 50) * 0x9e3779b97f4a7c15u;
  affine_cost& entry = costs_[mixed >> 52];
  if (entry.head != head || entry.step != step || entry.jump != jump) {
    std::uintptr_t address[warp_lanes] = {address_of(first)};
    for (unsigned lane = 1; lane < warp_lanes; ++lane)
      address[lane] = address[lane - 1] + (lane == warp_lanes / 2 ? jump : step);
    entry = {head, step, jump, cost_of(all_lanes, address, manner_of(first))};
  }
  return entry.cost;
}

}  // namespace lab::emulator
