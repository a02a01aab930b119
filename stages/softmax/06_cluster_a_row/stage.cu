// A cluster of up to eight blocks has a row, each block a part of it in registers. Blocks tell each other
// maximum and sum of their parts through distributed shared memory. A row has up to 262 144 values; and of
// rows of 32 768 values, four blocks of 256 threads share a multiprocessor, instead of one of 1024.
#include <algorithm>
#include <bit>

#include "common/cluster.hpp"
#include "stages/softmax/register_row.hpp"

namespace lab::softmax::cluster_a_row {
namespace {

constexpr int vectors = 8;
constexpr int values_each = 4 * vectors;
constexpr int most_blocks = 8;  // that every device with clusters takes
constexpr std::int64_t most_columns = std::int64_t{most_blocks} * 1024 * values_each;
constexpr std::int64_t part_columns = 256 * values_each;  // 8192, as long as eight blocks suffice

template <int most_threads>
__global__ void __launch_bounds__(most_threads)
    softmax_kernel(const float* __restrict__ values, float* __restrict__ results, std::int64_t columns,
                   std::int64_t part) {
  __shared__ row_state of_block;
  const auto blocks = static_cast<int>(cluster_blocks());
  const std::int64_t begin = static_cast<std::int64_t>(cluster_rank()) * part;
  const std::int64_t length = min(part, columns - begin);
  const std::int64_t first = blockIdx.x / blocks * columns + begin;
  register_row<vectors> row(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), columns % 4 == 0);
  row.load(values + first, length);
  const float of_warp = warp_reduce(row.largest(), maximum<float>{});
  const row_state of_part = combine_threads({of_warp, row.to_exponentials(of_warp)});
  if (threadIdx.x == 0) of_block = of_part;
  cluster_sync();
  // exercise: cluster
  const int lane = static_cast<int>(threadIdx.x) % 32;
  row_state other;
  if (lane < blocks) other = {read_from_block(&of_block.maximum, lane), read_from_block(&of_block.sum, lane)};
  const row_state all = combine_lanes(other);
  // end
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_arrive();
  row.store(results + first, length, factor_of(of_warp, all));
  cluster_wait();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0 || in.rows == 0) return;
  const auto pieces = static_cast<unsigned>(parts(in.columns, part_columns));
  const unsigned blocks = std::min<unsigned>(std::bit_ceil(pieces), most_blocks);
  const std::int64_t part = parts(in.columns, 4 * blocks) * 4;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  lab::launch_with(&cluster, 1, part <= part_columns ? softmax_kernel<256> : softmax_kernel<1024>,
                   dim3(static_cast<unsigned>(in.rows) * blocks),
                   dim3(static_cast<unsigned>(threads_for(part, values_each))), 0, stream, in.values,
                   out.results, in.columns, part);
}

std::string unsupported(const problem::parameters& p) {
  if (p.columns > most_columns) return "columns must be at most 262144: more do not fit into eight blocks";
  return p.rows * most_blocks < std::int64_t{1} << 31 ? "" : "rows must be below 2^28";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a cluster has a row, each of its blocks a part",
     .launch = launch,
     .unsupported = unsupported,
     .relative_error = [](const problem::parameters&) { return rounding_error(32 + additions_in_block + 5); },
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::softmax::cluster_a_row
