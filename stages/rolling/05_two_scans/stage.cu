// The ring keeps values, 8 bytes each, whatever a state takes: each tile's values are scanned as prefixes
// when they enter and, a window later, as suffixes when they leave, both in registers
// (common/windows/two_scans.hpp). Any operation runs at any window that the ring holds; the price is that
// every value is lifted and scanned twice.
#include <algorithm>

#include "common/windows/moment_scans.hpp"
#include "common/windows/pipeline.hpp"
#include "common/windows/two_scans.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::two_scans {
namespace {

constexpr int groups = 3;  // compute a tile each, in turn
constexpr int group_threads = 128;
// Values of a thread, whose suffixes wait in registers: of two numbers at most where their count is known,
// and then 15 of them.
template <class Operation>
constexpr int per_thread = 15;
template <class Operation>
constexpr int per_thread<windows::skipping<Operation>> = 9;

// 13 tiles of 15 KiB, or 22 of 9 KiB.
template <class Operation>
constexpr windows::ring_plan ring{.tile = group_threads * per_thread<Operation>,
                                  .slots = per_thread<Operation> == 15 ? 13 : 22,
                                  .min_ahead = groups};

#if !LAB_EMULATED
template <class Operation>
using computation = std::conditional_t<std::is_same_v<Operation, windows::moments>,
                                       windows::moment_scans<group_threads, per_thread<Operation>>,
                                       windows::two_scans<Operation, group_threads, per_thread<Operation>>>;
template <class Operation>
using tiles_in_flight = windows::pipeline<computation<Operation>, groups, ring<Operation>.slots>;

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
  constexpr windows::ring_plan plan = ring<Operation>;
  const int blocks_at_once = multiprocessors();
  const std::int64_t chunk_tiles = plan.chunk_tiles(in.n, in.window, blocks_at_once);
  const std::int64_t chunk = chunk_tiles * plan.tile;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(blocks_at_once, (in.n + chunk - 1) / chunk));
  CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, sizeof(unsigned), stream));
  lab::launch(rolling_kernel<Operation>, dim3(blocks), dim3(tiles_in_flight<Operation>::block_threads),
              sizeof(typename tiles_in_flight<Operation>::shared_state), stream,
              plan.tiles_of(in.values, out.results, in.n, in.window, in.min_periods),
              windows::work_counter{chunk_tiles, static_cast<unsigned*>(scratch.data)}, operation,
              computation<Operation>::scans::choose_segment(in.window));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_operation(in, [&](const auto& operation) { launch_one(operation, in, out, scratch, stream); });
}
#endif

std::string unsupported(const problem::parameters& p) {
  const input in = problem::bind_input(p, nullptr);
  std::string why;
  with_operation(in, [&]<class Operation>(const Operation&) { why = ring<Operation>.too_long(in.window); });
  return why;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the ring keeps values: scanned as they enter and again as they leave",
     .launch = LAB_GPU_ONLY(launch),
     .workspace_bytes = [](const problem::parameters& /*p*/) { return sizeof(unsigned); },
     .unsupported = unsupported,
     .tile = ring<windows::total>.tile,
     .traits = {.gpu_only = true, .minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::rolling::two_scans
