// What comes before a tile, combined in an order that never changes, as stage 07_fixed_order introduces it.
#pragma once

#include "stages/scan/message.hpp"
#include "stages/scan/tile.hpp"

namespace lab::scan {

// What blocks send: of each tile and each group its total, of each region all before it.
template <class T>
struct messages {
  message<T>* tiles;
  message<T>* groups;
  message<T>* regions;

  static std::int64_t count(std::int64_t tiles) { return tiles + tiles / 32 + tiles / 1024 + 1; }
  messages(void* memory, std::int64_t count)
      : tiles(static_cast<message<T>*>(memory)), groups(tiles + count), regions(groups + count / 32) {}

  // Of which none has been sent.
  static messages all_empty(void* memory, std::int64_t tiles, cudaStream_t stream) {
    CUDA_CHECK(
        cudaMemsetAsync(memory, 0, static_cast<std::size_t>(count(tiles)) * sizeof(message<T>), stream));
    return {memory, tiles};
  }
};

// The combination of `count` messages, fewer than 32, in lane 0 of the warp that calls.
template <class T, class Operation>
__device__ T wait_for(message<T>* first, int count, Operation combine) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T value = Operation::identity();
  if (lane < count) {
    while (!first[lane].receive(value)) {
    }
  }
  __syncwarp();
  return combine_lanes(value, combine);
}

// The combination of all tiles before tile `index`, whose total is `own`; in lane 0 of the warp that calls.
template <class T, class Operation>
__device__ T before_tile(messages<T> sent, std::int64_t index, T own, Operation combine) {
  const bool is_first_lane = threadIdx.x % 32 == 0;
  const std::int64_t group = index / 32, region = index / 1024;
  if (is_first_lane) sent.tiles[index].send(own);
  const T in_group = wait_for(sent.tiles + group * 32, static_cast<int>(index % 32), combine);
  const T with_own = combine(in_group, own);
  const bool ends_group = index % 32 == 31, ends_region = index % 1024 == 1023;
  if (is_first_lane && ends_group) sent.groups[group].send(with_own);
  const T groups = wait_for(sent.groups + region * 32, static_cast<int>(group % 32), combine);
  const T before_region = wait_for(sent.regions + region - 1, region > 0 ? 1 : 0, combine);
  const T before_group = combine(before_region, groups);
  if (is_first_lane && ends_region) sent.regions[region].send(combine(before_group, with_own));
  return combine(before_group, in_group);
}

// Of the smallest tiles and the longest messages, those of int64.
inline std::size_t bytes_of_messages(const problem::parameters& p) {
  return static_cast<std::size_t>(messages<std::int64_t>::count(parts(p.n, largest_tile / 2))) *
         sizeof(message<std::int64_t>);
}

// Through its tile, 5 steps each in its group and its region, and one addition for each region before.
inline double error_in_fixed_order(const problem::parameters& p) {
  return rounding_error(p, tile_additions + 2 + 5 + 5 + 3 + parts(p.n, largest_tile * 1024));
}

}  // namespace lab::scan
