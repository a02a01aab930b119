// What is drawn: the product of two waves.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/cuda.hpp"

namespace lab::shared_tile {

constexpr std::int64_t period = 256;  // pixels of one wave
constexpr std::int64_t crest = 64;    // a wave begins here, so that 64 pixels on it is highest

// 1 + sin(2 pi (k - 64) / 256), for any k. The phase is brought to [-128, 128) in integers, where that is
// exact: a float far from zero is a coarse angle.
__device__ inline float wave(std::int64_t k) {
  constexpr float radians_per_pixel = 6.283185307f / period;
  const auto phase = static_cast<int>((k - crest + period / 2) & (period - 1)) - static_cast<int>(period / 2);
  return 1 + sinf(radians_per_pixel * static_cast<float>(phase));
}

// The amplitude at pixel (x, y), from 0 to 4. Both may lie beyond the image.
__device__ inline float amplitude(std::int64_t x, std::int64_t y) {
  return wave(x) * wave(y);
}

}  // namespace lab::shared_tile
