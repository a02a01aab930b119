// Any associative operation, in a time that hardly depends on the window: a window is the suffix of one
// segment, whole segments, and the prefix of another (common/windows/suffix_prefix.hpp). Nothing is
// subtracted, so minimum and maximum cost the same as a sum, and errors do not add up. Each block also scans
// the tiles of its halo, in both directions.
#include "common/windows/suffix_prefix.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::monoid {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 7;                     // odd: threads 7 doubles apart meet no bank conflict
constexpr int tile = block_threads * per_thread;  // 1792 values

template <class Operation>
using scans_of = windows::suffix_prefix<Operation, block_threads, per_thread>;

// The halo's tiles and the block's own, and the totals that warps exchange.
template <class Operation>
std::size_t shared_bytes(std::int64_t window) {
  using scans = scans_of<Operation>;
  return static_cast<std::size_t>(scans::halo_tiles(window) + 1) * tile * sizeof(typename scans::state) +
         sizeof(typename scans::exchange);
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    rolling_kernel(const double* __restrict__ values, double* __restrict__ results, std::int64_t n,
                   int window, int min_periods, int segment_threads, int halo_tiles, Operation operation) {
  using scans = scans_of<Operation>;
  using state = typename scans::state;
  // tiles[k] holds input first - halo_tiles * tile + k, lifted, later its suffix.
  state* tiles = dynamic_shared<state>();
  const int count = (halo_tiles + 1) * tile;
  auto& others = *reinterpret_cast<typename scans::exchange*>(tiles + count);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (int k = thread; k < scans::exchange::states; k += block_threads)
    others.begin()[k] = operation.identity();
  // exercise: lift
  for (int k = thread; k < count; k += block_threads) {
    const std::int64_t j = first + tile - count + k;
    tiles[k] = j >= 0 && j < n ? operation.lift(values[j]) : operation.identity();
  }
  // end
  __syncthreads();

  const scans scan(operation, window, segment_threads, thread);
  state own[per_thread];
  if (scan.is_short()) {
    scan.combine_short(
        own, [tiles](int place, int) { return tiles[place]; }, count, count - tile);
  } else {
    for (int k = 0; k < count; k += tile) {
      for (int v = 0; v < per_thread; ++v) own[v] = tiles[k + scan.first + v];
      scan.scan(own, tiles + k, others, [] { __syncthreads(); });
      __syncthreads();
    }
    scan.complete(own, tiles, count, count - tile);
  }
  // Through shared memory, so that neighbouring threads write neighbouring results.
  __syncthreads();
  auto* finished = reinterpret_cast<double*>(tiles);
  for (int v = 0; v < per_thread; ++v) {
    finished[scan.first + v] =
        windows::window_result(operation, own[v], first + scan.first + v, window, min_periods);
  }
  __syncthreads();
  for (int k = thread; k < tile; k += block_threads) {
    if (first + k < n) results[first + k] = finished[k];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    using scans = scans_of<Operation>;
    const auto blocks = static_cast<unsigned>((in.n + tile - 1) / tile);
    lab::launch(rolling_kernel<Operation>, dim3(blocks), dim3(block_threads),
                shared_bytes<Operation>(in.window), stream, in.values, out.results, in.n, in.window,
                in.min_periods, scans::choose_segment(in.window), scans::halo_tiles(in.window), operation);
  });
}

std::string unsupported(const problem::parameters& p) {
  if (p.expression) return needs_whole_windows;
  const input in = problem::bind_input(p, nullptr);
  std::string why;
  with_operation(in, [&]<class Operation>(const Operation&) {
    why = windows::tiles_too_long<scans_of<Operation>>(in.window, 1);
  });
  return why;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "suffix and prefix of segments, for any associative operation",
     .launch = launch,
     .unsupported = unsupported,
     .tile = tile,
     .owner_of = consecutive_owner<tile, per_thread>}};

}  // namespace
}  // namespace lab::rolling::monoid
