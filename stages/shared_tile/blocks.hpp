// A block for each tile: what every stage of the track launches.
#pragma once

#include <string>

#include "stages/shared_tile/problem.hpp"

namespace lab::shared_tile {

constexpr int block_threads = tile * tile;      // a thread for each pixel
constexpr std::int64_t max_tile_rows = 65'535;  // the largest grid in y

inline dim3 grid_of(const input& in) {
  const auto tiles = [](std::int64_t pixels) { return static_cast<unsigned>((pixels + tile - 1) / tile); };
  return {tiles(in.width), tiles(in.height)};
}

inline std::string unsupported(const problem::parameters& p) {
  constexpr std::int64_t widest = std::int64_t{2'147'483'647} * tile;
  if (p.height > max_tile_rows * tile)
    return "height " + std::to_string(p.height) + " is above " + std::to_string(max_tile_rows * tile) +
           ": a grid has 65535 blocks in y";
  if (p.width > widest)
    return "width " + std::to_string(p.width) + " is above " + std::to_string(widest) +
           ": a grid has 2147483647 blocks in x";
  return "";
}

// The block and the thread that write pixel `index`.
inline owner owner_of(const problem::parameters& p, std::int64_t index) {
  const auto pair = [](std::int64_t x, std::int64_t y) {
    return std::string("(").append(std::to_string(x)).append(",").append(std::to_string(y)).append(",0)");
  };
  const std::int64_t x = index % p.width;
  const std::int64_t y = index / p.width;
  return {pair(x / tile, y / tile), pair(x % tile, y % tile)};
}

}  // namespace lab::shared_tile
