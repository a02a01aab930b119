// How many rows one block redacts together (a tile), and how many bytes of shared memory they may take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stages/redact/problem.hpp"

namespace lab::redact {

inline constexpr int tile_threads = 96;
inline constexpr int rows_per_thread = 8;
inline constexpr int max_tile_rows = tile_threads * rows_per_thread;
// Bytes of characters that a tile may have: names, visibilities, output.
inline constexpr int names_capacity = 13 * 1024;
inline constexpr int visibilities_capacity = 6 * 1024 + 512;
inline constexpr int chars_capacity = 12 * 1024;

// Bytes of characters, in and out, and rows that a tile may have.
struct tile_room {
  int names, visibilities, chars, rows;
};
inline constexpr tile_room staged_room{names_capacity, visibilities_capacity, chars_capacity, max_tile_rows};

// Rows of a tile, a multiple of 32: so many that on average they fill at most `share` of the room, and that
// their output fits even if all are public and no name has a space. A tile with more bytes than there is room
// for is redacted from global memory, a warp for each row.
inline int tile_rows_of(const input& in, const tile_room& room = staged_room, double share = 0.8) {
  const auto rows = static_cast<double>(std::max<std::int64_t>(in.rows, 1));
  const double name = static_cast<double>(in.names.bytes) / rows;
  const double visibility = static_cast<double>(in.visibilities.bytes) / rows;
  const double fits = std::min({share * room.names / std::max(name, 1.0),
                                share * room.visibilities / std::max(visibility, 1.0),
                                room.chars / std::max(name + 1, 3.0), static_cast<double>(room.rows)});
  return std::max(32, static_cast<int>(fits) / 32 * 32);
}

}  // namespace lab::redact
