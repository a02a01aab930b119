// An image of waves, float32, in which every tile of 16 x 16 pixels is turned by half a turn: each pixel is
// what another thread of its block has computed. There is no input.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/device/array_problem.hpp"

namespace lab::shared_tile {

constexpr int tile = 16;  // pixels a side

// The size of the image, in pixels.
struct input {
  std::int64_t width;
  std::int64_t height;
};

// width x height values in device memory, row after row.
struct output {
  float* image;
};

struct problem : array_problem<float> {
  using input = shared_tile::input;
  using output = shared_tile::output;

  struct parameters {
    std::int64_t width = 0;
    std::int64_t height = 0;
  };

  static constexpr const char* title = "An image by way of a tile in shared memory, float32";
  static constexpr const char* unit = "pixel";
  static constexpr array_ceiling ceiling = array_ceiling::write;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "width", .member = &parameters::width, .meaning = "pixels of a row", .bench = {1024}},
            {.name = "height", .member = &parameters::height, .meaning = "rows", .bench = {1024}}};
  }

  // Every pixel is written once, and nothing is read.
  static array_layout layout(const parameters& p) { return {.output = {"image", {p.height, p.width}}}; }
  static input bind_input(const parameters& p) { return {p.width, p.height}; }

  // The amplitude at the pixel opposite in the tile. A tile that hangs over the edge of the image is whole
  // nevertheless: the opposite pixel may lie beyond the edge, where the amplitude goes on.
  static expectation reference(const parameters& p, std::int64_t i) {
    const auto opposite = [](std::int64_t k) { return k / tile * tile + (tile - 1 - k % tile); };
    const auto wave = [](std::int64_t k) {
      constexpr long double two_pi = 6.283185307179586476925286766559L;
      return 1 + std::sin(two_pi * static_cast<long double>((k - 64) % 256) / 256);
    };
    const std::int64_t x = opposite(i % p.width), y = opposite(i / p.width);
    // The rounding error of an angle that is not reduced grows with the angle.
    const long double beyond_pi =
        std::max<long double>(1, static_cast<long double>(std::max(x, y) - 64) / 128);
    return {.value = wave(x) * wave(y), .scale = 4 * beyond_pi};
  }

  // The angle, at most pi where it is reduced, carries the roundings of a constant and a product: pi 2^-23.
  // The sine adds 2 ulp at most (2^-23), the sum half of one (2^-24): less than 6 * 2^-23 for a wave. An
  // amplitude has that of two waves, each times at most 2, and its own rounding: 25 * 2^-23. Relative to 4
  // that is less than 2^-20.
  static double relative_error(const parameters& /*p*/) { return 0x1p-20; }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::shared_tile
