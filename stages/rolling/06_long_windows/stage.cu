// Windows of any length: no ring holds them. A block has one tile, and reads what leaves its windows again,
// which the blocks just before it have brought into the L2 cache. What lies between is the sum of whole
// tiles: each block publishes its tile's total, and adds up those of the tiles that its windows span. A total
// depends on no other, so nobody waits longer than for the block before.
//
// A block waits for blocks with lower indices alone, which have been started before it.
#include "common/windows/two_scans.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::long_windows {
namespace {

constexpr int block_threads = 128;
constexpr int largest_small_state = 8;

// Values of a thread, and blocks on a multiprocessor that leave it registers enough.
template <class State>
constexpr int per_thread_of = sizeof(State) <= largest_small_state ? 15 : 9;
template <class State>
constexpr int blocks_at_once = sizeof(State) <= largest_small_state ? 5 : 4;

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

// What the blocks have published, in scratch memory: of tile k `total[k]` and, of its last values, `rest[k]`,
// if there[k] is not 0. All of `there` is 0 before the kernel starts.
template <class State>
struct messages {
  unsigned* there;
  State* total;
  State* rest;

  static std::size_t bytes(std::int64_t tiles) {
    return states_from(tiles) + static_cast<std::size_t>(tiles) * 2 * sizeof(State);
  }
  static std::size_t states_from(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles + 31) / 32 * 32 * sizeof(unsigned);
  }
  static messages in(workspace scratch, std::int64_t tiles) {
    auto* const states =
        reinterpret_cast<State*>(static_cast<unsigned char*>(scratch.data) + states_from(tiles));
    return {static_cast<unsigned*>(scratch.data), states, states + tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  __device__ void publish(std::int64_t tile, const State& all, const State& last) const {
    // exercise: publish
    total[tile] = all;
    rest[tile] = last;
    __threadfence();
    atomicExch(there + tile, 1U);
    // end
  }
  // All lanes of a warp wait, each for one tile.
  __device__ void wait_for(std::int64_t tile) const {
    unsigned seen = tile >= 0 ? read(there + tile) : 1;
    while (__any_sync(~0U, seen == 0)) seen = tile >= 0 ? read(there + tile) : 1;
    __threadfence();
  }
  // Past the L1 cache, which knows nothing of other blocks' stores.
  static __device__ State state_at(const State* place) {
    struct words {
      double word[sizeof(State) / sizeof(double)];
    } all;
    const auto* from = reinterpret_cast<const double*>(place);
    for (std::size_t k = 0; k < sizeof(State) / sizeof(double); ++k) all.word[k] = __ldcg(from + k);
    return __builtin_bit_cast(State, all);
  }

 private:
  static __device__ unsigned read(unsigned* flag) {
#if LAB_EMULATED
    return atomicAdd(flag, 0U);
#else
    unsigned value = 0;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
#endif
  }
#endif
};

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
  using scans = windows::two_scans<Operation, block_threads, per_thread_of<state>>;
  static constexpr int per_thread = scans::per_thread;
  static constexpr int tile = scans::tile;

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
  // before. One warp calls, and every lane gets it.
  static __device__ state between(const messages<state>& sent, std::int64_t own, int whole,
                                  const Operation& operation) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    state all = operation.identity();
    for (std::int64_t first = own - whole - 1; first < own; first += 32) {
      // exercise: order
      const std::int64_t mine = first + lane < own ? first + lane : -1;
      sent.wait_for(mine);
      state run = operation.identity();
      if (mine >= 0)
        run = messages<state>::state_at((lane == 0 && first == own - whole - 1 ? sent.rest : sent.total) +
                                        mine);
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const state later = windows::shuffle_down(run, distance);
        if (lane + distance < 32) run = operation.combine(run, later);
      }
      all = operation.combine(all, windows::shuffle(run, 0));
      // end
    }
    return all;
  }
};

template <class Operation>
__global__ void __launch_bounds__(block_threads, blocks_at_once<typename Operation::state>)
    rolling_kernel(const double* __restrict__ values, double* __restrict__ results, std::int64_t n,
                   int window, int min_periods, int segment_threads, messages<typename Operation::state> sent,
                   Operation operation) {
  using here = block<Operation>;
  auto& shared = *dynamic_shared<typename here::shared_state>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t own = blockIdx.x;
  const std::int64_t start = own * here::tile;
  here::copy_tile(shared.own, values, start, n);
  here::copy_tile(shared.leaving, values, start - (window - 1), n);

  typename here::scans all(operation, window, segment_threads, thread);
  const int whole = segment_threads < block_threads ? 0 : all.between / here::tile;
  all.reach = here::tile;
  all.between %= here::tile;
  const auto barrier = [] { __syncthreads(); };
  const auto wait_for_values = [] {
    wait_for_copies();
    __syncthreads();
  };
  const auto wait_for_scans = [&] {
    __syncthreads();
    if (thread == 0) sent.publish(own, shared.windows.total[1], shared.windows.rest[1]);
    if (thread >= 32) {
      // Another warp than the one that publishes need not wait for its fence.
      if (thread < 64) {
        const auto found = here::between(sent, own, whole, operation);
        if (thread == 32) shared.windows.rest[0] = found;
      }
    }
    __syncthreads();
  };
  const bool at_an_end = start < window - 1 || start + here::tile >= n;
  double finished[here::per_thread];
  all.make(finished, shared.leaving, shared.windows, 0, 1, windows::place{start, min_periods, at_an_end},
           true, barrier, wait_for_values, wait_for_scans);
  // Through shared memory, so that neighbouring threads write neighbouring results.
  __syncthreads();
#pragma unroll
  for (int v = 0; v < here::per_thread; ++v) shared.own[all.first + v] = finished[v];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < here::tile; k += block_threads) {
    if (start + k + thread < n) __stcs(results + start + k + thread, shared.own[k + thread]);
  }
}

#endif

template <class Operation>
std::int64_t tiles_for(std::int64_t n) {
  constexpr int tile = block_threads * per_thread_of<typename Operation::state>;
  return (n + tile - 1) / tile;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation_of(in, [&]<class Operation>(const Operation& operation) {
    using here = block<Operation>;
    const std::int64_t tiles = tiles_for<Operation>(in.n);
    const auto sent = messages<typename Operation::state>::in(scratch, tiles);
    CUDA_CHECK(cudaMemsetAsync(sent.there, 0, static_cast<std::size_t>(tiles) * sizeof(unsigned), stream));
    lab::launch(rolling_kernel<Operation>, dim3(static_cast<unsigned>(tiles)), dim3(block_threads),
                sizeof(typename here::shared_state), stream, in.values, out.results, in.n, in.window,
                in.min_periods, here::scans::scans::choose_segment(in.window), sent, operation);
  });
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  with_operation_of(problem::bind_input(p, nullptr), [&]<class Operation>(const Operation&) {
    bytes = messages<typename Operation::state>::bytes(tiles_for<Operation>(p.n));
  });
  return bytes;
}

// Beyond the L2 cache nothing is gained, and a block would add up thousands of tiles.
constexpr std::int64_t longest_window = std::int64_t{1} << 22;

std::string unsupported(const problem::parameters& p) {
  const std::int64_t window = std::min(p.window, p.n + 1);
  if (window <= 15) return "a window of at most 15 values may be less than a thread's own: see 05_two_scans";
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
     .tile = block_threads * 15}};

}  // namespace
}  // namespace lab::rolling::long_windows
