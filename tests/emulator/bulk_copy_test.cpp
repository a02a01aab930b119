// Barriers in shared memory and bulk copies: right pipelines, and wrong ones beside them.
#include "common/bulk_copy.hpp"

#include <numeric>

#include "common/emulator/core/block_copies.hpp"
#include "tests/emulator/support.hpp"

namespace {

using lab::mbarrier;

constexpr int tile = 64;
constexpr int slots = 3;

std::vector<int> numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// Thread 32 copies tiles into a ring, the first warp adds 1, and thread 64 copies them out.
enum class mistake {
  none,
  late_phase,          // the first warp waits for the phase before
  no_arrival,          // the first warp does not say that it has read
  no_wait_for_empty,   // a slot is filled again at once
  early_refill,        // a slot is filled again when it has been filled
  no_wait_for_full,    // the tile is read at once
  no_wait_for_stores,  // results are written over while they are copied out
  no_commit,           // what is copied out belongs to no group
  one_group_pending,   // one group fewer is waited for than has begun
  no_fence,            // the copies do not see the results
  fence_of_one,        // one thread alone calls the fence
  late_fence,          // behind the arrival that announces the results
  no_fence_of_zeros,   // nor what stood where a tile comes
};

constexpr int full_init_line = __LINE__ + 16;
constexpr int result_line = __LINE__ + 30;
constexpr int copy_in_line = __LINE__ + 42;
constexpr int copy_out_line = __LINE__ + 46;
__global__ void add_one(const int* in, int* out, int tiles, mistake wrong) {
  __shared__ __align__(128) int ring[slots * tile];
  __shared__ __align__(128) int results[tile];
  __shared__ mbarrier full[slots], empty[slots], computed, stored;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < slots * tile) ring[thread] = 0;
  if (thread < slots * tile - 96) ring[thread + 96] = 0;
  if (thread < tile) results[thread] = 0;
  if (wrong != mistake::no_fence_of_zeros) lab::fence_proxy_async();
  if (thread == 0) {
    for (int slot = 0; slot < slots; ++slot) {
      full[slot].initialise(1);
      empty[slot].initialise(32);
    }
    computed.initialise(32);
    stored.initialise(1);
    lab::fence_mbarrier_init();
  }
  __syncthreads();
  if (thread < 32) {
    for (int t = 0; t < tiles; ++t) {
      const auto turn = static_cast<unsigned>(t / slots);
      if (wrong != mistake::no_wait_for_full)
        full[t % slots].wait(wrong == mistake::late_phase ? turn - 1 : turn);
      int mine[2] = {ring[t % slots * tile + thread], ring[t % slots * tile + 32 + thread]};
      if (wrong != mistake::no_arrival) empty[t % slots].arrive();
      if (t > 0 && wrong != mistake::no_wait_for_stores) stored.wait(static_cast<unsigned>(t - 1));
      results[thread] = mine[0] + 1;
      results[32 + thread] = mine[1] + 1;
      const bool is_fenced = wrong != mistake::no_fence && wrong != mistake::late_fence;
      if (is_fenced && (wrong != mistake::fence_of_one || thread == 0)) lab::fence_proxy_async();
      computed.arrive();
      if (wrong == mistake::late_fence) lab::fence_proxy_async();
    }
  } else if (thread == 32) {
    for (int t = 0; t < tiles; ++t) {
      const auto before = static_cast<unsigned>(t / slots - 1);
      if (t >= slots && wrong == mistake::early_refill) full[t % slots].wait(before);
      if (t >= slots && wrong != mistake::early_refill && wrong != mistake::no_wait_for_empty)
        empty[t % slots].wait(before);
      lab::copy_in(ring + t % slots * tile, in + t * tile, tile, full[t % slots]);
    }
  } else if (thread == 64) {
    for (int t = 0; t < tiles; ++t) {
      computed.wait(static_cast<unsigned>(t));
      lab::copy_out(out + t * tile, results, tile);
      if (wrong != mistake::no_commit) lab::commit_group();
      if (wrong == mistake::one_group_pending) {
        lab::wait_group_read<1>();
      } else {
        lab::wait_group_read<0>();
      }
      stored.arrive();
    }
  }
}

// What the kernel has made of each of several launches, whose copies end in different orders: whether each
// was right, and what was said.
struct outcome {
  bool is_right = true;
  std::vector<std::string> texts;
};

outcome results_of(mistake wrong, int tiles) {
  outcome found;
  const std::vector<int> values = numbers(tiles * tile);
  const device_array<int> in(values);
  for (int launch = 0; launch < 6; ++launch) {
    const device_array<int> out(values.size(), -1);
    const cudaError_t error = try_launch(add_one, 1, 96, 0, in.get(), out.get(), tiles, wrong);
    for (std::string& text : lab::emulator::take_diagnostics()) found.texts.push_back(std::move(text));
    if (error != cudaSuccess) {
      found.is_right = false;
      lab::emulator::reset();
      continue;
    }
    const std::vector<int> results = out.values();
    for (std::size_t i = 0; i < values.size(); ++i)
      found.is_right = found.is_right && results[i] == values[i] + 1;
  }
  return found;
}

// ---- one barrier

constexpr int arrivals_init_line = __LINE__ + 4;
constexpr int arrivals_wait_line = __LINE__ + 6;
__global__ void too_few_arrivals() {
  __shared__ mbarrier all;
  if (threadIdx.x == 0) all.initialise(33);
  __syncthreads();
  if (threadIdx.x < 31) all.arrive();
  if (threadIdx.x == 40) all.wait(0);
}

constexpr int many_init_line = __LINE__ + 5;
constexpr int many_line = __LINE__ + 7;
__global__ void too_many_arrivals(const int* in) {
  __shared__ mbarrier all;
  __shared__ __align__(16) int place[4];
  if (threadIdx.x == 0) all.initialise(1);
  if (threadIdx.x == 0) {
    lab::emulator::arrive_in_phase(&all.state, true, 16, lab::emulator::place::here());
    all.arrive();
  }
  if (in == nullptr) place[0] = 1;
}

constexpr int bytes_init_line = __LINE__ + 6;
constexpr int bytes_wait_line = __LINE__ + 10;
__global__ void bytes_that_do_not_add_up(const int* in, int expected) {
  __shared__ __align__(16) int place[4];
  __shared__ mbarrier full;
  if (threadIdx.x != 0) return;
  full.initialise(1);
  lab::fence_mbarrier_init();
  const auto here = lab::emulator::place::here();
  lab::emulator::arrive_in_phase(&full.state, true, expected, here);
  lab::emulator::copy_in_bulk(place, in, 16, &full.state, {}, here);
  full.wait(0);
}

constexpr int uninitialised_line = __LINE__ + 3;
__global__ void barrier_never_initialised() {
  __shared__ mbarrier full;
  full.arrive();
}

constexpr int overwritten_init_line = __LINE__ + 5;
constexpr int overwritten_line = __LINE__ + 6;
__global__ void barrier_overwritten() {
  __shared__ mbarrier full;
  if (threadIdx.x != 0) return;
  full.initialise(2);
  full.state = 5;
  full.arrive();
}

constexpr int unfenced_init_line = __LINE__ + 5;
constexpr int unfenced_line = __LINE__ + 5;
__global__ void no_fence_after_initialisation(const int* in) {
  __shared__ __align__(16) int place[4];
  __shared__ mbarrier full;
  full.initialise(1);
  lab::copy_in(place, in, 4, full);
  full.wait(0);
}

constexpr int far_phase_line = __LINE__ + 5;
__global__ void phase_that_is_far_away() {
  __shared__ mbarrier all;
  all.initialise(1);
  all.arrive();
  all.wait(4);
}

constexpr int copy_line = __LINE__ + 8;
__global__ void one_copy(const int* in, int to, int count, int from) {
  __shared__ __align__(16) int place[16];
  __shared__ mbarrier full;
  if (threadIdx.x != 0) return;
  full.initialise(1);
  lab::fence_mbarrier_init();
  // Shared memory, device memory, number of values.
  lab::copy_in(place + to, in + from, count, full);
  full.wait(0);
}

constexpr int left_line = __LINE__ + 5;
__global__ void copy_nobody_waits_for(const int* in) {
  __shared__ __align__(16) int place[4];
  __shared__ mbarrier full;
  full.initialise(1), lab::fence_mbarrier_init();
  lab::copy_in(place, in, 4, full);
}

constexpr int twice_line = __LINE__ + 8;
__global__ void two_copies_to_one_place(const int* in) {
  __shared__ __align__(16) int place[8];
  __shared__ mbarrier full;
  full.initialise(2);
  lab::fence_mbarrier_init();
  lab::copy_in(place, in, 8, full);

  lab::copy_in(place + 4, in, 4, full);
  full.wait(0);
}

constexpr int out_line = __LINE__ + 4;
__global__ void copy_out_beyond(int* out) {
  __shared__ __align__(16) int place[8];
  for (int& value : place) value = 1;
  lab::copy_out(out, place, 8);
  lab::commit_group();
  lab::wait_group_read<0>();
}

constexpr int named_line = __LINE__ + 4;
__global__ void named_barriers(int* out, int first_absent, int behind_absent, int other_count) {
  const int thread = static_cast<int>(threadIdx.x);
  if (first_absent <= thread && thread < behind_absent) return;
  lab::named_barrier(1 + thread / 64, thread == 1 ? other_count : 64);
  out[threadIdx.x] = 1;
}

constexpr int half_line = __LINE__ + 3;
// As many threads as the barrier is for, but no whole warp.
__global__ void halves_of_warps_wait() {
  if (threadIdx.x % 2 == 0) lab::named_barrier(1, 64);
  __syncthreads();
}

// One thread asks for two barriers in turn, of which the second phase ends first.
enum class poll { right, never_ends, never_ends_asleep, gives_up };
constexpr int poll_line = __LINE__ + 5, ask_line = poll_line + 7;
__global__ void poll_two_barriers(int* out, poll how) {
  __shared__ mbarrier first, second, answer;
  if (threadIdx.x == 0) {
    for (mbarrier* one : {&second, &answer}) one->initialise(1);
    first.initialise(1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    bool has_first = false, has_second = false;
    int tries = 0;
    const auto ended = [](mbarrier& one) {
      return lab::emulator::try_wait_for_phase(&one.state, 0, lab::emulator::place::here());
    };
    while (!has_first || !has_second) {
      has_first = has_first || ended(first);
      if (!has_second && ended(second)) {
        has_second = true;
        answer.arrive();
      }
      if (how == poll::gives_up && ++tries == 1000) break;
      if (how == poll::never_ends_asleep) __nanosleep(20);
    }
    out[0] = has_first ? 1 : 2;
  } else if (threadIdx.x == 40) {
    second.arrive();
    answer.wait(0);
    if (how == poll::right) first.arrive();
  }
}

// Some threads say for how many the barrier is, and some that it is for all.
__global__ void all_with_and_without_a_number(int* out) {
  __shared__ int values[128];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 64) {
    lab::emulator::wait_at_named_barrier(1, {}, false, lab::emulator::place::here());
  } else {
    lab::named_barrier(1, 128);
  }
  out[threadIdx.x] = values[127 - threadIdx.x];
}

__global__ void sum_in_groups(const int* in, int* out) {
  __shared__ int values[128];
  const int group = static_cast<int>(threadIdx.x) / 64;
  values[threadIdx.x] = in[threadIdx.x];
  for (unsigned step = 32; step > 0; step /= 2) {
    lab::named_barrier(1 + group, 64);
    if (threadIdx.x % 64 < step) values[threadIdx.x] += values[threadIdx.x + step];
  }
  if (threadIdx.x % 64 == 0) out[group] = values[threadIdx.x];
}

// One thread waits for a copy, the other for a word that the first sets then: in a loop, and asleep.
__global__ void wait_for_who_waits(const int* in, int* out, bool asleep) {
  __shared__ __align__(16) int place[4];
  __shared__ mbarrier full;
  __shared__ int flag;
  if (threadIdx.x == 0) {
    flag = 0;
    full.initialise(1);
    lab::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    lab::copy_in(place, in, 4, full);
    full.wait(0);
    out[0] = place[0];
    __threadfence();
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 40) {
    while (atomicAdd(&flag, 0) == 0) {
      if (asleep) __nanosleep(20);
    }
    __threadfence();
    out[1] = out[0];
  }
}

std::string prefix(int line) {
  return at(__FILE__, line) + ": block (0,0,0): ";
}

}  // namespace

TEST_CASE("a barrier keeps all of its state in the 64 bits of its word", "[bulk]") {
  using lab::emulator::phase_barrier;
  static_assert(sizeof(mbarrier) == sizeof(std::uint64_t));
  const phase_barrier one{.arrivals = 1048575, .missing = 7, .bytes = -1048575, .is_odd = true};
  const phase_barrier same = phase_barrier::unpacked(one.packed());
  CHECK(same.arrivals == one.arrivals);
  CHECK(same.missing == one.missing);
  CHECK(same.bytes == one.bytes);
  CHECK(same.is_odd);
  CHECK_FALSE(
      phase_barrier::unpacked(phase_barrier{.arrivals = 3, .missing = 0, .bytes = 0}.packed()).is_odd);
}

TEST_CASE("a pipeline of bulk copies is right in every order", "[bulk]") {
  for_each_schedule();
  const int tiles = GENERATE(0, 1, 2, 3, 4, 17);
  const outcome found = results_of(mistake::none, tiles);
  CHECK(found.texts == std::vector<std::string>{});
  CHECK(found.is_right);
}

TEST_CASE("what a pipeline of bulk copies does wrong shows", "[bulk]") {
  for_each_schedule();
  const mistake wrong = GENERATE(mistake::late_phase, mistake::no_wait_for_full, mistake::no_wait_for_empty,
                                 mistake::early_refill, mistake::no_wait_for_stores, mistake::no_commit,
                                 mistake::one_group_pending);
  INFO("mistake " << static_cast<int>(wrong));
  CHECK_FALSE(results_of(wrong, 8).is_right);
}

TEST_CASE("a phase that never ends names who waits, and what is missing", "[bulk]") {
  for_each_schedule();
  const outcome found = results_of(mistake::no_arrival, 8);
  CHECK(found.texts.size() == 6);
  CHECK(one_says(found.texts, "thread (32,0,0) waits for ever for phase 0 of the barrier initialised at " +
                                  at(__FILE__, full_init_line) + ", of which 32 of 32 arrivals are missing"));
  CHECK(one_says(found.texts, "thread (64,0,0) waits for ever for phase 3 of the barrier"));

  require_failure(prefix(arrivals_wait_line) +
                      "thread (40,0,0) waits for ever for phase 0 of the barrier initialised at " +
                      at(__FILE__, arrivals_init_line) + ", of which 2 of 33 arrivals are missing",
                  too_few_arrivals, 1, 64);
  const device_array<int> in(numbers(32));
  require_failure(prefix(bytes_wait_line) +
                      "thread (0,0,0) waits for ever for phase 0 of the barrier initialised at " +
                      at(__FILE__, bytes_init_line) + ", of which 0 of 1 arrivals and 16 bytes are missing",
                  bytes_that_do_not_add_up, 1, 32, in.get(), 32);
}

TEST_CASE("bytes and arrivals that no phase expects are named", "[bulk]") {
  for_each_schedule();
  const device_array<int> in(numbers(32));
  require_failure(prefix(many_line) +
                      "thread (0,0,0) arrives once too often in phase 0 of the barrier initialised at " +
                      at(__FILE__, many_init_line) + ", of which 0 of 1 arrivals and 16 bytes are missing",
                  too_many_arrivals, 1, 32, in.get());
}

TEST_CASE("barriers that are not ready for use are refused", "[bulk]") {
  for_each_schedule();
  const device_array<int> in(numbers(32));
  require_failure(prefix(uninitialised_line) + "thread (0,0,0) uses a barrier that was never initialised",
                  barrier_never_initialised, 1, 1);
  require_failure(prefix(overwritten_line) +
                      "thread (0,0,0) uses a barrier that something else has written over since it was "
                      "initialised at " +
                      at(__FILE__, overwritten_init_line),
                  barrier_overwritten, 1, 32);
  require_failure(
      prefix(unfenced_line) + "thread (0,0,0) begins a copy to a barrier that was initialised at " +
          at(__FILE__, unfenced_init_line) + " with no fence_mbarrier_init() of that thread behind it",
      no_fence_after_initialisation, 1, 1, in.get());
  require_failure(
      prefix(far_phase_line) +
          "thread (0,0,0) waits for phase 4 of a barrier that is in phase 1: a GPU sees whether the "
          "number is even or odd, and takes it for phase 0",
      phase_that_is_far_away, 1, 1);
}

TEST_CASE("bulk copies that a GPU does not do are refused", "[bulk]") {
  for_each_schedule();
  const device_array<int> in(numbers(32));
  const auto refused = [&](int to, int count, int from) {
    const cudaError_t error = try_launch(one_copy, 1, 32, 0, in.get(), to, count, from);
    const auto texts = lab::emulator::take_diagnostics();
    lab::emulator::reset();
    REQUIRE(texts.size() == 1);
    const std::string text = without_kernel(texts.front(), one_copy);
    CHECK(text.rfind(prefix(copy_line) + "thread (0,0,0) begins a bulk copy of ", 0) == 0);
    return std::pair(error, text);
  };
  run(one_copy, 1, 32, in.get(), 4, 12, 8);
  CHECK(refused(0, 3, 0).second.ends_with("copy of 12 bytes which is no multiple of 16 above 0"));
  CHECK(refused(0, 0, 0).second.ends_with("copy of 0 bytes which is no multiple of 16 above 0"));
  CHECK(refused(1, 4, 0).second.ends_with(
      "to shared memory, at an address that is no multiple of 16: misaligned"));
  CHECK(
      refused(0, 4, 2).second.ends_with("from device memory at offset 8 of an allocation of 128 bytes, at an "
                                        "address that is no multiple of 16: "
                                        "misaligned"));
  CHECK(refused(0, 4, 2).first == cudaErrorMisalignedAddress);
  const auto beyond = refused(0, 8, 28);
  CHECK(beyond.first == cudaErrorIllegalAddress);
  CHECK(beyond.second.ends_with(
      "from device memory, which has 32 bytes from offset 112 of an allocation of 128 bytes"));

  const device_array<int> out(std::size_t{4});
  CHECK(try_launch(copy_out_beyond, 1, 1, 0, out.get()) == cudaErrorIllegalAddress);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(without_kernel(texts.front(), copy_out_beyond) ==
        prefix(out_line) +
            "thread (0,0,0) begins a bulk copy of 32 bytes to device memory, which has 32 bytes "
            "from offset 0 of an allocation of 16 bytes");
  lab::emulator::reset();
}

// In some of the orders: a copy that happens to be done is no fault of the one that comes.
TEST_CASE("copies that are under way when they may not be are named in some order", "[bulk]") {
  for_each_schedule();
  const device_array<int> in(numbers(32));
  int left = 0, twice = 0;
  for (int launch = 0; launch < 12; ++launch) {
    if (try_launch(copy_nobody_waits_for, 1, 1, 0, in.get()) != cudaSuccess) ++left;
    for (const std::string& text : lab::emulator::take_diagnostics())
      CHECK(
          without_kernel(text, copy_nobody_waits_for) ==
          prefix(left_line) +
              "thread (0,0,0) begins a bulk copy into shared memory that has not landed when the block ends");
    lab::emulator::reset();
    if (try_launch(two_copies_to_one_place, 1, 1, 0, in.get()) != cudaSuccess) ++twice;
    for (const std::string& text : lab::emulator::take_diagnostics())
      CHECK(without_kernel(text, two_copies_to_one_place) ==
            prefix(twice_line) +
                "thread (0,0,0) begins a bulk copy to shared memory that another one may still be writing");
    lab::emulator::reset();
  }
  CHECK(left > 0);
  CHECK(twice > 0);
}

TEST_CASE("named barriers hold the threads that name them", "[bulk]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{128});
  const device_array<int> in(numbers(128));
  run(named_barriers, 1, 128, out.get(), 0, 0, 64);
  CHECK(out.values() == std::vector<int>(128, 1));
  // A warp counts whole where the block has less of it, or threads of it have left the kernel.
  run(named_barriers, 1, 112, out.get(), 0, 0, 64);
  run(named_barriers, 1, 128, out.get(), 70, 75, 64);
  run(sum_in_groups, 1, 128, in.get(), out.get());
  CHECK(out.values()[0] == 64 * 65 / 2);
  CHECK(out.values()[1] == 128 * 129 / 2 - 64 * 65 / 2);
  require_failure(
      prefix(named_line) + "thread (96,0,0) waits for ever at named barrier 2, where 32 of 64 threads are",
      named_barriers, 1, 128, out.get(), 64, 96, 64);
  require_failure(prefix(half_line) +
                      "thread (0,0,0) waits for ever at named barrier 1, where 64 of 64 threads are; " +
                      at(__FILE__, half_line + 1) + ": thread (1,0,0) waits at this barrier",
                  halves_of_warps_wait, 1, 128);
  CHECK(try_launch(named_barriers, 1, 128, 0, out.get(), 0, 0, 96) == cudaErrorLaunchFailure);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(texts.front().find("waits at named barrier 1 with ") != std::string::npos);
  lab::emulator::reset();
}

TEST_CASE("a named barrier for all threads is one, whether their number is said or not", "[bulk]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{128});
  run(all_with_and_without_a_number, 1, 128, out.get());
  std::vector<int> expected(128);
  for (int k = 0; k < 128; ++k) expected[static_cast<std::size_t>(k)] = 127 - k;
  CHECK(out.values() == expected);
}

TEST_CASE("a wait that may give up lets its thread ask for another barrier", "[bulk]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{1});
  run(poll_two_barriers, 1, 64, out.get(), poll::right);
  CHECK(out.values() == std::vector<int>{1});
  run(poll_two_barriers, 1, 64, out.get(), poll::gives_up);
  CHECK(out.values() == std::vector<int>{2});
  require_failure(prefix(ask_line) +
                      "thread (0,0,0) waits for ever for phase 0 of the barrier initialised at " +
                      at(__FILE__, poll_line) + ", of which 1 of 1 arrivals are missing",
                  poll_two_barriers, 1, 64, out.get(), poll::never_ends);
  CHECK(try_launch(poll_two_barriers, 1, 64, 0, out.get(), poll::never_ends_asleep) ==
        cudaErrorLaunchFailure);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(texts.front().find(" for phase 0 of the barrier initialised at " + at(__FILE__, poll_line) +
                           ", of which 1 of 1 arrivals are missing") != std::string::npos);
  lab::emulator::reset();
}

TEST_CASE("a copy lands while another thread asks for what comes after it", "[bulk]") {
  for_each_schedule();
  const device_array<int> in(numbers(4));
  const device_array<int> out(std::size_t{2});
  for (int launch = 0; launch < 6; ++launch) {
    run(wait_for_who_waits, 1, 64, in.get(), out.get(), launch % 2 == 0);
    CHECK(out.values() == std::vector<int>{1, 1});
  }
}
