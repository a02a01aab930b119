#include "common/emulator/observe/warp_counter.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "common/emulator/observe/access_model.hpp"

namespace lab::emulator {
namespace {

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

// Between the addresses of neighbouring lanes, of accesses that all lanes make together.
struct lane_steps {
  static constexpr std::uint32_t most = 64;

  std::array<std::uint64_t, most> step;    // between the first two lanes
  std::array<std::uint64_t, most> jump;    // between the halves of the warp
  std::array<std::uint64_t, most> uneven;  // not 0: between others it is another one
};

// A quarter of what counting a warp that does not diverge takes, so it is compiled for wider registers, too.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void find_steps(const lane_stream* streams, std::uint32_t begin, std::uint32_t count, lane_steps& steps) {
  steps.uneven.fill(0);
  const packed_access* before = streams[0].accesses + begin;
  for (unsigned lane = 1; lane < warp_lanes; ++lane) {
    const packed_access* const here = streams[lane].accesses + begin;
    if (lane == 1) {
      for (std::uint32_t k = 0; k < count; ++k) steps.step[k] = here[k] - before[k];
    } else if (lane == warp_lanes / 2) {
      for (std::uint32_t k = 0; k < count; ++k) steps.jump[k] = here[k] - before[k];
    } else {
      for (std::uint32_t k = 0; k < count; ++k) steps.uneven[k] |= (here[k] - before[k]) ^ steps.step[k];
    }
    before = here;
  }
}

}  // namespace

void warp_counter::count(const warp_events& events, site_table& sites) {
  streams_ = events.streams.data();
  warp_ = events.warp;
  at_.fill(0);
  for (const warp_events::step& one : events.steps) perform(one.lanes, one.length, sites);
}

void warp_counter::perform(unsigned group, std::uint32_t length, site_table& sites) {
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
    }
  }
  for (unsigned left = group; left != 0; left &= left - 1) at_[lowest(left)] += length;
}

// All 32 lanes, side by side: the addresses of most accesses are affine in the lane, or in each half of the
// warp (rows of a tile that is 16 wide), and their cost is known from the first two and the jump between the
// halves.
void warp_counter::perform_together(std::uint32_t begin, std::uint32_t length, site_table& sites) {
  const std::uint32_t end = begin + length;
  for (; begin < end; begin += lane_steps::most) {
    const std::uint32_t count = std::min(lane_steps::most, end - begin);
    lane_steps steps;
    find_steps(streams_, begin, count, steps);
    const auto& [step, jump, uneven] = steps;
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
        if (is_affine) {
          const access_cost& cost = cost_of_steps(first, step[k], jump[k]);
          add(sites[place_of(code)], first, warp_lanes, cost);
          if (sink_ != nullptr) tell_sink(begin + k, code, cost);
        } else {
          packed_access accesses[warp_lanes];
          for (unsigned lane = 0; lane < warp_lanes; ++lane)
            accesses[lane] = streams_[lane].accesses[begin + k];
          count_access(all_lanes, accesses, code, sites);
        }
      }
    }
  }
}

// Of an access that all lanes make in one manner.
void warp_counter::tell_sink(std::uint32_t number, std::uint32_t code, const access_cost& cost) {
  std::uintptr_t address[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    address[lane] = address_of(streams_[lane].accesses[number]);
  const packed_access first = streams_[0].accesses[number];
  sink_->take_request(place_of(code), warp_, all_lanes, address, space_of(first), operation_of(first),
                      bytes_of(first), cost);
}

// Lanes of one instruction may touch different spaces through generic pointers: each is a request of its own.
void warp_counter::count_access(unsigned group, const packed_access* access, std::uint32_t code,
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

const access_cost& warp_counter::cost_of_steps(packed_access first, std::uint64_t step, std::uint64_t jump) {
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
