// Which of many outputs are compared where that goes piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "common/random.hpp"
#include "harness/device/inputs.hpp"

namespace lab {

// Of so many pieces with `outputs_each`: all, where they have at most `most` outputs. Otherwise so many (four
// at least), in ascending order: both ends, the one with output `special` and the one behind it, and others
// that the seed draws.
inline std::vector<std::int64_t> compared_pieces(std::int64_t pieces, std::int64_t outputs_each,
                                                 std::int64_t most, std::uint64_t seed,
                                                 std::optional<std::int64_t> special = std::nullopt) {
  const std::int64_t wanted = std::min(pieces, std::max<std::int64_t>(4, most / outputs_each));
  std::set<std::int64_t> chosen;
  const auto add = [&](std::int64_t piece) {
    if (piece >= 0 && piece < pieces) chosen.insert(piece);
  };
  add(0);
  add(pieces - 1);
  if (special) {
    add(*special / outputs_each);
    add(*special / outputs_each + 1);
  }
  if (wanted == pieces)
    for (std::int64_t piece = 0; piece < pieces; ++piece) add(piece);
  for (std::uint64_t k = 0; static_cast<std::int64_t>(chosen.size()) < wanted; ++k)
    add(static_cast<std::int64_t>(random_bits(seed ^ 0x91ece, k) % static_cast<std::uint64_t>(pieces)));
  return {chosen.begin(), chosen.end()};
}

// The output beside which an input of this kind has its one special value.
inline std::optional<std::int64_t> special_index(pattern kind, std::uint64_t seed) {
  if (seed_is_index(kind)) return static_cast<std::int64_t>(seed);
  if (kind == pattern::one_changed) return static_cast<std::int64_t>(seed & 0xffff'ffff);
  return std::nullopt;
}

}  // namespace lab
