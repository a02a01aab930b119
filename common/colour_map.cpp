#include "common/colour_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lab {
namespace {

constexpr int steps = not_a_number;  // the last index is taken

// The map that passes through evenly spaced `points`, straight from each to the next in sRGB.
template <std::size_t count>
palette interpolate(const std::array<std::uint32_t, count>& points) {
  palette colours;
  for (int i = 0; i < steps; ++i) {
    const double place = static_cast<double>(i) / (steps - 1) * (count - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(place), count - 2);
    const auto channel = [&](int shift) {
      const auto value = [&](std::size_t k) { return static_cast<double>(points[k] >> shift & 0xff); };
      const double mixed = std::lerp(value(below), value(below + 1), place - static_cast<double>(below));
      return static_cast<std::uint8_t>(std::lround(mixed));
    };
    colours[static_cast<std::size_t>(i)] = {channel(16), channel(8), channel(0)};
  }
  colours[not_a_number] = {0x80, 0x80, 0x80};
  return colours;
}

}  // namespace

// Ten points of viridis by Stefan van der Walt and Nathaniel Smith (CC0; matplotlib), as the R package
// viridisLite lists them for viridis(10).
const palette& viridis() {
  static const palette colours = interpolate<10>(
      {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725});
  return colours;
}

// The eleven classes of RdBu, backwards, with the middle one made pure white: by Cynthia Brewer,
// colorbrewer2.org (Apache License 2.0).
const palette& blue_white_red() {
  static const palette colours = interpolate<11>({0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xffffff,
                                                  0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b, 0x67001f});
  return colours;
}

std::uint8_t colour_index(double value, double lowest, double highest) {
  if (!std::isfinite(value)) return not_a_number;
  const double place = (value - lowest) / (highest - lowest) * (steps - 1);
  return static_cast<std::uint8_t>(std::lround(std::clamp(place, 0.0, static_cast<double>(steps - 1))));
}

}  // namespace lab
