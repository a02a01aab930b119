#include "common/emulator/observe/access_model.hpp"

#include <algorithm>
#include <bit>

namespace lab::emulator {

access_cost global_cost(unsigned lanes, const std::uintptr_t* address, unsigned bytes) {
  std::uintptr_t sectors[2 * warp_lanes];
  unsigned count = 0;
  bool ascending = true;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const std::uintptr_t begin = address[std::countr_zero(left)];
    for (std::uintptr_t sector = begin / sector_bytes; sector <= (begin + bytes - 1) / sector_bytes;
         ++sector) {
      if (count != 0 && sectors[count - 1] == sector) continue;
      ascending = ascending && (count == 0 || sectors[count - 1] < sector);
      sectors[count++] = sector;
    }
  }
  if (!ascending) {
    std::sort(sectors, sectors + count);
    count = static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
  }
  const unsigned asked = static_cast<unsigned>(std::popcount(lanes)) * bytes;
  return {count, (asked + sector_bytes - 1) / sector_bytes};
}

namespace {

// Whether all lanes come in pairs of neighbours with the same address.
bool neighbours_agree(unsigned lanes, const std::uintptr_t* address) {
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned neighbour = lane ^ 1;
    if ((lanes >> neighbour & 1u) == 0 || address[lane] != address[neighbour]) return false;
  }
  return true;
}

}  // namespace

unsigned shared_parts(unsigned lanes, const std::uintptr_t* address, unsigned bytes) {
  const unsigned parts = std::max(1u, bytes / 4);
  return parts > 1 && neighbours_agree(lanes, address) ? parts / 2 : parts;
}

access_cost shared_cost(unsigned lanes, const std::uintptr_t* address, unsigned bytes) {
  constexpr unsigned banks = 32;
  const unsigned phases = shared_parts(lanes, address, bytes);
  const unsigned lanes_per_phase = warp_lanes / phases;
  access_cost cost;
  for (unsigned phase = 0; phase < phases; ++phase) {
    const unsigned in_phase =
        phases == 1 ? lanes : lanes & (((1u << lanes_per_phase) - 1) << (phase * lanes_per_phase));
    if (in_phase == 0) continue;
    std::uintptr_t words[banks][warp_lanes];
    std::uint8_t count[banks] = {};
    std::uint8_t busiest = 0;
    for (unsigned left = in_phase; left != 0; left &= left - 1) {
      const std::uintptr_t begin = address[std::countr_zero(left)];
      for (std::uintptr_t word = begin / 4; word <= (begin + bytes - 1) / 4; ++word) {
        const unsigned bank = word % banks;
        std::uintptr_t* const end = words[bank] + count[bank];
        if (std::find(words[bank], end, word) != end) continue;
        *end = word;
        busiest = std::max(busiest, ++count[bank]);
      }
    }
    cost.units += busiest;
    cost.least += 1;
  }
  return cost;
}

}  // namespace lab::emulator
