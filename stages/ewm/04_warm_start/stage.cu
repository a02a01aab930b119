// Blocks do not communicate: an average forgets old values. Each block has a long stripe. It first reads
// backwards, tile by tile, until older values have decayed to 2^-106 (so even a value of 2^53 among values of
// 1 is within rounding). Then it goes along the stripe with the state in registers.
//
// Bulk copies load and store the tiles (four buffers). A tile without gaps needs a scan of the sum only.
#include "common/bulk_copy.hpp"
#include "common/multiprocessors.hpp"
#include "stages/ewm/tile_scan.hpp"

namespace lab::ewm::warm_start {
namespace {

constexpr int block_threads = 128;
constexpr int per_thread = 15;
constexpr int tile = block_threads * per_thread;  // 1920 values
constexpr int warps = block_threads / 32;
constexpr int forgotten_bits = 106;
// It may have the other sign, and half of the last bit is a rounding of the warm-up's length.
constexpr double forgotten_part = 0x1p-104;
// Tiles of a block in shared memory: one that is computed, one whose averages leave, and those on their way.
constexpr int slots = 4;
constexpr int ahead = slots - 2;
constexpr int blocks_per_multiprocessor = 2;
static_assert(tile % 2 == 0, "bulk copies move multiples of 16 bytes");

template <class Operation>
struct shared_state {
  double values[slots][tile];
  double sum_of_warp[2][warps];  // of this tile, and of the one before, which some warps may still read
  typename Operation::state of_warp[warps];
  mbarrier arrived[slots];
};

// A tile's sums, as if no value of it were missing: how a thread's values decay is known beforehand.
template <class Operation>
class plain_tile {
 public:
  __device__ plain_tile(const Operation& operation, const powers_of_decay& powers)
      : operation_(operation), powers_(powers) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int k = 0; k < 5; ++k)
      if ((lane >> k & 1) != 0) to_thread_ *= powers_.runs[k];
  }

  // Reads the thread's values, and gives the sum of the tile and, decayed, of what came before it. Of a tile
  // with a value that is missing that is no number, either.
  __device__ double scan(const double* values, double (&sum_of_warp)[warps], double before) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const double* own = values + threadIdx.x * per_thread;
    double sum = 0;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      entered_[v] = operation_.enters(own[v]);
      sum = fma(sum, operation_.decay, entered_[v]);
    }
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      const double earlier = windows::shuffle_up(sum, 1 << k);
      if (lane >= 1 << k) sum = fma(earlier, powers_.runs[k], sum);
    }
    if (lane == 31) sum_of_warp[warp] = sum;
    const double in_warp = windows::shuffle_up(sum, 1);
    __syncthreads();
    double all = before;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      if (w == warp) before_ = all;
      all = fma(all, powers_.warp, sum_of_warp[w]);
    }
    before_ = fma(before_, to_thread_, lane > 0 ? in_warp : 0);
    return all;
  }

  // Replaces the thread's values by the averages.
  __device__ void finish(double* values) const {
    double* own = values + threadIdx.x * per_thread;
    double sum = before_;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      sum = fma(sum, operation_.decay, entered_[v]);
      own[v] = operation_.leaves(sum);
    }
  }

 private:
  const Operation& operation_;
  const powers_of_decay& powers_;
  double to_thread_ = 1;  // the decay from the warp's first value to the thread's
  double before_ = 0;     // the sum of what came before the thread's values
  double entered_[per_thread];
};

template <class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t stripe, std::int64_t warm_up, Operation operation, powers_of_decay powers) {
  using state = typename Operation::state;
  using scans = tile_scan<Operation, block_threads, per_thread>;
  auto& shared = *dynamic_shared<shared_state<Operation>>();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stripe;
  const std::int64_t end = first + stripe < n ? first + stripe : n;
  // Tiles are numbered as they are read: those before the stripe, backwards, then the stripe's.
  const std::int64_t most = first / tile;
  const std::int64_t enough = (warm_up + tile - 1) / tile;
  const int warm_tiles = static_cast<int>(enough < most ? enough : most);
  int number = 0;
  int slot = 0;
  unsigned round = 0;  // how often the slots have been filled

  const auto bring = [&](int next, int target) {
    const std::int64_t start =
        first + (next < warm_tiles ? -1 - next : next - warm_tiles) * std::int64_t{tile};
    if (start < end && start + tile <= n)
      copy_in(shared.values[target], values + start, tile, shared.arrived[target]);
  };
  if (has_bulk_copies && threadIdx.x == 0) {
    for (mbarrier& barrier : shared.arrived) barrier.initialise(1);
    fence_mbarrier_init();
    for (int k = 0; k < ahead; ++k) bring(k, k);
  }
  __syncthreads();
  // Waits for the tile that begins at `start`, and has one more brought.
  const auto arrive = [&](std::int64_t start) {
    if (has_bulk_copies && threadIdx.x == 0) {
      // The averages that were there have left, since all but the last tile's have.
      wait_group_read<1>();
      bring(number + ahead, (slot + ahead) % slots);
    }
    if (has_bulk_copies && start + tile <= n) return shared.arrived[slot].wait(round);
    scans(shared.values[slot], shared.of_warp, operation).load(values, start, n);
  };
  const auto advance = [&] {
    ++number;
    if (++slot == slots) slot = 0, ++round;
  };

  plain_tile<Operation> plain(operation, powers);
  // Runs combine in any grouping, so earlier tiles can be put before later ones. What decays is counted in
  // values that are present: a gap forgets nothing.
  state before = operation.identity();
  for (std::int64_t start = first - tile; start >= 0 && before.values < warm_up; start -= tile) {
    int place = slot;
    if (number < warm_tiles) {
      arrive(start);
      advance();
    } else {
      // Further back, since values were missing: in a place that no copy is on its way to.
      place = (slot + slots - 1) % slots;
      scans(shared.values[place], shared.of_warp, operation).load(values, start, n);
    }
    const double earliest = shared.values[place][0];
    const double sum = plain.scan(shared.values[place], shared.sum_of_warp[number % 2], 0);
    const state total = is_plain_sum(sum)
                            ? operation.of_plain(sum, earliest, powers)
                            : scans(shared.values[place], shared.of_warp, operation).scan().total;
    before = operation.combine(total, before);
  }
  if (has_bulk_copies) fence_proxy_async();
  __syncthreads();
  for (std::int64_t start = first; start < end; start += tile) {
    arrive(start);
    double* const here = shared.values[slot];
    scans tile_here(here, shared.of_warp, operation);
    const double sum = plain.scan(here, shared.sum_of_warp[number % 2], operation.sum_of(before));
    if (is_plain_sum(sum) && operation.is_settled(before)) {
      plain.finish(here);
      operation.sum_of(before) = sum;
      before.values += tile;
    } else {
      const auto [in_tile, total] = tile_here.scan();
      tile_here.finish(operation.combine(before, in_tile));
      before = operation.combine(before, total);
    }
    if (has_bulk_copies && start + tile <= n) {
      fence_proxy_async();
      __syncthreads();
      if (threadIdx.x == 0) {
        copy_out(averages + start, here, tile);
        commit_group();
      }
    } else {
      tile_here.store(averages, start, n);
    }
    advance();
  }
  if (has_bulk_copies && threadIdx.x == 0) wait_group_read<0>();
}

template <class Operation>
void launch_one(const Operation& operation, const input& in, const output& out, cudaStream_t stream) {
  const std::int64_t forgotten = problem::values_to_decay(in.decay, forgotten_bits);
  const std::int64_t tiles = (in.n + tile - 1) / tile;
  const std::int64_t most_blocks = std::int64_t{blocks_per_multiprocessor} * multiprocessors();
  // No shorter than its warm-up, which would otherwise be most of the work.
  const std::int64_t warm_up_tiles = std::min(tiles, (forgotten + tile - 1) / tile);
  const std::int64_t stripe_tiles =
      std::max({std::int64_t{1}, (tiles + most_blocks - 1) / most_blocks, warm_up_tiles});
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  // An average also knows how many values there were.
  const std::int64_t warm_up = std::max(forgotten, in.min_periods);
  lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads), sizeof(shared_state<Operation>),
              stream, in.values, out.averages, in.n, stripe_tiles * tile, warm_up, operation,
              powers_of_decay::of(in.decay, per_thread, tile));
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&](const auto& operation) { launch_one(operation, in, out, stream); });
}

// The block depends on the device: it has more or fewer stripes.
owner owner_of(const problem::parameters& /*p*/, std::int64_t index) {
  return {"", std::to_string(index % tile / per_thread)};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "stripes that begin early: no block waits for another",
                                        .launch = launch,
                                        .tile = tile,
                                        .owner_of = owner_of,
                                        .traits = {.forgets = forgotten_part}}};

}  // namespace
}  // namespace lab::ewm::warm_start
