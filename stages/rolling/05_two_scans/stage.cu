// The ring keeps values, 8 bytes each, whatever the size of a state. Each tile is scanned twice, in
// registers: for prefixes when it enters the window, and for suffixes when it leaves
// (common/windows/two_scans.hpp). So every operation runs with every window that fits in the ring. The price:
// every value is made a state and scanned twice.
#include <algorithm>

#include "common/windows/moment_scans.hpp"
#include "common/windows/pipeline.hpp"
#include "common/windows/two_scans.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::two_scans {
namespace {

constexpr int group_threads = 128;

// Groups of threads, which compute a tile each, in turn; values of a thread, whose suffixes wait in its
// registers; tiles of the ring; how many times as long as for a sum a chunk is: where not the order of memory
// decides but the computation, scanning a halo less often is worth more; and whether results take the places
// of values that have left, which saves a tile.
template <int groups_, int per_thread_, int slots_, int longer_, bool results_in_ring_ = false>
struct layout {
  static constexpr int groups = groups_;
  static constexpr int per_thread = per_thread_;
  static constexpr int slots = slots_;
  static constexpr int longer = longer_;
  static constexpr bool results_in_ring = results_in_ring_;
  static constexpr windows::ring_plan ring{
      .tile = group_threads * per_thread, .slots = slots, .min_ahead = groups};
};

// The more values a thread has, the fewer scans of warps there are for each, and the fewer tiles has the
// ring. Windows beyond so many tiles of `Short` have another layout.
template <class Short, int tiles, class Long>
struct by_window {
  using type = Short;
  using of_long_windows = Long;
  static constexpr std::int64_t long_beyond = std::int64_t{tiles} * Short::ring.tile;
  static_assert(Short::ring.longest_window() >= long_beyond);
  static_assert(Long::ring.longest_window() >= Short::ring.longest_window());
};

template <class State>
constexpr bool is_one_number = sizeof(State) == sizeof(double);
// Beside the ring two states are kept for each tile, and three for each warp.
template <class State, std::size_t most_bytes, class Smaller, class Larger>
using by_state = std::conditional_t<sizeof(State) <= most_bytes, Smaller, Larger>;

template <class Operation, bool is_small = is_one_number<typename Operation::state>>
struct layouts {
  using state = typename Operation::state;
  using type = by_state<state, 88, layout<3, 17, 13, 4, true>,
                        by_state<state, 512, layout<3, 15, 13, 4, true>, layout<3, 15, 11, 4, true>>>;
};
// Of states as large as a value.
template <class Operation>
struct layouts<Operation, true> {
  using type = layout<3, 15, 14, 2, true>;
};
template <>
struct layouts<windows::first_minus_last> : by_window<layout<3, 15, 13, 4>, 8, layout<3, 17, 13, 4, true>> {};
// Of skipped values a bit tells each: the suffixes' counts take no registers.
template <class Operation>
struct layouts<windows::skipping<Operation>, false> {
  using type =
      by_state<typename windows::skipping<Operation>::state, 80, layout<3, 13, 16, 4>, layout<3, 13, 13, 4>>;
};
template <class Operation>
requires is_one_number<typename Operation::state>
struct layouts<windows::skipping<Operation>, false>
    : by_window<layout<3, 17, 10, 4>, 4, layout<3, 15, 14, 4, true>> {
};
template <>
struct layouts<windows::skipping<windows::moments>>
    : by_window<layout<3, 17, 10, 4>, 4, layout<3, 13, 16, 4>> {};
// Registers, not warps, are what merges with known weights take.
template <>
struct layouts<windows::moments> : by_window<layout<2, 21, 9, 4>, 3, layout<3, 15, 14, 4, true>> {};

// Calls visit(layout) with that for windows of an operation.
template <class Operation, class Visit>
void with_layout(std::int64_t window, const Visit& visit) {
  using its_layouts = layouts<Operation>;
  if constexpr (requires { its_layouts::long_beyond; }) {
    if (window > its_layouts::long_beyond) return visit(typename its_layouts::of_long_windows{});
  }
  visit(typename its_layouts::type{});
}

template <class Operation, int per_thread>
using computation = std::conditional_t<std::is_same_v<Operation, windows::moments>,
                                       windows::moment_scans<group_threads, per_thread>,
                                       windows::two_scans<Operation, group_threads, per_thread>>;
template <class Operation, class Layout>
using tiles_in_flight = windows::pipeline<computation<Operation, Layout::per_thread>, Layout::groups,
                                          Layout::slots, true, Layout::results_in_ring>;

template <class Operation, class Layout>
__global__ void __launch_bounds__(tiles_in_flight<Operation, Layout>::block_threads, 1)
    rolling_kernel(windows::stream_of_tiles in, windows::work_counter counter, Operation operation,
                   int segment_threads) {
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  tiles_in_flight<Operation, Layout>::run(
      in, counter, computation<Operation, Layout::per_thread>(operation, in.window, segment_threads, thread));
}

template <class Operation, class Layout>
void launch_one(const Operation& operation, const input& in, const output& out, workspace scratch,
                cudaStream_t stream) {
  using computed = tiles_in_flight<Operation, Layout>;
  constexpr windows::ring_plan plan = Layout::ring;
  static_assert(sizeof(typename computed::shared_state) <= 227 * 1024,
                "a state this large leaves no room for the ring in shared memory");
  const int blocks_at_once = multiprocessors();
  // No longer than leaves a chunk for every multiprocessor.
  const std::int64_t chunk_tiles = std::min(plan.chunk_tiles(in.n, in.window, blocks_at_once, Layout::longer),
                                            (in.n / plan.tile + blocks_at_once) / blocks_at_once);
  const std::int64_t chunk = chunk_tiles * plan.tile;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(blocks_at_once, (in.n + chunk - 1) / chunk));
  CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, sizeof(unsigned), stream));
  lab::launch(rolling_kernel<Operation, Layout>, dim3(blocks), dim3(computed::block_threads),
              sizeof(typename computed::shared_state), stream,
              plan.tiles_of(in.values, out.results, in.n, in.window, in.min_periods),
              windows::work_counter{chunk_tiles, static_cast<unsigned*>(scratch.data)}, operation,
              computation<Operation, Layout::per_thread>::scans::choose_segment(in.window));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    with_layout<Operation>(in.window, [&]<class Layout>(Layout) {
      launch_one<Operation, Layout>(operation, in, out, scratch, stream);
    });
  });
}

std::string unsupported(const problem::parameters& p) {
  if (p.expression) return needs_whole_windows;
  const input in = problem::bind_input(p, nullptr);
  std::string why;
  with_operation(in, [&]<class Operation>(const Operation&) {
    with_layout<Operation>(in.window, [&]<class Layout>(Layout) { why = Layout::ring.too_long(in.window); });
  });
  return why;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the ring keeps values: scanned as they enter and again as they leave",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters& /*p*/) { return sizeof(unsigned); },
     .unsupported = unsupported,
     .tile = layouts<windows::total>::type::ring.tile,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::rolling::two_scans
