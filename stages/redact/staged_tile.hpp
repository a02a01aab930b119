// The rows of one block: their characters are staged in shared memory, each thread redacts eight of the rows
// from there, and the output is put together there, too.
#pragma once

#include "common/cuda.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/staged_characters.hpp"
#include "stages/redact/staged_row.hpp"
#include "stages/redact/tile_size.hpp"

namespace lab::redact {

// In chunks: copy_out reads up to one word behind the output.
inline constexpr int chars_chunks = chars_capacity / 16 + 1;

struct tile_memory {
  staged_characters<names_capacity> names;
  staged_characters<visibilities_capacity> visibilities;
  // Bit i of this array is set where character i of the staged names is a space: 16 bits for each chunk.
  alignas(16) unsigned short spaces[space_words];
  uint4 chars[chars_chunks];
};

// Zeros, into which rows are written with atomicOr. A barrier follows.
__device__ __forceinline__ void clear(uint4 (&chars)[chars_chunks]) {
  for (int chunk = static_cast<int>(threadIdx.x); chunk < chars_chunks; chunk += tile_threads)
    chars[chunk] = {0, 0, 0, 0};
}

// The offsets of one thread's rows, read or written at once.
template <class Offset>
struct alignas(16) offsets_of_thread {
  Offset value[rows_per_thread];
};

// Thread t has the rows t * rows_per_thread and the next of the tile.
template <class Offset>
struct tile_of_rows : tile_characters<Offset, names_capacity, visibilities_capacity> {
  int rows;  // of the tile
  Offset name[rows_per_thread + 1];
  Offset visibility[rows_per_thread + 1];

  // The offsets begin with the tile's first row; they may be in shared memory.
  __device__ __forceinline__ tile_of_rows(const Offset* name_offsets, const Offset* visibility_offsets,
                                          int tile_rows)
      : tile_characters<Offset, names_capacity, visibilities_capacity>(name_offsets, visibility_offsets,
                                                                       tile_rows),
        rows(tile_rows) {
    load_offsets(name_offsets, name);
    load_offsets(visibility_offsets, visibility);
  }

  [[nodiscard]] __device__ __forceinline__ int row(int k) const {
    return static_cast<int>(threadIdx.x) * rows_per_thread + k;
  }
  [[nodiscard]] __device__ __forceinline__ bool has(int k) const { return row(k) < rows; }

  // What row k of this thread's becomes, from the staged characters.
  [[nodiscard]] __device__ __forceinline__ staged_row
  redact(int k, const staged_characters<names_capacity>& names, const unsigned short* spaces,
         const staged_characters<visibilities_capacity>& visibilities) const {
    const auto name_base = this->names_begin & ~Offset{15};
    const auto visibility_base = this->visibilities_begin & ~Offset{15};
    const bool shown = is_public(visibilities.words(), static_cast<int>(visibility[k] - visibility_base),
                                 static_cast<int>(visibility[k + 1] - visibility_base));
    return redact_staged(names, spaces, shown, static_cast<int>(name[k] - name_base),
                         static_cast<int>(name[k + 1] - name_base));
  }

  // What each of this thread's rows becomes, and of how many bytes: 0 for one that the tile does not have.
  // The sum of these.
  [[nodiscard]] __device__ __forceinline__ int redact_rows(
      const staged_characters<names_capacity>& names, const unsigned short* spaces,
      const staged_characters<visibilities_capacity>& visibilities, staged_row (&redacted)[rows_per_thread],
      int (&bytes)[rows_per_thread]) const {
    int of_thread = 0;
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      redacted[k] = has(k) ? redact(k, names, spaces, visibilities) : staged_row{0, 0, 0, 0};
      bytes[k] = redacted[k].bytes();
      of_thread += bytes[k];
    }
    return of_thread;
  }

 private:
  // The offsets of this thread's rows and the one behind; those behind the tile are its end.
  __device__ __forceinline__ void load_offsets(const Offset* of_tile,
                                               Offset (&to)[rows_per_thread + 1]) const {
    if (row(rows_per_thread) <= rows) {
      const auto all = *reinterpret_cast<const offsets_of_thread<Offset>*>(of_tile + row(0));
#pragma unroll
      for (int k = 0; k < rows_per_thread; ++k) to[k] = all.value[k];
      to[rows_per_thread] = of_tile[row(rows_per_thread)];
      return;
    }
#pragma unroll
    for (int k = 0; k <= rows_per_thread; ++k) to[k] = of_tile[row(k) < rows ? row(k) : rows];
  }
};

// This thread's rows, one behind the other, into the cleared `chars`; the first at byte `at`.
__device__ __forceinline__ void write_rows(uint4* chars, int at, const staged_row (&rows)[rows_per_thread],
                                           const staged_characters<names_capacity>& names) {
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    if (rows[k].head_bytes > 0) write_row(reinterpret_cast<unsigned*>(chars), at, rows[k], names.words());
    at += rows[k].bytes();
  }
}

// Where this thread's rows begin, the first at `at`.
template <class Offset>
__device__ __forceinline__ void write_offsets(Offset* of_tile, int tile_rows, std::int64_t at,
                                              const int (&bytes)[rows_per_thread]) {
  offsets_of_thread<Offset> all;
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    all.value[k] = static_cast<Offset>(at);
    at += bytes[k];
  }
  const int first = static_cast<int>(threadIdx.x) * rows_per_thread;
  if (first + rows_per_thread <= tile_rows) {
    *reinterpret_cast<offsets_of_thread<Offset>*>(of_tile + first) = all;
    return;
  }
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    if (first + k < tile_rows) of_tile[first + k] = all.value[k];
  }
}

}  // namespace lab::redact
