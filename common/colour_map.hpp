// Numbers as colours: 255 steps of a colour map, and one colour for what is no number.
#pragma once

#include <array>
#include <cstdint>

namespace lab {

struct rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// What a pixel of an image holds is an index into this.
using palette = std::array<rgb, 256>;

// The place of NaN and infinities in every palette: a grey.
inline constexpr std::uint8_t not_a_number = 255;

// For magnitudes: lightness rises evenly from dark violet to yellow, and is told apart by the colour-blind.
const palette& viridis();

// For differences: blue below zero, white at zero, red above.
const palette& blue_white_red();

// The index of `value` on a map that reaches from `lowest` to `highest`; what lies outside takes the end.
std::uint8_t colour_index(double value, double lowest, double highest);

}  // namespace lab
