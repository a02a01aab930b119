// Names so long that one warp, or even one block, would work on one alone while the others are done: they are
// cut into pieces of 32 KiB, which the blocks share out. Where there are none, each kernel here reads one
// count or two offsets a tile.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/multiprocessors.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/tile_size.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact {

// Bytes of a name; longer ones are shared out. A tile that holds one is too large to be staged.
inline constexpr int long_row_bytes = names_capacity;
// A piece: so many bytes of a long name, or what is left at its end. One block works on it at a time.
inline constexpr int piece_bytes = 32 * 1024;
inline constexpr int piece_threads = 256;

struct long_row {
  std::int64_t row;
  std::int64_t begin;  // of the name
  std::int64_t end;
  std::int64_t first_piece;  // of this row's
  unsigned long long space;  // the first one, from the beginning of the array; `end` when there is none
};

// Which of the long rows are in a tile.
struct tile_long_rows {
  int first;
  int count;
};

struct long_row_counts {
  unsigned rows;
  unsigned pieces;
};

// What the passes over long rows share. All zero at first.
struct long_row_table {
  long_row_counts* counts;
  tile_long_rows* of_tile;
  long_row* rows;
  int* row_of_piece;

  // Every long row has more than long_row_bytes, every piece but a row's last has piece_bytes.
  static std::int64_t max_rows(const input& in) { return in.names.bytes / long_row_bytes + 1; }
  static std::int64_t max_pieces(const input& in) { return in.names.bytes / piece_bytes + max_rows(in); }
};

// A tile's own long rows, for redact_wide_tile: measured already, and copied later.
template <class Offset>
struct long_rows_of_tile {
  columns<Offset> in;
  tile_long_rows mine;
  const long_row* rows;

  // A whole warp calls.
  [[nodiscard]] __device__ __forceinline__ const long_row* find(std::int64_t row) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int k = 0; k < mine.count; k += 32) {
      const unsigned found =
          __ballot_sync(0xffffffffu, k + lane < mine.count && rows[mine.first + k + lane].row == row);
      if (found != 0) return rows + mine.first + k + __ffs(static_cast<int>(found)) - 1;
    }
    return nullptr;
  }

  __device__ __forceinline__ bool measure(std::int64_t row, wide_row<Offset>& measured) const {
    const long_row* found = find(row);
    if (found == nullptr) return false;
    const auto parts = parts_at(in.names, static_cast<Offset>(found->begin), static_cast<Offset>(found->end),
                                static_cast<Offset>(found->space));
    measured = {parts.redacted_bytes(), parts.first_bytes};
    return true;
  }

  [[nodiscard]] __device__ __forceinline__ bool copies_later(std::int64_t row) const {
    return find(row) != nullptr;
  }
};

// A thread for each tile; the warp helps with one that is too large to be staged, which alone can hold a long
// row.
template <class Offset>
__global__ void __launch_bounds__(piece_threads)
    find_long_rows_kernel(columns<Offset> in, int tile_rows, std::int64_t tiles, long_row_table table) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * piece_threads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool heavy = false;
  if (tile < tiles) {
    const std::int64_t first_row = tile * tile_rows;
    heavy = in.name_offsets[first_row + rows_from(in, first_row, tile_rows)] - in.name_offsets[first_row] >
            names_capacity;
  }
  // One of the warp's large tiles after the other, a lane for each of its rows.
  for (unsigned left = __ballot_sync(0xffffffffu, heavy); left != 0; left &= left - 1) {
    const std::int64_t its_tile = tile - lane + __ffs(static_cast<int>(left)) - 1;
    const std::int64_t first_row = its_tile * tile_rows;
    const int rows = rows_from(in, first_row, tile_rows);
    const auto is_long = [&](int k) {
      if (k >= rows) return false;
      const std::int64_t row = first_row + k;
      const Offset visibility = in.visibility_offsets[row];
      return in.name_offsets[row + 1] - in.name_offsets[row] > long_row_bytes &&
             is_public(in.visibilities + visibility, in.visibility_offsets[row + 1] - visibility);
    };
    int count = 0;
    for (int k = 0; k < rows; k += 32) count += __popc(__ballot_sync(0xffffffffu, is_long(k + lane)));
    if (count == 0) continue;
    int place = 0;
    if (lane == 0) {
      place = static_cast<int>(atomicAdd(&table.counts->rows, static_cast<unsigned>(count)));
      table.of_tile[its_tile] = {place, count};
    }
    place = __shfl_sync(0xffffffffu, place, 0);
    // Each long row and its pieces get their places in the table.
    for (int k = 0; k < rows; k += 32) {
      const bool mine = is_long(k + lane);
      const unsigned all = __ballot_sync(0xffffffffu, mine);
      if (mine) {
        const std::int64_t row = first_row + k + lane;
        const std::int64_t begin = in.name_offsets[row];
        const std::int64_t end = in.name_offsets[row + 1];
        const auto pieces = static_cast<unsigned>((end - begin + piece_bytes - 1) / piece_bytes);
        const unsigned first_piece = atomicAdd(&table.counts->pieces, pieces);
        const int index = place + __popc(all & ((1u << lane) - 1));
        table.rows[index] = {row, begin, end, first_piece, static_cast<unsigned long long>(end)};
        for (unsigned piece = 0; piece < pieces; ++piece) table.row_of_piece[first_piece + piece] = index;
      }
      place += __popc(all);
    }
  }
}

// Calls visit(row, begin, end) for each piece of a long name that falls to this block.
template <class Visit>
__device__ __forceinline__ void for_pieces(const long_row_table& table, const Visit& visit) {
  const unsigned pieces = table.counts->pieces;
  for (unsigned piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    long_row& row = table.rows[table.row_of_piece[piece]];
    const std::int64_t begin = row.begin + (piece - row.first_piece) * piece_bytes;
    visit(row, begin, begin + piece_bytes < row.end ? begin + piece_bytes : row.end);
  }
}

template <class Offset>
__global__ void __launch_bounds__(piece_threads)
    find_spaces_kernel(columns<Offset> in, long_row_table table) {
  for_pieces(table, [&](long_row& row, std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = (begin & ~std::int64_t{15}) + 16 * static_cast<std::int64_t>(threadIdx.x);
         at < end; at += 16 * piece_threads) {
      const std::int64_t space = find_space_in_chunk<std::int64_t>(in.names, at, begin, end, in.names_bytes);
      if (space == end) continue;
      atomicMin(&row.space, static_cast<unsigned long long>(space));
      return;
    }
  });
}

template <class Offset>
__global__ void __launch_bounds__(piece_threads)
    copy_first_names_kernel(columns<Offset> in, const Offset* offsets, char* chars, long_row_table table) {
  for_pieces(table, [&](const long_row& row, std::int64_t begin, std::int64_t end) {
    const auto space = static_cast<std::int64_t>(row.space);
    if (begin >= space) return;
    // The first name ends where the row does.
    const std::int64_t to = offsets[row.row + 1] - (space - begin);
    copy_characters(chars + to, in.names + begin, (end < space ? end : space) - begin,
                    static_cast<int>(threadIdx.x), piece_threads);
  });
}

}  // namespace lab::redact
