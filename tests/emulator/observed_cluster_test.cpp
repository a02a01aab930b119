// The clusters of cluster_test.cpp, of observed kernels.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/cluster_test.cpp"

namespace {

// Each thread writes to the next block's shared memory what a thread there reads.
enum class hand_over {
  barrier,          // of the cluster
  halves,           // of it, and the write stands between them
  syncthreads,      // orders this block alone
  named_barrier,    // likewise
  arrival_of_all,   // at a barrier of the next block
  arrival_for_all,  // one thread arrives for its block, and has waited for it
  arrival_of_one,   // or has not
  other_waits,      // nobody but one thread waits for the arrivals
  flag,             // of the next block, behind a fence
  written_over,     // the reader's block writes there next
  copy,             // from block to block, and the reader waits
  copy_without_wait,
};
constexpr int store_line = __LINE__ + 20, copy_line = store_line + 2, load_line = store_line + 21;
__global__ void __cluster_dims__(2) hand_to_next(int* out, hand_over how) {
  constexpr int threads = 64;
  __shared__ __align__(16) int values[threads], mine[threads];
  __shared__ mbarrier told;
  __shared__ int flag;
  const int thread = static_cast<int>(threadIdx.x), next = 1 - static_cast<int>(lab::cluster_rank());
  const bool copies = how == hand_over::copy || how == hand_over::copy_without_wait;
  const bool all_arrive = how == hand_over::arrival_of_all || how == hand_over::other_waits;
  mine[thread] = thread;
  if (thread == 0) {
    flag = 0;
    told.initialise(all_arrive ? threads : 1);
    lab::fence_mbarrier_init();
  }
  lab::fence_proxy_async();
  lab::cluster_sync();
  if (thread == 0 && copies) told.arrive_expect_tx(threads * 4);
  if (how == hand_over::halves) lab::cluster_arrive();
  int* const there = lab::map_to_block(values, next) + thread;
  if (!copies) *there = thread;
  if (how == hand_over::halves) lab::cluster_wait();
  if (thread == 0 && copies) lab::copy_to_block(values, mine, threads, told, next);
  if (how == hand_over::syncthreads || how == hand_over::arrival_for_all) __syncthreads();
  if (how == hand_over::barrier || how == hand_over::written_over) lab::cluster_sync();
  if (how == hand_over::named_barrier) lab::named_barrier(1, threads);
  const bool one_arrives = how == hand_over::arrival_for_all || how == hand_over::arrival_of_one;
  if (all_arrive || (one_arrives && thread == 0)) lab::arrive_at_block(told, next);
  if (how == hand_over::flag) {
    __syncthreads();
    __threadfence();
    if (thread == 0) *static_cast<volatile int*>(lab::map_to_block(&flag, next)) = 1;
    while (*static_cast<volatile int*>(&flag) == 0) {
    }
  } else if (all_arrive || one_arrives || how == hand_over::copy) {
    if (how != hand_over::other_waits || thread == 0) told.wait(0);
  }
  if (how == hand_over::written_over) {
    out[blockIdx.x * threads + threadIdx.x] = lab::read_from_block(values, next) + thread;
    values[threads - 1 - thread] = 0;
  } else {
    out[blockIdx.x * threads + threadIdx.x] = values[threads - 1 - thread];
  }
  if (how == hand_over::copy_without_wait) told.wait(0);
  lab::cluster_sync();
}

constexpr int device_line = __LINE__ + 4;
__global__ void __cluster_dims__(2) hand_through_device_memory(int* out, bool syncs) {
  out[blockIdx.x * 32 + threadIdx.x] = static_cast<int>(threadIdx.x);
  if (syncs) lab::cluster_sync();
  out[128 + blockIdx.x * 32 + threadIdx.x] = out[(blockIdx.x ^ 1) * 32 + 31 - threadIdx.x];
}

// Rank 1 writes to device memory what both blocks have read before, in several rounds.
enum class take_over {
  barrier,      // of the cluster
  arrival,      // one thread arrives for its block, and has waited for it
  flag,         // in device memory, behind a fence
  copy,         // rank 0 reads by a bulk copy, and waits for it
  late_read,    // rank 0 reads between the halves of the barrier
  other_waits,  // threads of rank 1 write that do not wait
};
constexpr int reading_line = __LINE__ + 23, writing_line = reading_line + 17;
__global__ void __cluster_dims__(2) write_what_was_read(int* memory, int* flags, int* out, take_over how) {
  constexpr int threads = 64;
  __shared__ __align__(16) int tile[threads];
  __shared__ mbarrier full, told;
  const int thread = static_cast<int>(threadIdx.x);
  const bool writes = lab::cluster_rank() == 1;
  int* const mine = memory + blockIdx.x / 2 * threads;
  int* const flag = flags + blockIdx.x / 2;
  if (thread == 0) {
    full.initialise(1);
    told.initialise(1);
    lab::fence_mbarrier_init();
  }
  lab::cluster_sync();
  for (int round = 0; round < 3; ++round) {
    const auto phase = static_cast<unsigned>(round);
    if (how == take_over::late_read && !writes) lab::cluster_arrive();
    if (how == take_over::copy && !writes) {
      if (thread == 0) lab::copy_in(tile, mine, threads, full);
      full.wait(phase);
    } else {
      int sum = 0;
      for (int k = 0; k < 2; ++k) sum += mine[(thread + 32 * k) % threads];
      out[blockIdx.x * threads + threadIdx.x] = sum;
    }
    if (how == take_over::barrier || how == take_over::copy || (how == take_over::late_read && writes))
      lab::cluster_sync();
    if (how == take_over::late_read && !writes) lab::cluster_wait();
    __syncthreads();
    if (how == take_over::arrival || how == take_over::other_waits) {
      if (!writes && thread == 0) lab::arrive_at_block(told, 1);
      if (writes && (how == take_over::arrival || thread == 0)) told.wait(phase);
    }
    if (how == take_over::flag) {
      __threadfence();
      if (!writes && thread == 0) atomicExch(flag, round + 1);
      while (writes && atomicAdd(flag, 0) <= round) {
      }
    }
    if (writes) mine[threads - 1 - thread] = round + thread;
    __syncthreads();
    lab::cluster_sync();
  }
}

cluster_outcome takes(take_over how) {
  const device_array<int> memory(std::vector<int>(std::size_t{2} * 64, 1)), out(std::size_t{4} * 64),
      flags(std::size_t{2});
  return outcome_of([&] {
    cudaMemset(flags.get(), 0, 2 * sizeof(int));
    return std::pair(try_launch(write_what_was_read, 4, 64, 0, memory.get(), flags.get(), out.get(), how),
                     true);
  });
}

cluster_outcome hands(hand_over how) {
  const device_array<int> out(std::size_t{4 * 64});
  return outcome_of([&] { return std::pair(try_launch(hand_to_next, 4, 64, 0, out.get(), how), true); });
}

}  // namespace

TEST_CASE("observed: blocks of a cluster race for their shared memory, unless something orders them",
          "[cluster]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  for (const hand_over how : {hand_over::barrier, hand_over::arrival_of_all, hand_over::arrival_for_all,
                              hand_over::flag, hand_over::copy}) {
    INFO("hand-over " << static_cast<int>(how));
    CHECK(hands(how).texts == std::vector<std::string>{});
  }
  CHECK(watching.faults().empty());
  constexpr const char* file = "tests/emulator/observed_cluster_test.cpp";
  for (const hand_over how :
       {hand_over::halves, hand_over::syncthreads, hand_over::named_barrier, hand_over::arrival_of_one,
        hand_over::other_waits, hand_over::written_over, hand_over::copy_without_wait}) {
    INFO("mistake " << static_cast<int>(how));
    const cluster_outcome found = hands(how);
    CHECK(found.failed == 24);
    const bool copies = how == hand_over::copy_without_wait;
    CHECK(each_says(found, {at(file, how == hand_over::written_over ? load_line - 3
                                     : copies                       ? copy_line
                                                                    : store_line)}));
    CHECK(each_says(found, {at(file, how == hand_over::written_over ? load_line - 2 : load_line)}));
    CHECK(each_says(found, {", and nothing orders the two blocks", "may still be writing"}));
  }
}
TEST_CASE("observed: right clusters have no fault", "[cluster]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const cluster_outcome all[] = {sums<8>(sum_mistake::none),
                                 rotations(ring_mistake::none),
                                 broadcasts(multicast_mistake::none, false),
                                 broadcasts(multicast_mistake::none, true),
                                 brings(far_mistake::none, false),
                                 brings(far_mistake::none, true)};
  for (const cluster_outcome& one : all) {
    CHECK(one.texts == std::vector<std::string>{});
    CHECK(one.failed + one.wrong == 0);
  }
  for (const lab::emulator::observed_fault& one : watching.faults()) UNSCOPED_INFO(one.text);
  CHECK(watching.faults().empty());
  CHECK(watching.warnings().empty());
  for (const lab::emulator::observed_kernel& one : watching.kernels())
    CHECK(one.metrics.at("launch__cluster_size") == (one.name.find("sum_of") != std::string::npos ? 8 : 4));
}

TEST_CASE("observed: blocks of a cluster race in device memory, unless something orders them", "[cluster]") {
  lab::emulator::configure({});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const device_array<int> out(std::size_t{256});
  const auto hand = [&](bool syncs) {
    return outcome_of(
        [&] { return std::pair(try_launch(hand_through_device_memory, 4, 32, 0, out.get(), syncs), true); });
  };
  CHECK(hand(true).texts == std::vector<std::string>{});
  const cluster_outcome found = hand(false);
  CHECK(found.failed == 24);
  CHECK(each_says(found, {at("tests/emulator/observed_cluster_test.cpp", device_line)}));
  CHECK(each_says(found, {", and nothing orders the two blocks"}));
}

TEST_CASE(
    "observed: a write to device memory that another block of the cluster has read is ordered behind that",
    "[cluster]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  for (const take_over how : {take_over::barrier, take_over::arrival, take_over::flag, take_over::copy}) {
    INFO("take-over " << static_cast<int>(how));
    const cluster_outcome found = takes(how);
    CHECK(found.texts == std::vector<std::string>{});
    CHECK(found.failed == 0);
  }
  CHECK(watching.faults().empty());
  constexpr const char* file = "tests/emulator/observed_cluster_test.cpp";
  const cluster_outcome late = takes(take_over::late_read), other = takes(take_over::other_waits);
  CHECK(late.failed == 24);
  CHECK(each_says(late, {" reads at " + at(file, reading_line) + ", and nothing orders the two blocks"}));
  CHECK(each_says(late, {at(file, writing_line) + ": "}));
  CHECK(other.failed == 24);
  CHECK(each_says(other, {", and nothing orders the two blocks"}));
  CHECK(each_says(other, {at(file, writing_line)}));
}

TEST_CASE("observed: a neighbour that has left is named with the line of the access", "[cluster]") {
  lab::emulator::configure({});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const cluster_outcome late = sums<2>(sum_mistake::no_last_sync);
  CHECK(late.failed > 0);
  CHECK(each_says(late, {at("tests/emulator/cluster_test.cpp", read_line)}));
  CHECK(each_says(late, {"which has left the kernel"}));
}
