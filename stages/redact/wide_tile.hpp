// A tile that cannot be staged, since it has more bytes than there is room for: a warp redacts a row, from
// global memory.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/look_back.hpp"
#include "stages/redact/block_scan.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact {

// For redact_wide_tile, where no row is shared out: every row is measured and written by its warp.
struct no_long_rows {
  template <class Offset>
  __device__ __forceinline__ bool measure(std::int64_t /*row*/, wide_row<Offset>& /*measured*/) const {
    return false;
  }
  [[nodiscard]] __device__ __forceinline__ bool copies_later(std::int64_t /*row*/) const { return false; }
};

// The rows of a tile that cannot be staged, a warp for each. `measured` has room for them in shared memory.
// `long_rows` says which rows are measured already, and which first names others will copy.
template <class Team = whole_block<tile_threads>, class Offset, class LongRows = no_long_rows>
__device__ __attribute__((noinline)) void redact_wide_tile(columns<Offset> in, std::int64_t tile,
                                                           std::int64_t first_row, int rows,
                                                           wide_row<Offset>* measured, look_back_word* words,
                                                           Offset* offsets, char* chars,
                                                           const LongRows& long_rows = {}) {
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;

  // Measure the rows, a warp for each.
  for (int row = warp; row < rows; row += Team::threads / 32) {
    wide_row<Offset> one{};
    if (!long_rows.measure(first_row + row, one)) one = measure_wide_row(in, first_row + row);
    if (lane == 0) measured[row] = one;
  }
  Team::sync();

  // Sum up their bytes, a thread for each few rows, publish the sum, and look back.
  const int of_each = (rows + Team::threads - 1) / Team::threads;
  std::int64_t of_thread = 0;
  for (int k = 0; k < of_each; ++k) {
    const int row = thread * of_each + k;
    if (row < rows) of_thread += measured[row].bytes;
  }
  const auto scan = block_scan<std::int64_t, Team>(of_thread);
  if (thread == 0) publish_aggregate(words, tile, scan.total);
  if (warp == 0) {
    const std::int64_t begin = look_back(words, tile, scan.total);
    if (lane == 0) tile_begin = begin;
  }
  Team::sync();

  // Write the offsets.
  std::int64_t at = tile_begin + scan.before;
  for (int k = 0; k < of_each; ++k) {
    const int row = thread * of_each + k;
    if (row >= rows) continue;
    offsets[first_row + row] = static_cast<Offset>(at);
    at += measured[row].bytes;
  }
  if (first_row + rows == in.rows && thread == 0)
    offsets[in.rows] = static_cast<Offset>(tile_begin + scan.total);
  Team::sync();

  // Write the characters, a warp for each row.
  for (int row = warp; row < rows; row += Team::threads / 32) {
    const Offset out = offsets[first_row + row];
    if (long_rows.copies_later(first_row + row)) {
      if (lane == 0) write_wide_head(in, first_row + row, measured[row].first_bytes, chars + out);
    } else {
      write_wide_row(in, first_row + row, measured[row], chars + out);
    }
  }
}

}  // namespace lab::redact
