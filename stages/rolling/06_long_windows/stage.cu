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

#if defined(__CUDACC__) || LAB_EMULATED
// Through the L2 cache, where all blocks meet, and past the L1 cache.
template <class Word>
__device__ __forceinline__ Word read_message(Word* word) {
#if LAB_EMULATED
  return atomicAdd(word, Word{0});
#else
  Word value;
  if constexpr (sizeof(Word) == 8) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  }
  return value;
#endif
}
#endif

// What the blocks have published, in scratch memory: of tile k its total, and that of its last values, the
// rest. A state of several words is there when there[k] is not 0, which needs a fence on both sides.
template <class State>
struct messages {
  unsigned* there;
  State* total;
  State* rest;

  static std::size_t bytes(std::int64_t tiles) {
    return states_from(tiles) + static_cast<std::size_t>(tiles) * 2 * sizeof(State);
  }
  // Before the kernel starts.
  static messages cleared(workspace scratch, std::int64_t tiles, cudaStream_t stream) {
    auto* const begin = static_cast<unsigned char*>(scratch.data);
    auto* const states = reinterpret_cast<State*>(begin + states_from(tiles));
    CUDA_CHECK(cudaMemsetAsync(begin, 0, states_from(tiles), stream));
    return {reinterpret_cast<unsigned*>(begin), states, states + tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  // One thread calls.
  __device__ void publish(std::int64_t tile, const State& all, const State& last) const {
    total[tile] = all;
    rest[tile] = last;
    __threadfence();
    atomicExch(there + tile, 1U);
  }
  __device__ State total_of(std::int64_t tile) const {
    return wait_for(tile, total);
  }
  __device__ State rest_of(std::int64_t tile) const {
    return wait_for(tile, rest);
  }

 private:
  __device__ State wait_for(std::int64_t tile, const State* states) const {
    while (read_message(there + tile) == 0) {
    }
    __threadfence();
    struct words {
      double word[sizeof(State) / sizeof(double)];
    } all;
    const auto* from = reinterpret_cast<const double*>(states + tile);
    for (std::size_t k = 0; k < sizeof(State) / sizeof(double); ++k) all.word[k] = __ldcg(from + k);
    return __builtin_bit_cast(State, all);
  }
#endif

 private:
  static std::size_t states_from(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles + 31) / 32 * 32 * sizeof(unsigned);
  }
};

// A number is one word: when it is there, all of it is, and nobody needs a fence. Before that all its bits
// are set, a NaN as which no number is published.
template <>
struct messages<double> {
  using word = unsigned long long;
  static constexpr word nothing = ~word{0};

  word* total;
  word* rest;

  static std::size_t bytes(std::int64_t tiles) { return static_cast<std::size_t>(tiles) * 2 * sizeof(word); }
  static messages cleared(workspace scratch, std::int64_t tiles, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(scratch.data, 0xff, bytes(tiles), stream));
    auto* const words = static_cast<word*>(scratch.data);
    return {words, words + tiles};
  }

#if defined(__CUDACC__) || LAB_EMULATED
  __device__ void publish(std::int64_t tile, double all, double last) const {
    // exercise: publish
    atomicExch(total + tile, word_of(all));
    atomicExch(rest + tile, word_of(last));
    // end
  }
  __device__ double total_of(std::int64_t tile) const {
    return wait_for(total + tile);
  }
  __device__ double rest_of(std::int64_t tile) const {
    return wait_for(rest + tile);
  }

 private:
  static __device__ word word_of(double value) {
    return __builtin_bit_cast(word, value == value ? value : static_cast<double>(NAN));
  }
  static __device__ double wait_for(word* place) {
    word found = read_message(place);
    while (found == nothing) found = read_message(place);
    return __builtin_bit_cast(double, found);
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
  // before. One warp calls, each lane takes neighbours, and every lane gets the result.
  static __device__ state between(const messages<state>& sent, std::int64_t own, int whole,
                                  const Operation& operation) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int each = (whole + 32) / 32;
    const std::int64_t first = own - whole - 1;
    state all = operation.identity();
    // exercise: order
    for (int k = 0; k < each; ++k) {
      const std::int64_t tile = first + lane * each + k;
      if (tile < 0 || tile >= own) continue;
      all = operation.combine(all, tile == first ? sent.rest_of(tile) : sent.total_of(tile));
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const state later = windows::shuffle_down(all, distance);
      if (lane + distance < 32) all = operation.combine(all, later);
    }
    // end
    return windows::shuffle(all, 0);
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
    // The thread that has both; and a warp that need not wait for its fence.
    if (thread == block_threads - 1) sent.publish(own, shared.windows.total[1], shared.windows.rest[1]);
    if (thread < 32) {
      const auto found = here::between(sent, own, whole, operation);
      if (thread == 0) shared.windows.rest[0] = found;
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
    const auto sent = messages<typename Operation::state>::cleared(scratch, tiles, stream);
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
