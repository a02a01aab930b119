// Two groups of threads take turns: while one waits at its barriers, the other computes. A tile is a chain of
// dependent steps (load, add, seven shuffles, barrier, add, barrier, load, store), and one chain leaves most
// of the multiprocessor's cycles unused. A second chain uses some of them. The suffix sums of the tile before
// come from the other group (common/windows/pipeline.hpp).
#include "common/windows/in_place.hpp"
#include "common/windows/pipeline.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::two_groups {
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
    moving_average_kernel(windows::stream_of_tiles in, windows::stripe stripe, windows::total mean,
                          int segment_threads) {
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  tiles_in_flight::run(in, stripe, computation(mean, in.window, segment_threads, thread));
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t tiles = (in.n + tile - 1) / tile;
  if (tiles == 0) return;
  const int blocks_at_once = multiprocessors();
  const std::int64_t stripe_tiles = (tiles + blocks_at_once - 1) / blocks_at_once;
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(tiles_in_flight::block_threads),
              sizeof(tiles_in_flight::shared_state), stream,
              ring.tiles_of(in.values, out.averages, in.n, in.window, in.window),
              windows::stripe{stripe_tiles}, windows::total::mean(in.window),
              window_sums::choose_segment(in.window));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "two groups of threads take turns: one computes while the other waits",
     .launch = launch,
     .unsupported = [](const problem::parameters& p) { return ring.too_long(p.window); },
     .tile = tile,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::moving_average::two_groups
