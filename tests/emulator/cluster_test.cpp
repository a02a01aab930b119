// Clusters: their barrier, shared memory of other blocks, copies between blocks; right kernels, and wrong
// ones beside them.
#include "common/cluster.hpp"
#include "common/tensor_copy.hpp"

#include <numeric>

#include "tests/emulator/support.hpp"

namespace {

using lab::mbarrier;

template <class... Parameters, class... Arguments>
cudaError_t try_clusters(dim3 cluster, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                         Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

// What many launches have said, each of which must have failed with it or have been right: `is_right`.
struct cluster_outcome {
  int failed = 0, wrong = 0;
  std::vector<std::string> texts;
};

template <class Launch>
cluster_outcome outcome_of(Launch launch, int launches = 24) {
  cluster_outcome found;
  const bool reverse = lab::emulator::configuration().reverse;
  const int threads = lab::emulator::configuration().threads;
  for (int number = 0; number < launches; ++number) {
    lab::emulator::configure({.threads = threads, .reverse = reverse, .reverse_blocks = number % 2 != 0});
    const auto [error, is_right] = launch();
    found.failed += error != cudaSuccess;
    found.wrong += error == cudaSuccess && !is_right;
    for (std::string& text : lab::emulator::take_diagnostics()) found.texts.push_back(std::move(text));
    lab::emulator::reset();
  }
  lab::emulator::configure({.threads = threads, .reverse = reverse});
  return found;
}

bool each_says(const cluster_outcome& found, const std::vector<std::string>& words) {
  return std::all_of(found.texts.begin(), found.texts.end(), [&](const std::string& text) {
    UNSCOPED_INFO(text);
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& one) { return text.find(one) != std::string::npos; });
  });
}

__global__ void write_ranks(unsigned* ranks, unsigned* sizes) {
  const unsigned number = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  ranks[number] = lab::cluster_rank();
  sizes[number] = lab::cluster_blocks();
}
__global__ void __cluster_dims__(2, 2) write_ranks_of_four(unsigned* ranks, unsigned* sizes) {
  write_ranks(ranks, sizes);
}

// Each block's sum to all blocks of its cluster.
enum class sum_mistake { none, no_first_sync, no_last_sync, wrong_rank };

constexpr int read_line = __LINE__ + 13;
// With a cluster that the launch asks for.
__global__ void sum_of_cluster(const int* in, int* out, int blocks, sum_mistake wrong) {
  __shared__ int of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  atomicAdd(&of_block, in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (wrong != sum_mistake::no_first_sync) lab::cluster_sync();
  if (wrong == sum_mistake::no_first_sync) __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    const int first = wrong == sum_mistake::wrong_rank ? 1 : 0;
    for (int rank = first; rank < first + blocks; ++rank) {
      sum += lab::read_from_block(&of_block, rank);
    }
    out[blockIdx.x] = sum;
  }
  if (wrong != sum_mistake::no_last_sync) lab::cluster_sync();
}

template <int blocks>
cluster_outcome sums(sum_mistake wrong) {
  constexpr int clusters = 3, threads = 40;
  std::vector<int> values(static_cast<std::size_t>(clusters * blocks * threads));
  std::iota(values.begin(), values.end(), 1);
  const device_array<int> in(values), out(std::size_t{clusters * blocks});
  std::vector<int> expected;
  for (int cluster = 0; cluster < clusters; ++cluster) {
    const auto begin = values.begin() + cluster * blocks * threads;
    expected.insert(expected.end(), blocks, std::accumulate(begin, begin + blocks * threads, 0));
  }
  return outcome_of([&] {
    const cudaError_t error = try_clusters(dim3(blocks), sum_of_cluster, clusters * blocks, threads, in.get(),
                                           out.get(), blocks, wrong);
    return std::pair(error, error == cudaSuccess && out.values() == expected);
  });
}

// The shared memory of kernels and functions that have no C++ name is the block's own as well.
extern "C" __global__ void __cluster_dims__(2) cluster_test_exchange(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = static_cast<int>(blockIdx.x) + 5;
  lab::cluster_sync();
  out[blockIdx.x] = value + 10 * lab::read_from_block(&value, lab::cluster_rank() == 0 ? 1 : 0);
  lab::cluster_sync();
}

// A histogram of which each block of a cluster has a part, by atomic functions on each other's shared memory.
constexpr int bins = 64;
__global__ void __cluster_dims__(4) count_values(const int* in, int* out, bool syncs) {
  __shared__ int counts[bins / 4];
  for (unsigned bin = threadIdx.x; bin < bins / 4; bin += blockDim.x) counts[bin] = 0;
  if (syncs) lab::cluster_sync();
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x] % bins;
  atomicAdd(lab::map_to_block(counts, value % 4) + value / 4, 1);
  lab::cluster_sync();
  for (unsigned bin = threadIdx.x; bin < bins / 4; bin += blockDim.x)
    out[blockIdx.x / 4 * bins + bin * 4 + lab::cluster_rank()] = counts[bin];
}

// The second half of the barrier may wait for what the first half has told.
__global__ void __cluster_dims__(2) arrive_and_wait(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = static_cast<int>(blockIdx.x) + 1;
  lab::cluster_arrive();
  const int mine = static_cast<int>(threadIdx.x);
  lab::cluster_wait();
  const int other = lab::read_from_block(&value, lab::cluster_rank() == 0 ? 1 : 0);
  lab::cluster_arrive();
  out[blockIdx.x * blockDim.x + threadIdx.x] = other + mine;
  lab::cluster_wait();
}

constexpr int stays_line = __LINE__ + 8;
constexpr int phase_line = __LINE__ + 4;
__global__ void __cluster_dims__(2) half_of_cluster_waits() {
  __shared__ mbarrier never;
  if (threadIdx.x == 0) never.initialise(1);
  if (blockIdx.x == 1 && threadIdx.x == 0) never.wait(0);
  if (blockIdx.x == 1 && threadIdx.x == 0) return;

  lab::cluster_sync();
}

constexpr int twice_line = __LINE__ + 3;
__global__ void __cluster_dims__(2) arrives_twice() {
  lab::cluster_arrive();
  lab::cluster_arrive();
}
constexpr int unarrived_line = __LINE__ + 2;
__global__ void waits_without_arrival() {
  lab::cluster_wait();
}
constexpr int unshared_line = __LINE__ + 2;
__global__ void maps_device_memory(int* memory) {
  *lab::map_to_block(memory, 0) = 1;
}
constexpr int far_line = __LINE__ + 3;
__global__ void __cluster_dims__(2) maps_to_nobody(int rank) {
  __shared__ int value;
  *lab::map_to_block(&value, rank) = 1;
}

// Tiles go round: each block hands its tile to the next one, which says when it may be written again.
enum class ring_mistake {
  none,
  no_wait_for_room,  // the neighbour's tile is written before it was read
  no_expectation,    // the neighbour expects no bytes
  wrong_barrier,     // the bytes arrive at this block's own barrier
  leaves_early,      // a block leaves while its tile is still being copied, or its barrier is arrived at
};
constexpr int tile = 64, rounds = 5;
__global__ void __cluster_dims__(4) rotate(const int* in, int* out, ring_mistake wrong) {
  __shared__ __align__(128) int tiles[2 * tile];
  __shared__ mbarrier full, sent, room;
  const int rank = static_cast<int>(lab::cluster_rank());
  const int next = (rank + 1) % 4, before = (rank + 3) % 4;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    full.initialise(1);
    sent.initialise(1);
    room.initialise(1);
    lab::fence_mbarrier_init();
  }
  tiles[thread] = in[blockIdx.x * tile + threadIdx.x];
  lab::fence_proxy_async();
  lab::cluster_sync();
  for (int round = 0; round < rounds; ++round) {
    int* const from = tiles + round % 2 * tile;
    int* const to = tiles + (round + 1) % 2 * tile;
    if (thread == 0) {
      if (wrong != ring_mistake::no_expectation) full.arrive_expect_tx(tile * 4);
      if (wrong == ring_mistake::no_expectation) full.arrive();
      // The neighbour has read what stands where this tile goes.
      if (round > 0 && wrong != ring_mistake::no_wait_for_room) room.wait(static_cast<unsigned>(round - 1));
      lab::copy_to_block(to, from, tile, full, wrong == ring_mistake::wrong_barrier ? rank : next);
    }
    full.wait(static_cast<unsigned>(round));
    to[thread] += 1;
    lab::fence_proxy_async();
    __syncthreads();
    if (thread == 0) {
      lab::arrive_at_block(sent, before);
      sent.wait(static_cast<unsigned>(round));
      lab::arrive_at_block(room, before);
    }
  }
  out[blockIdx.x * tile + threadIdx.x] = tiles[rounds % 2 * tile + thread];
  if (wrong != ring_mistake::leaves_early) lab::cluster_sync();
}

cluster_outcome rotations(ring_mistake wrong) {
  std::vector<int> values(std::size_t{8} * tile), expected(values.size());
  std::iota(values.begin(), values.end(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t block = i / tile;
    expected[i] = values[(block / 4 * 4 + (block + 4 * rounds - rounds) % 4) * tile + i % tile] + rounds;
  }
  const device_array<int> in(values), out(values.size());
  return outcome_of([&] {
    const cudaError_t error = try_launch(rotate, 8, tile, 0, in.get(), out.get(), wrong);
    return std::pair(error, error == cudaSuccess && out.values() == expected);
  });
}

// One block of a cluster brings a tile to all of them, by bulk copies or, with `boxes`, by tensor copies.
enum class multicast_mistake {
  none,
  part_of_mask,        // a block is left out
  too_large_mask,      // one more than there are
  no_expectation,      // the other blocks expect no bytes
  no_cluster_sync,     // the others may not have initialised their barriers
  no_wait_for_others,  // the next tile comes while others still read
  no_wait,             // the others read at once
};
constexpr int multicast_line = __LINE__ + 31;
__global__ void __cluster_dims__(4)
    bring_to_all(const __grid_constant__ lab::tensor_map map, bool boxes, const int* in, int* out, int tiles,
                 multicast_mistake wrong) {
  __shared__ __align__(128) int tile_values[tile];
  __shared__ mbarrier full, empty;
  const int thread = static_cast<int>(threadIdx.x);
  const bool leads = lab::cluster_rank() == 0;
  if (thread == 0) {
    full.initialise(1);
    empty.initialise(4);
    lab::fence_mbarrier_init();
  }
  if (wrong == multicast_mistake::no_cluster_sync) {
    __syncthreads();
  } else {
    lab::cluster_sync();
  }
  unsigned sum = 0;  // of patterns as well
  const unsigned mask = wrong == multicast_mistake::part_of_mask     ? 0x7
                        : wrong == multicast_mistake::too_large_mask ? 0x1f
                                                                     : 0xf;
  for (int t = 0; t < tiles; ++t) {
    if (thread == 0) {
      if (leads || wrong != multicast_mistake::no_expectation) {
        full.arrive_expect_tx(tile * 4);
      } else {
        full.arrive();
      }
      if (leads) {
        if (t > 0 && wrong != multicast_mistake::no_wait_for_others) empty.wait(static_cast<unsigned>(t - 1));
        if (!boxes) lab::copy_in_to_blocks(tile_values, in + t * tile, tile, full, mask);
        if (boxes) lab::tensor_copy_in_to_blocks(tile_values, map, 0, t, full, mask);
      }
    }
    if (leads || wrong != multicast_mistake::no_wait) full.wait(static_cast<unsigned>(t));
    sum += static_cast<unsigned>(tile_values[thread]);
    __syncthreads();
    if (thread == 0) lab::arrive_at_block(empty, 0);
  }
  out[blockIdx.x * tile + threadIdx.x] = static_cast<int>(sum);
  lab::cluster_sync();
}

cluster_outcome broadcasts(multicast_mistake wrong, bool boxes) {
  constexpr int tiles = 4;
  std::vector<int> values(std::size_t{tiles} * tile), expected;
  std::iota(values.begin(), values.end(), 1);
  for (int i = 0; i < 4 * tile; ++i) {
    int sum = 0;
    for (int t = 0; t < tiles; ++t) sum += values[static_cast<std::size_t>(t * tile + i % tile)];
    expected.push_back(sum);
  }
  const device_array<int> in(values), out(expected.size());
  const lab::tensor_map map = lab::make_tensor_map(in.get(), {tile, tiles}, {1, tile}, {tile, 1});
  return outcome_of([&] {
    const cudaError_t error =
        try_launch(bring_to_all, 4, tile, 0, map, boxes, in.get(), out.get(), tiles, wrong);
    return std::pair(error, error == cudaSuccess && out.values() == expected);
  });
}

// Each block brings a tile to the next one's shared memory, by a bulk copy or a tensor copy, which completes
// at a barrier there.
enum class far_mistake { none, own_barrier, no_wait };
constexpr int bring_line = __LINE__ + 16;
__global__ void __cluster_dims__(4) bring_to_next(const __grid_constant__ lab::tensor_map map, bool boxes,
                                                  const int* in, int* out, far_mistake wrong) {
  __shared__ __align__(128) int tile_values[tile];
  __shared__ mbarrier full;
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  if (thread == 0) {
    full.initialise(1);
    lab::fence_mbarrier_init();
    full.arrive_expect_tx(tile * 4);
  }
  lab::cluster_sync();
  if (thread == 0) {
    const int next = (block + 1) % 4;
    int* const there = lab::map_to_block(tile_values, next);
    mbarrier& told = wrong == far_mistake::own_barrier ? full : *lab::map_to_block(&full, next);
    const auto here = lab::emulator::place::here();
    if (boxes) lab::tensor_copy_in(there, map, 0, block, told, here);
    if (!boxes) lab::emulator::copy_in_bulk(there, in + block * tile, tile * 4, &told.state, {}, here);
  }
  if (wrong != far_mistake::no_wait) full.wait(0);
  out[block * tile + thread] = tile_values[thread];
  full.wait(0);
  lab::cluster_sync();
}

cluster_outcome brings(far_mistake wrong, bool boxes) {
  std::vector<int> values(std::size_t{4} * tile), expected(values.size());
  std::iota(values.begin(), values.end(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) expected[(i + tile) % values.size()] = values[i];
  const device_array<int> in(values), out(values.size());
  const lab::tensor_map map = lab::make_tensor_map(in.get(), {tile, 4}, {1, tile}, {tile, 1});
  return outcome_of([&] {
    const cudaError_t error = try_launch(bring_to_next, 4, tile, 0, map, boxes, in.get(), out.get(), wrong);
    return std::pair(error, error == cudaSuccess && out.values() == expected);
  });
}

// Each block asks for two of its barriers in turn: the neighbour arrives at the first when it has seen the
// second. Blocks of 32 threads.
constexpr int never_line = __LINE__ + 5;
__global__ void __cluster_dims__(2) poll_in_cluster(int* out, bool never) {
  __shared__ mbarrier first, second;
  if (threadIdx.x == 0) {
    second.initialise(1);
    first.initialise(1);
  }
  lab::cluster_sync();
  if (threadIdx.x == 0) {
    const int next = 1 - static_cast<int>(lab::cluster_rank());
    const auto ended = [](mbarrier& one) {
      return lab::emulator::try_wait_for_phase(&one.state, 0, lab::emulator::place::here());
    };
    lab::arrive_at_block(second, next);
    bool has_first = false, has_second = false;
    while (!has_first || !has_second) {
      has_first = has_first || ended(first);
      if (!has_second && ended(second)) {
        has_second = true;
        if (!never || next == 1) lab::arrive_at_block(first, next);
      }
    }
    out[blockIdx.x] = 1;
  }
  lab::cluster_sync();
}

// A block waits in a loop for a word that its neighbour writes, which waits for one of its own.
__global__ void __cluster_dims__(2) ping_pong(int* out, bool never) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 0;
  lab::cluster_sync();
  const int rank = static_cast<int>(lab::cluster_rank());
  int* const there = lab::map_to_block(&word, 1 - rank);
  if (threadIdx.x == 0) {
    for (int turn = 1; turn <= 3; ++turn) {
      if (rank == 0 && !never) atomicExch(there, turn);
      while (atomicAdd(&word, 0) < turn) {
      }
      if (rank == 1) atomicExch(there, turn);
    }
    out[rank] = word;
  }
  lab::cluster_sync();
}

}  // namespace

TEST_CASE("blocks know their rank in the cluster", "[cluster]") {
  for_each_schedule();
  const device_array<unsigned> ranks(std::size_t{8}), sizes(std::size_t{8});
  run(write_ranks, dim3(4, 2), 1, ranks.get(), sizes.get());
  CHECK(ranks.values() == std::vector<unsigned>(8, 0));
  CHECK(sizes.values() == std::vector<unsigned>(8, 1));
  run(write_ranks_of_four, dim3(4, 2), 1, ranks.get(), sizes.get());
  CHECK(ranks.values() == std::vector<unsigned>{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(sizes.values() == std::vector<unsigned>(8, 4));
  REQUIRE(try_clusters(dim3(4, 1), write_ranks, dim3(4, 2), 1, ranks.get(), sizes.get()) == cudaSuccess);
  CHECK(ranks.values() == std::vector<unsigned>{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("clusters that no device has are refused", "[cluster]") {
  for_each_schedule();
  const device_array<unsigned> ranks(std::size_t{16}), sizes(std::size_t{16});
  const auto refused = [&](dim3 cluster, dim3 grid, const auto& kernel) {
    const cudaError_t error = try_clusters(cluster, kernel, grid, 1, ranks.get(), sizes.get());
    lab::emulator::take_diagnostics();
    cudaGetLastError();
    return error;
  };
  CHECK(refused(dim3(3), dim3(4), write_ranks) == cudaErrorInvalidConfiguration);
  CHECK(refused(dim3(0), dim3(4), write_ranks) == cudaErrorInvalidClusterSize);
  CHECK(refused(dim3(16), dim3(16), write_ranks) == cudaErrorInvalidClusterSize);
  CHECK(refused(dim3(4), dim3(4), write_ranks_of_four) == cudaErrorInvalidClusterSize);
  REQUIRE(cudaFuncSetAttribute(write_ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ==
          cudaSuccess);
  CHECK(refused(dim3(16), dim3(16), write_ranks) == cudaSuccess);
  REQUIRE(cudaFuncSetAttribute(write_ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 0) ==
          cudaSuccess);
}

TEST_CASE("blocks of a cluster read one another's shared memory", "[cluster]") {
  for_each_schedule();
  const cluster_outcome two = sums<2>(sum_mistake::none), eight = sums<8>(sum_mistake::none);
  CHECK(two.texts == std::vector<std::string>{});
  CHECK(two.failed + two.wrong + eight.failed + eight.wrong == 0);
}

TEST_CASE("shared memory of a block that has not begun, or has left, is named", "[cluster]") {
  for_each_schedule();
  const cluster_outcome early = sums<4>(sum_mistake::no_first_sync);
  CHECK(early.failed > 0);
  CHECK(each_says(early, {at(__FILE__, read_line) + ": "}));
  const cluster_outcome late = sums<2>(sum_mistake::no_last_sync);
  CHECK(late.failed > 0);
  CHECK(late.wrong == 0);
  CHECK(each_says(late, {at(__FILE__, read_line) + ": "}));
  CHECK(each_says(late, {"of its cluster, which has left the kernel: nothing orders its end behind this"}));
  const cluster_outcome beyond = sums<2>(sum_mistake::wrong_rank);
  CHECK(beyond.failed == 24);
  CHECK(each_says(beyond, {at(__FILE__, read_line) + ": "}));
  CHECK(each_says(beyond, {"maps an address to block 2 of a cluster of 2 blocks"}));
}

TEST_CASE("copies come to the shared memory of another block", "[cluster]") {
  for_each_schedule();
  const bool boxes = GENERATE(false, true);
  const cluster_outcome right = brings(far_mistake::none, boxes);
  CHECK(right.texts == std::vector<std::string>{});
  CHECK(right.failed + right.wrong == 0);
  CHECK(brings(far_mistake::no_wait, boxes).wrong > 0);
  const cluster_outcome apart = brings(far_mistake::own_barrier, boxes);
  CHECK(apart.failed == 24);
  CHECK(each_says(apart, {at(__FILE__, bring_line) + ": "}));
  CHECK(each_says(apart, {"begins a bulk copy to shared memory of block "}));
  CHECK(each_says(apart, {": both must lie in one block"}));
}

TEST_CASE("threads of a cluster ask for two barriers in turn", "[cluster]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{4});
  const cluster_outcome right = outcome_of([&] {
    const cudaError_t error = try_launch(poll_in_cluster, 4, 32, 0, out.get(), false);
    return std::pair(error, error == cudaSuccess && out.values() == std::vector<int>(4, 1));
  });
  CHECK(right.texts == std::vector<std::string>{});
  CHECK(right.failed + right.wrong == 0);
  const cluster_outcome never =
      outcome_of([&] { return std::pair(try_launch(poll_in_cluster, 2, 32, 0, out.get(), true), false); }, 2);
  CHECK(never.failed == 2);
  CHECK(each_says(never, {"waits for ever for phase 0 of the barrier initialised at " +
                          at(__FILE__, never_line) + ", of which 1 of 1 arrivals are missing"}));
}

TEST_CASE("atomic functions reach the shared memory of other blocks", "[cluster]") {
  for_each_schedule();
  std::vector<int> values(std::size_t{8} * 96);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i % 977);
  std::vector<int> expected(std::size_t{2} * bins);
  for (std::size_t i = 0; i < values.size(); ++i)
    ++expected[i / (4 * 96) * bins + static_cast<std::size_t>(values[i] % bins)];
  const device_array<int> in(values), out(expected.size());
  const auto counts = [&](bool syncs) {
    return outcome_of([&] {
      const cudaError_t error = try_launch(count_values, 8, 96, 0, in.get(), out.get(), syncs);
      return std::pair(error, error == cudaSuccess && out.values() == expected);
    });
  };
  const cluster_outcome right = counts(true), wrong = counts(false);
  CHECK(right.texts == std::vector<std::string>{});
  CHECK(right.failed + right.wrong == 0);
  CHECK(wrong.failed == 24);
}

TEST_CASE("the cluster's barrier has two halves", "[cluster]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{4});
  run(arrive_and_wait, 2, 2, out.get());
  CHECK(out.values() == std::vector<int>{2, 3, 1, 2});
  require_failure(at(__FILE__, unarrived_line) + ": block (0,0,0): thread (0,0,0) waits at the cluster's " +
                      "barrier, where it has not arrived",
                  waits_without_arrival, 1, 1);
  const cluster_outcome twice =
      outcome_of([] { return std::pair(try_launch(arrives_twice, 2, 1, 0), true); });
  CHECK(twice.failed == 24);
  CHECK(each_says(twice, {at(__FILE__, twice_line) + ": "}));
  CHECK(each_says(twice, {"arrives twice at the cluster's barrier, and has not waited between"}));
}

TEST_CASE("who waits for ever at the cluster's barrier is named, and what the others wait for", "[cluster]") {
  for_each_schedule();
  const cluster_outcome found =
      outcome_of([] { return std::pair(try_launch(half_of_cluster_waits, 2, 32, 0), true); });
  CHECK(found.failed == 24);
  CHECK(each_says(found, {"waits for ever at the cluster's barrier, where 63 of 64 threads have arrived"}));
  CHECK(each_says(found, {at(__FILE__, stays_line) + ": "}));
  CHECK(each_says(found, {at(__FILE__, phase_line) + ": "}));
  CHECK(each_says(found, {"block (1,0,0): thread (0,0,0) waits for ever for phase 0"}));
}

TEST_CASE("blocks of a cluster have shared memory of their own", "[cluster]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{4});
  run(cluster_test_exchange, 4, 1, out.get());
  CHECK(out.values() == std::vector<int>{65, 56, 87, 78});
}

TEST_CASE("addresses that cannot be mapped are named", "[cluster]") {
  for_each_schedule();
  const device_array<int> memory(std::size_t{1});
  require_failure(at(__FILE__, unshared_line) +
                      ": block (0,0,0): thread (0,0,0) maps an address that is not one of shared memory",
                  maps_device_memory, 1, 1, memory.get());
  const cluster_outcome far =
      outcome_of([] { return std::pair(try_launch(maps_to_nobody, 2, 1, 0, 2), true); });
  CHECK(far.failed == 24);
  CHECK(each_says(far, {at(__FILE__, far_line) + ": "}));
}

TEST_CASE("bulk copies between blocks, and arrivals at their barriers", "[cluster]") {
  for_each_schedule();
  const cluster_outcome right = rotations(ring_mistake::none);
  CHECK(right.texts == std::vector<std::string>{});
  CHECK(right.failed + right.wrong == 0);
  for (const ring_mistake wrong : {ring_mistake::no_wait_for_room, ring_mistake::no_expectation,
                                   ring_mistake::wrong_barrier, ring_mistake::leaves_early}) {
    INFO("mistake " << static_cast<int>(wrong));
    const cluster_outcome found = rotations(wrong);
    for (const std::string& text : found.texts) UNSCOPED_INFO(text);
    CHECK(found.failed + found.wrong > 0);
  }
  CHECK(each_says(rotations(ring_mistake::leaves_early),
                  {"which has left the kernel", "has not been read when the block ends"}));
}

TEST_CASE("a multicast copy comes to each block of its mask", "[cluster]") {
  for_each_schedule();
  const bool boxes = GENERATE(false, true);
  INFO("tensor copies: " << boxes);
  const cluster_outcome right = broadcasts(multicast_mistake::none, boxes);
  CHECK(right.texts == std::vector<std::string>{});
  CHECK(right.failed + right.wrong == 0);
  for (const multicast_mistake wrong : {multicast_mistake::part_of_mask, multicast_mistake::too_large_mask,
                                        multicast_mistake::no_expectation, multicast_mistake::no_cluster_sync,
                                        multicast_mistake::no_wait_for_others, multicast_mistake::no_wait}) {
    INFO("mistake " << static_cast<int>(wrong));
    const cluster_outcome found = broadcasts(wrong, boxes);
    for (const std::string& text : found.texts) UNSCOPED_INFO(text);
    CHECK(found.failed + found.wrong > 0);
  }
  CHECK(each_says(broadcasts(multicast_mistake::part_of_mask, boxes),
                  {"block (3,0,0): thread (0,0,0) waits for ever for phase 0"}));
  const cluster_outcome large = broadcasts(multicast_mistake::too_large_mask, boxes);
  CHECK(each_says(large, {at(__FILE__, multicast_line + (boxes ? 1 : 0)) + ": "}));
  CHECK(each_says(large, {"to the blocks of mask 0x001f in a cluster of 4 blocks"}));
}

TEST_CASE("a block waits in a loop for a word that its neighbour writes", "[cluster]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{2});
  run(ping_pong, 2, 32, out.get(), false);
  CHECK(out.values() == std::vector<int>{3, 3});
  CHECK(try_launch(ping_pong, 2, 32, 0, out.get(), true) == cudaErrorLaunchFailure);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(texts.front().find("waits in a loop for ever") != std::string::npos);
  lab::emulator::reset();
}
