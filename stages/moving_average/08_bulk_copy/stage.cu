// The computing threads no longer copy. One thread fills the ring by bulk copies, several tiles ahead, and
// another copies results out. A bulk copy is one instruction for a whole tile. It needs no registers while in
// flight, writes to shared memory itself, and signals a barrier there when all its bytes have arrived.
//
// common/windows/pipeline.hpp contains the loading, storing and computing threads. The next two stages use it
// as well, with another number of computing groups and another order of the tiles.
#include "common/windows/in_place.hpp"
#include "common/windows/pipeline.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::bulk_copy {
namespace {

constexpr int groups = 1;
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
    {.idea = "bulk copies fill the ring several tiles ahead and carry the results out",
     .launch = launch,
     .unsupported = [](const problem::parameters& p) { return ring.too_long(p.window); },
     .tile = tile,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::moving_average::bulk_copy
