// How a cluster of up to eight blocks shares a row, as stage 06_cluster_a_row introduces it.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "common/cluster.hpp"
#include "stages/softmax/register_row.hpp"

namespace lab::softmax {

struct cluster_plan {
  static constexpr int most_blocks = 8;  // that every device with clusters takes
  static constexpr std::int64_t most_columns = most_blocks * 32'768;

  unsigned blocks = 1;
  std::int64_t part = 0;  // values of a block, a multiple of 16 bytes
  cudaLaunchAttribute attribute{};

  // As few blocks as have up to `enough` values each; eight may have more.
  cluster_plan(std::int64_t columns, std::int64_t enough) {
    blocks = std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(parts(columns, enough))), most_blocks);
    part = parts(columns, 8 * blocks) * 8;
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
