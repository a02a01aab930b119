// How a cluster of up to eight blocks shares a row, as stage 06_cluster_a_row introduces it: each block has a
// part of it in registers, 32 values a thread.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "common/cluster.hpp"
#include "stages/softmax/register_row.hpp"

namespace lab::softmax {

struct cluster_plan {
  static constexpr int vectors = 8;
  static constexpr int values_each = 4 * vectors;
  static constexpr int most_blocks = 8;      // that every device with clusters takes
  static constexpr int small_threads = 256;  // of a block, as long as eight of them suffice
  static constexpr int large_threads = 1024;
  static constexpr std::int64_t most_columns = std::int64_t{most_blocks} * large_threads * values_each;

  unsigned blocks = 1;
  std::int64_t part = 0;  // values of a block, a multiple of 4
  int threads = 0;
  cudaLaunchAttribute attribute{};

  explicit cluster_plan(std::int64_t columns) {
    constexpr std::int64_t small_part = std::int64_t{small_threads} * values_each;
    blocks =
        std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(parts(columns, small_part))), most_blocks);
    part = parts(columns, 4 * blocks) * 4;
    threads = threads_for(part, values_each);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
  }

  static std::string unsupported(const problem::parameters& p) {
    if (p.columns > most_columns) return "columns must be at most 262144: more do not fit into eight blocks";
    return p.rows * most_blocks < std::int64_t{1} << 31 ? "" : "rows must be below 2^28";
  }
};

#if defined(__CUDACC__) || LAB_EMULATED

// The pairs of the cluster's blocks, each of which has its own at `of_block`, in every thread.
__device__ __forceinline__ row_state combine_blocks(const row_state& of_block) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  row_state other;
  if (lane < static_cast<int>(cluster_blocks()))
    other = {read_from_block(&of_block.maximum, lane), read_from_block(&of_block.sum, lane)};
  return combine_lanes(other);
}

#endif

}  // namespace lab::softmax
