// Our own scan kernel with decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", 2016). A block scans its tile and publishes the tile's state. It then combines the
// states of its predecessors, back to one that covers everything before it. A state is larger than a word, so
// a flag says what is valid. The writer stores the state, then a fence, then the flag; the reader reads the
// flag, then a fence, then the state.
//
// A block waits only for blocks with lower indices, and these have been started before it.
#include "stages/ewm/tile_scan.hpp"

namespace lab::ewm::look_back {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 15;
constexpr int tile_outputs = block_threads * per_thread;  // 3840

enum published : unsigned { nothing, aggregate, inclusive_prefix };

// A block's message in scratch memory; `flag` is `nothing` before the kernel starts.
template <class State>
struct message {
  State of_tile;
  State of_all;  // up to the end of the tile
  unsigned flag;
  unsigned unused;
};
constexpr std::size_t largest_message = 2 * largest_state + 8;

template <class State>
__device__ void publish(State& place, const State& run, unsigned& flag, published what) {
  // exercise: publish
  place = run;
  __threadfence();
  atomicExch(&flag, static_cast<unsigned>(what));
  // end
}

// Past the L1 cache, which knows nothing of other blocks' stores.
template <class State>
__device__ State read(const State& place) {
  struct words {
    double word[sizeof(State) / sizeof(double)];
  } all;
  const auto* from = reinterpret_cast<const double*>(&place);
  for (std::size_t k = 0; k < sizeof(State) / sizeof(double); ++k) all.word[k] = __ldcg(from + k);
  return __builtin_bit_cast(State, all);
}

// All before `block`, for the lanes of one warp: 32 messages at a time, the nearest to lane 0.
template <class Operation, class State>
__device__ State before_block(message<State>* messages, std::int64_t block, const Operation& operation) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  State before = operation.identity();
  for (std::int64_t nearest = block - 1; nearest >= 0; nearest -= 32) {
    const std::int64_t mine = nearest - lane;
    // Before the first block there is nothing to add.
    unsigned seen = mine >= 0 ? atomicAdd(&messages[mine].flag, 0U) : inclusive_prefix;
    unsigned whole = 0;  // lanes whose block knows all before it
    for (;;) {
      const unsigned there = __ballot_sync(~0U, seen != nothing);
      whole = __ballot_sync(~0U, seen == inclusive_prefix);
      const unsigned needed = whole == 0 ? ~0U : whole ^ (whole - 1);
      if ((there & needed) == needed) break;
      if (mine >= 0) seen = atomicAdd(&messages[mine].flag, 0U);
    }
    __threadfence();
    State run = operation.identity();
    if (mine >= 0 && (whole == 0 || lane < __ffs(static_cast<int>(whole))))
      run = read(seen == inclusive_prefix ? messages[mine].of_all : messages[mine].of_tile);
    // exercise: lanes
    for (int distance = 1; distance < 32; distance *= 2) {
      const State earlier = windows::shuffle_down(run, distance);
      if (lane + distance < 32) run = operation.combine(earlier, run);
    }
    // end
    before = operation.combine(windows::shuffle(run, 0), before);
    if (whole != 0) break;
  }
  return before;
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   message<typename Operation::state>* messages, Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread>;
  using state = typename Operation::state;
  __shared__ typename scans::shared_state shared;
  __shared__ state before_tile;
  const std::int64_t block = blockIdx.x;
  scans tile(shared, operation);
  tile.load(values, block * tile_outputs, n);
  const auto [before, total] = tile.scan();
  if (threadIdx.x < 32) {
    message<state>& own = messages[block];
    if (threadIdx.x == 0 && block > 0) publish(own.of_tile, total, own.flag, aggregate);
    __syncwarp();
    const state prefix = before_block(messages, block, operation);
    if (threadIdx.x == 0) {
      publish(own.of_all, operation.combine(prefix, total), own.flag, inclusive_prefix);
      before_tile = prefix;
    }
  }
  __syncthreads();
  tile.store(operation.combine(before_tile, before), averages, block * tile_outputs, n);
}

std::int64_t blocks_for(std::int64_t n) {
  return (n + tile_outputs - 1) / tile_outputs;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    using sent = message<typename Operation::state>;
    static_assert(sizeof(sent) <= largest_message);
    const std::int64_t blocks = blocks_for(in.n);
    CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, static_cast<std::size_t>(blocks) * sizeof(sent), stream));
    lab::launch(average_kernel<Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, in.values, out.averages, in.n, static_cast<sent*>(scratch.data), operation);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass: blocks publish states of several words, and look back",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return static_cast<std::size_t>(blocks_for(p.n)) * largest_message;
         },
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, per_thread>,
     .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::ewm::look_back
