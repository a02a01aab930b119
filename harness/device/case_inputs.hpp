// Inputs and sizes that the cases of several tracks go through (array_problem.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "harness/device/inputs.hpp"

namespace lab {

// Inputs of one kind, by which an identity that is none shows, and a NaN or a sign that gets lost; then those
// of `more`.
template <class... More>
constexpr auto patterns_of_one_kind(More... more) {
  return std::array{pattern::negative,
                    pattern::zeros,
                    pattern::negative_zeros,
                    pattern::mixed_zeros,
                    pattern::negative_infinity,
                    pattern::positive_infinity,
                    pattern::all_nan,
                    pattern::constant,
                    pattern::ties,
                    more...};
}

// Sizes around nothing, a warp and one to five tiles. Of a small tile one is below 0.
constexpr std::array<std::int64_t, 12> border_sizes(std::int64_t tile) {
  return {0, 1, 2, 31, 32, 33, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 5 * tile + 3};
}

// Windows around one value, a warp, a tile and all of n values, and one beyond any. Those of a small n or
// tile may be below 1.
constexpr std::array<std::int64_t, 11> border_windows(std::int64_t n, std::int64_t tile) {
  return {1, 2, 3, 32, tile - 1, tile, tile + 1, n - 1, n, n + 1, std::int64_t{1} << 40};
}

// A window of n values, drawn by `bits`: of 1 to 40, or in three cases of 16 about n.
constexpr std::int64_t drawn_window(std::int64_t n, std::uint64_t bits) {
  const auto draw = static_cast<std::int64_t>(bits % 16);
  if (draw < 13) return 1 + static_cast<std::int64_t>(bits >> 40) % 40;
  return std::max<std::int64_t>(1, n + draw - 14);
}

}  // namespace lab
