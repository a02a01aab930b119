// A scan of any size by a kernel that scans tiles of 1024 values or more: the totals of the tiles are scanned
// by the same kernel, as often as it takes, and then added to their tiles.
#pragma once

#include "stages/scan/problem.hpp"

namespace lab::scan {

// What a block does: scans tile blockIdx.x of the n values, and writes the tile's total to
// totals[blockIdx.x]. `results` may be the same as `values`.
template <class T>
using tile_kernel = void (*)(const T* values, T* results, T* totals, std::int64_t n, bool inclusive);

template <class T, class Operation>
__global__ void __launch_bounds__(256) add_kernel(T* results, const T* before, std::int64_t n, int tile) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (std::int64_t i = first + threadIdx.x; i < min(first + tile, n); i += 256)
    results[i] = Operation{}(before[blockIdx.x], results[i]);
}

// Those of a level, in a multiple of 16 bytes.
inline std::int64_t places_for_totals(std::int64_t tiles) {
  return parts(tiles, 4) * 4;
}

// `totals` has room for the totals of all levels.
template <class Operation, class T>
void scan_in_levels(tile_kernel<T> scan_tiles, int tile, int block_threads, const T* values, T* results,
                    T* totals, std::int64_t n, bool inclusive, cudaStream_t stream) {
  if (n == 0) return;
  const std::int64_t tiles = parts(n, tile);
  const dim3 grid(static_cast<unsigned>(tiles));
  lab::launch(scan_tiles, grid, dim3(static_cast<unsigned>(block_threads)), 0, stream, values, results,
              totals, n, inclusive);
  if (tiles == 1) return;
  scan_in_levels<Operation, T>(scan_tiles, tile, block_threads, totals, totals,
                               totals + places_for_totals(tiles), tiles, false, stream);
  lab::launch(add_kernel<T, Operation>, grid, dim3(256), 0, stream, results, static_cast<const T*>(totals), n,
              tile);
}

inline std::int64_t levels_of(std::int64_t n, std::int64_t tile) {
  return n <= tile ? 1 : 1 + levels_of(parts(n, tile), tile);
}

template <int tile>
std::size_t bytes_of_totals(const problem::parameters& p) {
  std::int64_t count = 0;
  for (std::int64_t n = p.n; n > 0; n = n > tile ? parts(n, tile) : 0)
    count += places_for_totals(parts(n, tile));
  return static_cast<std::size_t>(count) * sizeof(std::int64_t);
}

}  // namespace lab::scan
