// All blocks work in one region of memory: each takes its next chunk of tiles from a counter, not from a
// stripe of its own. With 132 stripes, 132 places are read and 132 written at once, and even a pure copy in
// that order is no faster than the stage before. Memory is fastest when all blocks together read one
// contiguous region. Each chunk reads the window before it again, and asks the L2 cache to keep it for the
// block whose chunk ends with these values (common/windows/pipeline.hpp).
#include <algorithm>

#include "common/windows/in_place.hpp"
#include "common/windows/pipeline.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::work_counter {
namespace {

constexpr int groups = 2;  // compute a tile each, in turn
constexpr int group_threads = 256;
constexpr int per_thread = 7;
using window_sums = windows::suffix_prefix<windows::total, group_threads, per_thread>;
constexpr int tile = window_sums::tile;  // 1792 values = 14 KiB
constexpr windows::ring_plan ring{tile};

using computation = windows::in_place<windows::total, group_threads, per_thread>;
using tiles_in_flight = windows::pipeline<computation, groups, ring.slots>;

__global__ void __launch_bounds__(tiles_in_flight::block_threads, 1)
    moving_average_kernel(windows::stream_of_tiles in, windows::work_counter counter, windows::total mean,
                          int segment_threads) {
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  tiles_in_flight::run(in, counter, computation(mean, in.window, segment_threads, thread));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks_at_once = multiprocessors();
  const std::int64_t chunk_tiles = ring.chunk_tiles(in.n, in.window, blocks_at_once);
  const std::int64_t chunk = chunk_tiles * tile;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(blocks_at_once, (in.n + chunk - 1) / chunk));
  CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, sizeof(unsigned), stream));
  lab::launch(moving_average_kernel, dim3(blocks), dim3(tiles_in_flight::block_threads),
              sizeof(tiles_in_flight::shared_state), stream,
              ring.tiles_of(in.values, out.averages, in.n, in.window, in.window),
              windows::work_counter{chunk_tiles, static_cast<unsigned*>(scratch.data)},
              windows::total::mean(in.window), window_sums::choose_segment(in.window));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the next chunk from a counter: the blocks stay close together in memory",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters& /*p*/) { return sizeof(unsigned); },
     .unsupported = [](const problem::parameters& p) { return ring.too_long(p.window); },
     .tile = tile,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::moving_average::work_counter
