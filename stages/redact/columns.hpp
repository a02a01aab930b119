// The two input columns, as kernels see them.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "stages/redact/problem.hpp"

namespace lab::redact {

template <class Offset>
struct columns {
  const Offset* name_offsets;
  const char* names;
  const Offset* visibility_offsets;
  const char* visibilities;
  std::int64_t rows;
  std::int64_t names_bytes;
  std::int64_t visibilities_bytes;
};

template <class Offset>
columns<Offset> columns_of(const input& in) {
  return {static_cast<const Offset*>(in.names.offsets),
          in.names.chars,
          static_cast<const Offset*>(in.visibilities.offsets),
          in.visibilities.chars,
          in.rows,
          in.names.bytes,
          in.visibilities.bytes};
}

// Of `tile_rows` rows from `first_row`, those that exist.
template <class Offset>
__device__ __forceinline__ int rows_from(const columns<Offset>& in, std::int64_t first_row, int tile_rows) {
  const std::int64_t left = in.rows - first_row;
  return left < tile_rows ? static_cast<int>(left) : tile_rows;
}

// Offsets are copied 16 bytes at a time; the last of them holds the one behind a tile's rows.
template <class Offset>
inline constexpr int offsets_behind = 16 / static_cast<int>(sizeof(Offset));

}  // namespace lab::redact
