// The single pass over one tile, from the loads to the stores.
#pragma once

#include "common/look_back.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact {

// All threads of block `blockIdx.x` redact the tile of that number. `words` are for the look-back.
template <class Offset, class LongRows = no_long_rows>
__device__ __forceinline__ void redact_tile(const columns<Offset>& in, int tile_rows, look_back_word* words,
                                            Offset* offsets, char* chars, const LongRows& long_rows = {}) {
  __shared__ tile_memory memory;
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  if (in.rows == 0) {
    if (thread == 0) offsets[0] = 0;
    return;
  }
  const tile_of_rows<Offset> tile(in.name_offsets + first_row, in.visibility_offsets + first_row,
                                  rows_from(in, first_row, tile_rows));
  bool fits = tile.fits();
  staged_row redacted[rows_per_thread];
  int bytes[rows_per_thread];
  block_scan_result<int> scan{};
  if (fits) {
    tile.stage(in, memory.names, memory.spaces, memory.visibilities);
    clear(memory.chars);
    __syncthreads();
    int of_thread = 0;
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      redacted[k] = tile.has(k) ? tile.redact(k, memory.names, memory.spaces, memory.visibilities)
                                : staged_row{0, 0, 0, 0};
      bytes[k] = redacted[k].bytes();
      of_thread += bytes[k];
    }
    scan = block_scan<int>(of_thread);
    fits = scan.total <= chars_capacity;
  }
  if (!fits) {
    __syncthreads();  // the staged names are no longer read
    redact_wide_tile(in, blockIdx.x, first_row, tile.rows, reinterpret_cast<wide_row<Offset>*>(&memory),
                     words, offsets, chars, long_rows);
    return;
  }
  if (thread == 0) publish_aggregate(words, blockIdx.x, scan.total);
  write_rows(memory.chars, scan.before, redacted, memory.names);
  if (thread < 32) {
    const std::int64_t begin = look_back(words, blockIdx.x, scan.total);
    if (thread == 0) tile_begin = begin;
  }
  __syncthreads();
  const std::int64_t begin = tile_begin;
  write_offsets(offsets + first_row, tile.rows, begin + scan.before, bytes);
  if (first_row + tile.rows == in.rows && thread == 0)
    offsets[in.rows] = static_cast<Offset>(begin + scan.total);
  copy_out<tile_threads>(chars, begin, memory.chars, scan.total, thread);
}

}  // namespace lab::redact
