// Windows of any length, also those that no ring can hold. Each block has one tile. It reads again the values
// that leave its windows; blocks shortly before it have brought them into the L2 cache. Between them and its
// tile lie whole tiles: each block publishes the total of its tile, and adds up the totals of the tiles that
// its windows contain. A total depends on no other total, so waits do not add up.
//
// A block waits only for blocks with lower indices, and these have been started before it.
#include "common/bulk_copy.hpp"
#include "common/windows/tile_messages.hpp"
#include "common/windows/two_scans.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::long_windows {
namespace {

constexpr int block_threads = 128;
constexpr int per_thread = 13;                    // odd: threads 13 doubles apart meet no bank conflict
constexpr int tile = block_threads * per_thread;  // 1664 values
// Of a warp's lane: sums of 128 tiles, which are 212 992 values, are asked for in one go.
template <class State>
constexpr int messages_at_once = sizeof(State) == sizeof(double) ? 4 : 2;
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
  using scans = windows::two_scans<Operation, block_threads, per_thread>;

  struct shared_state {
    // The block's tile, and what leaves its windows; or the tile before it and the block's. Bulk copies move
    // pairs of values: one more on either side.
    double values[2 * tile + 2];
    typename scans::template shared_state<1, 1> windows;
    mbarrier own;
    mbarrier leaving;
  };

  // Copies values `first` and on; beside the array there is 0.
  static __device__ void copy_tile(double* target, const double* values, std::int64_t first, std::int64_t n) {
#pragma unroll 1
    for (int place = static_cast<int>(threadIdx.x); place < tile; place += block_threads) {
      const std::int64_t j = first + place;
      if (j >= 0 && j < n) {
        copy_value(target + place, values + j);
      } else {
        target[place] = 0;
      }
    }
  }

  // What lies between the tile that leaves and tile `own`: `whole` tiles, and the last values of the one
  // before. One warp calls, and its first lane gets the result.
  static __device__ state between(const windows::tile_messages<state>& sent, std::int64_t own, int whole,
                                  const Operation& operation) {
    const std::int64_t first = own - whole - 1;
    constexpr int at_once = messages_at_once<state>;
    state all = operation.identity();
    for (std::int64_t begin = first > 0 ? first : 0; begin < own; begin += 32 * at_once) {
      state found[at_once];
      for (state& one : found) one = operation.identity();
      sent.read(found, begin, own, first);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if constexpr (Operation::commutes) {
          all = operation.combine(all, found[k]);
        } else if (begin + 32 * k < own) {
          all = operation.combine(all, in_order(found[k], operation));
        }
      }
    }
    return Operation::commutes ? in_order(all, operation) : all;
  }

  // Of the lanes' states, in the first lane.
  static __device__ state in_order(state all, const Operation& operation) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const state later = windows::shuffle_down(all, distance);
      if (lane + distance < 32) all = operation.combine(all, later);
    }
    return all;
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
  const std::int64_t tile_index = blockIdx.x;
  const std::int64_t start = tile_index * tile;
  // A window no longer than a thread's own values begins in the tile before, which lies before it here, too.
  const bool is_short = window <= per_thread;
  double* const own = shared.values + (is_short ? tile : 0);
  const std::int64_t oldest = start - (is_short ? tile : window - 1);
  // Bulk copies begin at even places.
  const int odd = static_cast<int>(oldest & 1);
  double* const leaving = shared.values + (is_short ? 0 : tile + odd);
  const bool in_bulk = has_bulk_copies && oldest - odd >= 0 && start + tile <= n;
  if (in_bulk) {
    if (thread == 0) {
      shared.own.initialise(1);
      shared.leaving.initialise(1);
      fence_mbarrier_init();
      copy_in(own, values + start, tile, shared.own);
      copy_in(leaving - odd, values + oldest - odd, tile + 2 * odd, shared.leaving);
    }
  } else {
    here::copy_tile(own, values, start, n);
    here::copy_tile(leaving, values, oldest, n);
    wait_for_copies();
  }
  __syncthreads();
  const auto wait_for_own = [&] {
    if (in_bulk) shared.own.wait(0);
  };
  const auto wait_for_leaving = [&] {
    if (in_bulk) shared.leaving.wait(0);
  };

  const typename here::scans all(operation, window, segment_threads, thread);
  const windows::place where{start, min_periods, start < window - 1 || start + tile >= n};
  double finished[per_thread];
  wait_for_own();
  if (is_short) {
    wait_for_leaving();
    all.short_windows(finished, shared.values, 2 * tile, tile, where);
  } else {
    // What others wait for first.
    const auto entered = all.enter(
        own, shared.windows, 0, start, [] { __syncthreads(); },
        [&](const auto& total, const auto& rest) { sent.publish(tile_index, total, rest); });
    wait_for_leaving();
    all.finish(finished, entered, own, leaving, shared.windows, 0, where, [&] {
      // A window shorter than a tile has no whole tiles between.
      const int whole = segment_threads < block_threads ? 0 : all.between / tile;
      if (thread < 32) {
        const auto found = here::between(sent, tile_index, whole, operation);
        if (thread == 0) shared.windows.rest[0] = found;
      }
      __syncthreads();
      return shared.windows.rest[0];
    });
  }
  // Through shared memory, so that neighbouring threads write neighbouring results.
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_thread; ++v) own[all.first + v] = finished[v];
  if (in_bulk) {
    fence_proxy_async();
    __syncthreads();
    if (thread == 0) {
      copy_out(results + start, own, tile);
      commit_group();
      wait_group_read<0>();
    }
    return;
  }
  __syncthreads();
  for (int k = thread; k < tile && start + k < n; k += block_threads) results[start + k] = own[k];
}

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
  if (p.expression) return needs_whole_windows;
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
