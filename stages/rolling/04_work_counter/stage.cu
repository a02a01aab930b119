// Separate threads copy, two groups of threads compute, and a counter gives out the tiles: the last stage of
// the moving average, for every operation whose state has the size of a value (common/windows/pipeline.hpp).
// The suffixes overwrite the values in the ring, so states of two or three numbers do not fit. The next stage
// keeps the values.
#include <algorithm>

#include "common/windows/in_place.hpp"
#include "common/windows/pipeline.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::work_counter {
namespace {

constexpr int groups = 2;  // compute a tile each, in turn
constexpr int group_threads = 256;
constexpr int per_thread = 7;
constexpr int tile = group_threads * per_thread;  // 1792 values = 14 KiB
constexpr windows::ring_plan ring{tile};

template <class Operation>
using computation = windows::in_place<Operation, group_threads, per_thread>;
template <class Operation>
using tiles_in_flight = windows::pipeline<computation<Operation>, groups, ring.slots>;

template <class Operation>
__global__ void __launch_bounds__(tiles_in_flight<Operation>::block_threads, 1)
    rolling_kernel(windows::stream_of_tiles in, windows::work_counter counter, Operation operation,
                   int segment_threads) {
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  tiles_in_flight<Operation>::run(in, counter,
                                  computation<Operation>(operation, in.window, segment_threads, thread));
}

template <class Operation>
void launch_one(const Operation& operation, const input& in, const output& out, workspace scratch,
                cudaStream_t stream) {
  const int blocks_at_once = multiprocessors();
  const std::int64_t chunk_tiles = ring.chunk_tiles(in.n, in.window, blocks_at_once);
  const std::int64_t chunk = chunk_tiles * tile;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(blocks_at_once, (in.n + chunk - 1) / chunk));
  CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, sizeof(unsigned), stream));
  lab::launch(rolling_kernel<Operation>, dim3(blocks), dim3(tiles_in_flight<Operation>::block_threads),
              sizeof(typename tiles_in_flight<Operation>::shared_state), stream,
              ring.tiles_of(in.values, out.results, in.n, in.window, in.min_periods),
              windows::work_counter{chunk_tiles, static_cast<unsigned*>(scratch.data)}, operation,
              computation<Operation>::choose_segment(in.window));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_propagating(in, [&]<class Operation>(const Operation& operation) {
    if constexpr (std::is_same_v<typename Operation::state, double>)
      launch_one(operation, in, out, scratch, stream);
  });
}

std::string unsupported(const problem::parameters& p) {
  if (p.expression) return needs_whole_windows;
  const std::string why = state_too_large(p);
  return why.empty() ? ring.too_long(problem::bind_input(p, nullptr).window) : why;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "copies by their own threads, two groups, tiles from a counter",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters& /*p*/) { return sizeof(unsigned); },
     .unsupported = unsupported,
     .tile = tile,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::rolling::work_counter
