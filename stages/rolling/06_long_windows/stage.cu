// Windows of any length: no ring holds them. A block has one tile, and reads what leaves its windows again,
// which the blocks just before it have brought into the L2 cache. What lies between is the sum of whole
// tiles: each block publishes its tile's total, and adds up those of the tiles that its windows span. A total
// depends on no other, so nobody waits longer than for the block before.
//
// A block waits for blocks with lower indices alone, which have been started before it.
#include "common/windows/tile_messages.hpp"
#include "common/windows/two_scans.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::long_windows {
namespace {

constexpr int block_threads = 128;
constexpr int per_thread = 13;                    // odd: threads 13 doubles apart meet no bank conflict
constexpr int tile = block_threads * per_thread;  // 1664 values
// Many small blocks on a multiprocessor: while one waits for values, or for another block, the others
// compute.
template <class State>
constexpr int blocks_at_once = sizeof(State) == sizeof(double) ? 8 : 5;

// Every value counts, so that variances are made of deviations, whichever way NaN is taken.
struct every_moment : windows::skipping<windows::moments> {
  __host__ __device__ static bool is_counted(double /*value*/) { return true; }
  __host__ __device__ state lift(double value) const { return operation.lift(value); }
};

// Calls visit(operation) with what the parameters ask for.
template <class Visit>
void with_operation_of(const input& in, const Visit& visit) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    if constexpr (std::is_same_v<Operation, windows::moments>) {
      visit(every_moment{{operation, in.min_periods}});
    } else {
      visit(operation);
    }
  });
}

#if defined(__CUDACC__) || LAB_EMULATED

// From global into shared memory, without a register in between (compute capability 8.0). The thread's copies
// are there when it has waited, those of others behind a barrier.
__device__ __forceinline__ void copy_value(double* shared, const double* global) {
#if LAB_EMULATED || __CUDA_ARCH__ < 800
  *shared = *global;
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if !LAB_EMULATED && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

template <class Operation>
struct block {
  using state = typename Operation::state;
  using scans = windows::two_scans<Operation, block_threads, per_thread, windows::reach_of_ring>;

  // A ring of two tiles: what leaves the windows, and the block's own.
  struct shared_state {
    double leaving[tile];
    double own[tile];
    typename scans::template shared_state<1, 2> windows;
  };

  // Copies values `first` and on; beside the array there is 0.
  static __device__ void copy_tile(double* target, const double* values, std::int64_t first, std::int64_t n) {
#pragma unroll
    for (int k = 0; k < tile; k += block_threads) {
      const int place = k + static_cast<int>(threadIdx.x);
      const std::int64_t j = first + place;
      if (j >= 0 && j < n) {
        copy_value(target + place, values + j);
      } else {
        target[place] = 0;
      }
    }
  }

  // What lies between the tile that leaves and tile `own`: `whole` tiles, and the last values of the one
  // before. One warp calls, each lane takes neighbours, and every lane gets the result.
  static __device__ state between(const windows::tile_messages<state>& sent, std::int64_t own, int whole,
                                  const Operation& operation) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int each = (whole + 32) / 32;
    const std::int64_t first = own - whole - 1;
    state all = operation.identity();
    for (int k = 0; k < each; ++k) {
      const std::int64_t other = first + lane * each + k;
      if (other < 0 || other >= own) continue;
      all = operation.combine(all, other == first ? sent.rest_of(other) : sent.total_of(other));
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const state later = windows::shuffle_down(all, distance);
      if (lane + distance < 32) all = operation.combine(all, later);
    }
    return windows::shuffle(all, 0);
  }
};

template <class Operation>
__global__ void __launch_bounds__(block_threads, blocks_at_once<typename Operation::state>)
    rolling_kernel(const double* __restrict__ values, double* __restrict__ results, std::int64_t n,
                   int window, int min_periods, int segment_threads,
                   windows::tile_messages<typename Operation::state> sent, Operation operation) {
  using here = block<Operation>;
  auto& shared = *dynamic_shared<typename here::shared_state>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t own = blockIdx.x;
  const std::int64_t start = own * tile;
  here::copy_tile(shared.own, values, start, n);
  // A window no longer than a thread's own values begins in the tile before.
  here::copy_tile(shared.leaving, values, start - (window > per_thread ? window - 1 : tile), n);

  typename here::scans all(operation, window, segment_threads, thread);
  const int whole = segment_threads < block_threads ? 0 : all.between / tile;
  all.reach = tile;
  all.between %= tile;
  const auto barrier = [] { __syncthreads(); };
  const auto wait_for_values = [] {
    wait_for_copies();
    __syncthreads();
  };
  const auto wait_for_scans = [&] {
    // The thread that has both; and a warp that need not wait for its fence.
    if (thread == block_threads - 1) sent.publish(own, shared.windows.total[1], shared.windows.rest[1]);
    if (thread < 32) {
      const auto found = here::between(sent, own, whole, operation);
      if (thread == 0) shared.windows.rest[0] = found;
    }
    __syncthreads();
  };
  const bool at_an_end = start < window - 1 || start + tile >= n;
  double finished[per_thread];
  all.make(finished, shared.leaving, shared.windows, 0, 1, windows::place{start, min_periods, at_an_end},
           true, barrier, wait_for_values, wait_for_scans);
  // Through shared memory, so that neighbouring threads write neighbouring results.
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_thread; ++v) shared.own[all.first + v] = finished[v];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < tile; k += block_threads) {
    if (start + k + thread < n) __stcs(results + start + k + thread, shared.own[k + thread]);
  }
}

#endif

std::int64_t tiles_for(std::int64_t n) {
  return (n + tile - 1) / tile;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation_of(in, [&]<class Operation>(const Operation& operation) {
    using here = block<Operation>;
    const std::int64_t tiles = tiles_for(in.n);
    const auto sent = windows::tile_messages<typename Operation::state>::cleared(scratch.data, tiles, stream);
    lab::launch(rolling_kernel<Operation>, dim3(static_cast<unsigned>(tiles)), dim3(block_threads),
                sizeof(typename here::shared_state), stream, in.values, out.results, in.n, in.window,
                in.min_periods, here::scans::scans::choose_segment(in.window), sent, operation);
  });
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  with_operation_of(problem::bind_input(p, nullptr), [&]<class Operation>(const Operation&) {
    bytes = windows::tile_messages<typename Operation::state>::bytes(tiles_for(p.n));
  });
  return bytes;
}

// Beyond the L2 cache nothing is gained, and a block would add up thousands of tiles.
constexpr std::int64_t longest_window = std::int64_t{1} << 22;

std::string unsupported(const problem::parameters& p) {
  const std::int64_t window = std::min(p.window, p.n + 1);
  if (window <= longest_window) return "";
  return "window " + std::to_string(window) + " is beyond " + std::to_string(longest_window) +
         " values: a block would add up thousands of tiles";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "windows of any length: the L2 cache is the ring, and blocks add up tiles",
     .launch = launch,
     .workspace_bytes = workspace_bytes,
     .unsupported = unsupported,
     .tile = tile}};

}  // namespace
}  // namespace lab::rolling::long_windows
