// Which of many outputs are compared where that goes piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
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
  std::vector<std::int64_t> all(static_cast<std::size_t>(pieces));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(4, most / outputs_each));
  if (all.size() <= wanted) return all;
  std::vector<std::int64_t> first{0, pieces - 1};
  if (special) first.insert(first.end(), {*special / outputs_each, *special / outputs_each + 1});
  std::size_t kept = 0;
  for (const std::int64_t piece : first) {
    const auto found = std::find(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), piece);
    if (found != all.end()) std::iter_swap(found, all.begin() + static_cast<std::ptrdiff_t>(kept++));
  }
  for (std::size_t k = kept; k < wanted; ++k)
    std::swap(all[k], all[k + random_bits(seed ^ 0x91ece, k) % (all.size() - k)]);
  all.resize(wanted);
  std::sort(all.begin(), all.end());
  return all;
}

// The output beside which an input of this kind has its one special value.
inline std::optional<std::int64_t> special_index(pattern kind, std::uint64_t seed) {
  if (seed_is_index(kind)) return static_cast<std::int64_t>(seed);
  if (kind == pattern::one_changed) return static_cast<std::int64_t>(seed & 0xffff'ffff);
  return std::nullopt;
}

}  // namespace lab
