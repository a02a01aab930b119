#include <atomic>

#include "tests/emulator/support.hpp"

namespace {

__global__ void reverse_tiles(const int* in, int* out) {
  __shared__ int tile[96];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = in[i] + round;
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}

__global__ void vote_in_block(int* out) {
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 100);
  const int not_all = __syncthreads_and(threadIdx.x < 99);
  const int some = __syncthreads_or(threadIdx.x == 99);
  const int none = __syncthreads_or(threadIdx.x > 99);
  if (threadIdx.x == 50) {
    out[0] = count;
    out[1] = all;
    out[2] = not_all;
    out[3] = some;
    out[4] = none;
  }
}

// A barrier, so that dynamic shared memory seen by one thread was written by another.
__global__ void shift_in_dynamic_shared(float* out) {
  auto* const shared = lab::dynamic_shared<float>();
  shared[threadIdx.x] = static_cast<float>(threadIdx.x + blockIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

constexpr int early_exit_line = __LINE__ + 3;
__global__ void some_threads_leave_early(unsigned staying, unsigned bad_block) {
  if (blockIdx.x >= bad_block && threadIdx.x >= staying) return;
  __syncthreads();
}

constexpr int two_barriers_line = __LINE__ + 3;
__global__ void two_barriers() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

// Two barriers for each thread, but at different times: the second of one meets the first of the other.
constexpr int skipped_barrier_line = __LINE__ + 5;
__global__ void skip_a_barrier(int* out) {
  if (threadIdx.x == 3)
    out[1] = 1;
  else
    __syncthreads();
  __syncthreads();
  out[0] = 1;
}

std::atomic<int> objects_alive{0};

struct counted_object {
  counted_object() { ++objects_alive; }
  ~counted_object() { --objects_alive; }
};

__global__ void fail_with_objects() {
  const counted_object object;
  if (threadIdx.x == 40) return;
  __syncthreads();
}

__global__ void throw_something() {
  if (threadIdx.x == 5) throw 1;
  __syncthreads();
}

constexpr int trap_line = __LINE__ + 2;
__global__ void trap_in_one_thread() {
  if (blockIdx.y == 1 && threadIdx.x == 7) __trap();
}

__global__ void wait_for_other_warp(volatile int* flag) {
  if (threadIdx.x == 0 || threadIdx.x == 63) {
    const bool sets_first = threadIdx.x == 63;
    if (sets_first) flag[0] = 1;
    while (flag[sets_first ? 1 : 0] == 0) __nanosleep(100);
    if (!sets_first) flag[1] = 1;
  }
  __syncthreads();
}

__global__ void count_ticks(long long* out) {
  const long long begin = clock64();
  out[threadIdx.x] = clock64() - begin;
}

}  // namespace

TEST_CASE("what a thread wrote before a barrier, the others read behind it") {
  for_each_schedule();
  std::vector<int> values(96 * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7);
  const device_array<int> in(values), out(values.size());
  run(reverse_tiles, 5, 96, in.get(), out.get());
  std::vector<int> expected(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) expected[i] = values[i / 96 * 96 + 95 - i % 96] + 2;
  CHECK(out.values() == expected);
}

TEST_CASE("dynamic shared memory belongs to the block") {
  for_each_schedule();
  const device_array<float> out(4 * 64);
  REQUIRE(try_launch(shift_in_dynamic_shared, 4, 64, 64 * sizeof(float), out.get()) == cudaSuccess);
  const std::vector<float> values = out.values();
  for (unsigned i = 0; i < values.size(); ++i) CHECK(values[i] == static_cast<float>((i + 1) % 64 + i / 64));
}

TEST_CASE("barriers that vote") {
  for_each_schedule();
  const device_array<int> out(5);
  run(vote_in_block, 1, 100, out.get());
  CHECK(out.values() == std::vector<int>{34, 1, 0, 1, 0});
}

TEST_CASE("a barrier that part of the block has left for good fails the launch") {
  for_each_schedule();
  require_failure(
      at(__FILE__, early_exit_line) +
          ": block (3,0,0): 16 of 40 threads, thread (0,0,0) first, wait at this barrier, but thread "
          "(16,0,0) has left the kernel",
      some_threads_leave_early, 9, 40, 16, 3);
  // Whole warps that leave are no better.
  require_failure(
      at(__FILE__, early_exit_line) +
          ": block (0,0,0): 32 of 64 threads, thread (0,0,0) first, wait at this barrier, but thread "
          "(32,0,0) has left the kernel",
      some_threads_leave_early, 1, 64, 32, 0);
  run(some_threads_leave_early, 9, 40, 16, 9);
}

TEST_CASE("two barriers that each get a part of the block fail the launch") {
  for_each_schedule();
  require_failure(
      at(__FILE__, two_barriers_line) +
          ": block (0,0,0): thread (0,0,0) waits at this barrier, but thread (1,0,0) waits at the one at " +
          at(__FILE__, two_barriers_line + 2),
      two_barriers, 2, 32);
  const device_array<int> out(2);
  require_failure(
      at(__FILE__, skipped_barrier_line) +
          ": block (0,0,0): thread (0,0,0) waits at this barrier, but thread (3,0,0) waits at the one at " +
          at(__FILE__, skipped_barrier_line + 1),
      skip_a_barrier, 1, 4, out.get());
  CHECK(out.values() == std::vector<int>{0, 1});
}

TEST_CASE("a failed launch ends the threads that wait, and the device can be used again") {
  for_each_schedule();
  CHECK(try_launch(fail_with_objects, 4, 128, 0) == cudaErrorLaunchFailure);
  CHECK(objects_alive > 0);  // locals are not destroyed
  CHECK(try_launch(vote_in_block, 1, 100, 0, nullptr) ==
        cudaErrorLaunchFailure);  // nothing runs until reset()
  lab::emulator::reset();
  const device_array<int> out(5);
  run(vote_in_block, 1, 100, out.get());
  CHECK(out.values()[0] == 34);
}

TEST_CASE("an exception that leaves a kernel fails the launch") {
  for_each_schedule();
  require_failure("(anonymous namespace)::throw_something: block (0,0,0): thread (5,0,0) throws an exception",
                  throw_something, 1, 32);
}

TEST_CASE("__trap() fails the launch") {
  for_each_schedule();
  require_failure(at(__FILE__, trap_line) + ": block (0,1,0): thread (7,0,0) calls __trap()",
                  trap_in_one_thread, dim3(1, 2), 32);
}

TEST_CASE("__nanosleep() lets the threads run that a loop waits for") {
  for_each_schedule();
  const device_array<int> flags(2);
  run(wait_for_other_warp, 1, 64, flags.get());
  CHECK(flags.values() == std::vector<int>{1, 1});
}

TEST_CASE("clock64() grows") {
  for_each_schedule();
  const device_array<long long> out(32);
  run(count_ticks, 1, 32, out.get());
  for (const long long difference : out.values()) CHECK(difference > 0);
}
