// What observed kernels are told off for, and what they may do. The kernels of this file are instrumented.
#include <string>
#include <vector>

#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/support.hpp"

namespace {

using lab::emulator::fault;
using lab::emulator::observation;

struct outcome {
  cudaError_t error;
  std::vector<lab::emulator::observed_fault> faults;
  std::vector<std::string> warnings;
  std::vector<std::string> diagnostics;
};

template <class... Parameters, class... Arguments>
outcome observe(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                Arguments... arguments) {
  lab::emulator::reset();
  const observation watching;
  const cudaError_t error = try_launch(kernel, grid, block, shared_bytes, arguments...);
  outcome result{error, watching.faults(), watching.warnings(), lab::emulator::take_diagnostics()};
  // Each says which kernel; the tests' own words leave it out.
  for (auto& one : result.faults) one.text = without_kernel(one.text, kernel);
  for (std::string& one : result.warnings) one = without_kernel(one, kernel);
  for (std::string& one : result.diagnostics) one = without_kernel(one, kernel);
  lab::emulator::reset();
  return result;
}

void check_silent(const outcome& found) {
  for (const auto& one : found.faults) UNSCOPED_INFO(one.text);
  for (const auto& one : found.warnings) UNSCOPED_INFO(one);
  CHECK(found.error == cudaSuccess);
  CHECK(found.faults.empty());
  CHECK(found.warnings.empty());
}

void check_fault(const outcome& found, fault kind, const std::string& text) {
  CHECK(found.error == cudaErrorLaunchFailure);
  REQUIRE(!found.faults.empty());
  CHECK(found.faults[0].kind == kind);
  CHECK(found.faults[0].text == text);
  CHECK(found.diagnostics.at(0) == text);
}

// ---- races in shared memory

constexpr int shift_write = __LINE__ + 3, shift_read = __LINE__ + 5;
__global__ void shift(int* out, bool barrier) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;
  if (barrier) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[(threadIdx.x + 32) % 64];
}

// The tile of one round is overwritten while it is still read: a barrier is missing at the end.
constexpr int single_write = __LINE__ + 4, single_read = __LINE__ + 6;
__global__ void single_buffer(int* out, int rounds) {
  __shared__ int tile[64];
  for (int round = 0; round < rounds; ++round) {
    tile[threadIdx.x] = round;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
  }
}

// With two tiles in turn one barrier a round is enough.
__global__ void double_buffer(int* out, int rounds) {
  __shared__ int tile[2][64];
  for (int round = 0; round < rounds; ++round) {
    tile[round % 2][threadIdx.x] = round;
    __syncthreads();
    out[threadIdx.x] = tile[round % 2][63 - threadIdx.x];
  }
}

// Two threads read, and only the first of them is in the way of the writer: remembering the last reader would
// not do.
constexpr int reads_first = __LINE__ + 5, writes_after = __LINE__ + 6;
__global__ void read_by_two(int* out) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 1;
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = word;
  if (threadIdx.x == 63) word = 2;
}

__global__ void warp_sum(float* out, bool synchronize) {
  __shared__ float part[32];
  part[threadIdx.x] = 1;
  if (synchronize) __syncwarp();
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    const float other = threadIdx.x < distance ? part[threadIdx.x + distance] : 0;
    if (synchronize) __syncwarp();
    if (threadIdx.x < distance) part[threadIdx.x] += other;
    if (synchronize) __syncwarp();
  }
  if (threadIdx.x == 0) *out = part[0];
}

__global__ void shuffle_and_vote(int* out, int rounds) {
  const unsigned half = threadIdx.x < 32 ? ~0u : threadIdx.x < 48 ? 0xffffu : 0xffff0000u;
  int value = static_cast<int>(threadIdx.x);
  for (int k = 0; k < rounds; ++k) {
    value = __shfl_xor_sync(~0u, value, 1);
    __syncwarp();
    value += __any_sync(half, value > 40);
  }
  out[threadIdx.x] = value;
}

// Half warps that synchronize by themselves.
__global__ void half_warps(int* out) {
  __shared__ int part[32];
  const unsigned half = threadIdx.x / 16;
  const unsigned mask = half == 0 ? 0x0000ffffu : 0xffff0000u;
  for (int round = 0; round < 3; ++round) {
    part[threadIdx.x] = round;
    __syncwarp(mask);
    out[threadIdx.x] = part[half * 16 + (15 - threadIdx.x % 16)];
    __syncwarp(mask);
  }
}

__global__ void count_in_shared(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}

constexpr int plain_reset_line = __LINE__ + 3, counting_line = __LINE__ + 4;
__global__ void count_without_barrier(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}

constexpr int atomic_line = __LINE__ + 5, plain_line = __LINE__ + 6;
__global__ void count_and_look(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  out[threadIdx.x] = count;
}

// Bytes of one word, each its own thread's.
__global__ void bytes_side_by_side(int* out) {
  __shared__ unsigned char bytes[64];
  bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  out[threadIdx.x] = bytes[threadIdx.x];
}

// ---- reads of what nobody wrote

constexpr int hole_line = __LINE__ + 5;
__global__ void leave_a_hole(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x != 7) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

// ---- device memory

constexpr int beyond_line = __LINE__ + 3;
__global__ void write_one_too_many(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) out[i] = i;
}

constexpr int far_line = __LINE__ + 2;
__global__ void read_far_away(const int* in, int* out) {
  out[threadIdx.x] = in[1'000'000'000];
}

constexpr int dynamic_line = __LINE__ + 3;
__global__ void beyond_dynamic(int* out) {
  int* const tile = lab::dynamic_shared<int>();
  tile[threadIdx.x] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}

// Each block shifts its part in place, and reads what the next block has.
constexpr int global_read = __LINE__ + 4, global_write = __LINE__ + 6;
__global__ void shift_in_place(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int next = 0;
  if (i + 1 < n) next = values[i + 1];
  __syncthreads();
  if (i < n) values[i] = next;
}

__global__ void count_all(int* count) {
  atomicAdd(count, 1);
}

constexpr int reset_line = __LINE__ + 2;
__global__ void reset_and_count(int* count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *count = 0;
  __syncthreads();
  atomicAdd(count, 1);
}

// The last block to come adds up what the others have left: the hand-over of the programming guide.
__global__ void last_block_sums(int* partial, unsigned* tickets, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);
    __threadfence();
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) total += partial[block];
    *sum = total;
    *tickets = 0;
  }
}

// Each block waits for the one before: a chain, as in a decoupled look-back.
__global__ void chain(volatile int* ready, int* values) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = values[blockIdx.x - 1];
  }
  values[blockIdx.x] = before + 1;
  __threadfence();
  ready[blockIdx.x] = 1;
}

constexpr int unfenced_write = __LINE__ + 3, unfenced_read = __LINE__ + 6;
__global__ void last_block_without_fence(int* partial, unsigned* tickets, int* sum) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    if (atomicAdd(tickets, 1u) == gridDim.x - 1) {
      int total = 0;
      for (unsigned block = 0; block < gridDim.x; ++block) total += partial[block];
      *sum = total;
    }
  }
}

// ---- host code and barriers

constexpr int host_line = __LINE__ + 2;
__attribute__((noinline)) int peek(const int* device_memory) {
  return *device_memory;
}

constexpr int early_line = __LINE__ + 3;
__global__ void leave_early(int* out, unsigned staying) {
  if (threadIdx.x >= staying) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

// ---- long and deep

__global__ void long_loop(const float* in, float* out, int rounds) {
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += in[(k * 32 + static_cast<int>(threadIdx.x)) % 1024];
  out[threadIdx.x] = sum;
}

__attribute__((noinline)) float add_up(const float* in, int count) {
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += in[k * 32 + static_cast<int>(threadIdx.x)];
  return sum;
}

// Lanes call a function with different counts; the store is theirs together again.
__global__ void call_with_lane(const float* in, float* out) {
  const float sum = add_up(in, static_cast<int>(threadIdx.x) % 4 + 1);
  out[threadIdx.x] = sum;
}

// An array of vectors in shared memory: each is one access of 16 bytes, and nothing prepares the array.
template <class Vector>
__global__ void turn_tile(Vector* out) {
  __shared__ Vector tile[2][32];
  tile[threadIdx.x / 32][threadIdx.x % 32] = Vector{1, 2, 3, 4};
  __syncthreads();
  out[threadIdx.x] = tile[1 - threadIdx.x / 32][threadIdx.x % 32];
}

std::string in_file(int line) {
  return "tests/emulator/observed_test.cpp:" + std::to_string(line);
}

// Holds everything for which the compiler keeps a table of exceptions; none of it lists a plain access.
struct destroyed_later {
  int* where;
  __device__ ~destroyed_later() { *where = 1; }
};

constexpr int between_barriers_line = __LINE__ + 9;
__global__ void stray_between_barriers(const int* values, long long offset, int* out) {
  __shared__ int sum;
  destroyed_later destroyed{out + 64};
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) sum = 0;
  __syncthreads();
  const int next = __shfl_down_sync(~0u, thread, 1);
  // One warp waits at the barrier behind when a lane of the other one goes astray.
  const int value = thread == 40 ? values[offset] : next;
  atomicAdd(&sum, value);
  __syncthreads();
  for (int k = 0; k < 3000; ++k) out[thread] = sum + k;
}

__global__ void stray_atomic(int* values, long long offset) {
  __syncthreads();
  if (threadIdx.x == 3) atomicAdd(values + offset, 1);
  __syncthreads();
}

// Longer than what is kept of a lane: some lanes are paused when another one goes astray.
__global__ void stray_in_long_loop(const int* values, int n, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int mine = 0;
  for (int k = 0; k < 20000; ++k) mine += values[threadIdx.x == 31 && k == 19999 ? n : k % n];
  atomicAdd(&sum, mine);
  __syncthreads();
  out[threadIdx.x] = sum;
}

}  // namespace

TEST_CASE("observed: a race in shared memory names both lines and threads, in either order of the threads") {
  device_array<int> out(64);
  lab::emulator::configure({.threads = 2});
  check_fault(observe(shift, 1, 64, 0, out.get(), false), fault::race,
              in_file(shift_write) +
                  ": block (0,0,0): thread (32,0,0) writes shared memory that thread (0,0,0) reads at " +
                  in_file(shift_read) + ", with no __syncthreads() between");
  lab::emulator::configure({.threads = 2, .reverse = true});
  check_fault(observe(shift, 1, 64, 0, out.get(), false), fault::race,
              in_file(shift_write) +
                  ": block (0,0,0): thread (31,0,0) writes shared memory that thread (63,0,0) reads at " +
                  in_file(shift_read) + ", with no __syncthreads() between");
  check_silent(observe(shift, 1, 64, 0, out.get(), true));
  lab::emulator::configure({.threads = 2});
}

TEST_CASE("observed: a tile that is overwritten while it is read, and one of two that is not") {
  device_array<int> out(64);
  check_fault(observe(single_buffer, 1, 64, 0, out.get(), 2), fault::race,
              in_file(single_read) +
                  ": block (0,0,0): thread (32,0,0) reads shared memory that thread (31,0,0) writes at " +
                  in_file(single_write) + ", with no __syncthreads() between");
  check_silent(observe(single_buffer, 1, 64, 0, out.get(), 1));
  check_silent(observe(double_buffer, 1, 64, 0, out.get(), 5));
}

TEST_CASE("observed: a writer is compared with all readers, not with the last one") {
  device_array<int> out(64);
  check_fault(observe(read_by_two, 1, 64, 0, out.get()), fault::race,
              in_file(writes_after) +
                  ": block (0,0,0): thread (63,0,0) writes shared memory that thread (31,0,0) reads at " +
                  in_file(reads_first) + ", with no __syncthreads() between");
}

TEST_CASE("observed: within a warp __syncwarp() orders, and nothing else does") {
  device_array<float> out(1);
  const outcome found = observe(warp_sum, 1, 32, 0, out.get(), false);
  REQUIRE(!found.faults.empty());
  CHECK(found.error == cudaErrorLaunchFailure);
  CHECK(found.faults[0].kind == fault::race);
  CHECK(found.faults[0].text.find(", with no __syncwarp() or __syncthreads() between") != std::string::npos);
  check_silent(observe(warp_sum, 1, 32, 0, out.get(), true));
  device_array<int> halves(32);
  check_silent(observe(half_warps, 1, 32, 0, halves.get()));
}

TEST_CASE("observed: atomics do not race with each other, and do with what is plain") {
  device_array<int> out(64);
  check_silent(observe(count_in_shared, 1, 64, 0, out.get()));
  check_fault(
      observe(count_and_look, 1, 64, 0, out.get()), fault::race,
      in_file(atomic_line) +
          ": block (0,0,0): thread (1,0,0) atomically changes shared memory that thread (0,0,0) reads at " +
          in_file(plain_line) + ", with no __syncwarp() or __syncthreads() between");
}

TEST_CASE("observed: an atomic does not make good what was written plainly before it") {
  device_array<int> out(64);
  check_fault(
      observe(count_without_barrier, 1, 64, 0, out.get()), fault::race,
      in_file(counting_line) +
          ": block (0,0,0): thread (1,0,0) atomically changes shared memory that thread (0,0,0) writes "
          "at " +
          in_file(plain_reset_line) + ", with no __syncwarp() or __syncthreads() between");
}

TEST_CASE("observed: an array of vectors in shared memory is no race, and a vector is one access") {
  device_array<float4> out(64);
  const lab::emulator::observation observation;
  lab::launch(turn_tile<float4>, dim3(1), dim3(64), 0, nullptr, out.get());
  CHECK(observation.faults().empty());
  lab::emulator::reset();
  const auto metrics = observation.kernels().at(0).metrics;
  CHECK(metrics.at("lab__requests_mem_shared_op_ld.sum") == 2);
  CHECK(metrics.at("lab__requests_mem_shared_op_st.sum") == 2);
  CHECK(metrics.at("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") == 8);
  CHECK(metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") == 2);
}

TEST_CASE("observed: bytes of one word are no race") {
  device_array<int> out(64);
  check_silent(observe(bytes_side_by_side, 1, 64, 0, out.get()));
}

TEST_CASE("observed: shared memory that nobody wrote, though the block before did") {
  device_array<int> out(128);
  check_silent(observe(shift, 2, 64, 0, out.get(), true));
  check_fault(observe(leave_a_hole, 1, 64, 0, out.get()), fault::uninitialised,
              in_file(hole_line) +
                  ": block (0,0,0): thread (7,0,0) reads shared memory that its block has not written");
}

TEST_CASE("observed: accesses outside of an allocation stop the kernel before they are made") {
  device_array<int> out(100);
  check_fault(
      observe(write_one_too_many, 2, 64, 0, out.get(), 100), fault::out_of_bounds,
      in_file(beyond_line) +
          ": block (1,0,0): thread (36,0,0) writes 4 bytes at offset 400 of an allocation of 400 bytes");
  check_silent(observe(write_one_too_many, 2, 64, 0, out.get(), 99));
  const outcome far = observe(read_far_away, 1, 32, 0, static_cast<const int*>(out.get()), out.get());
  check_fault(far, fault::out_of_bounds,
              in_file(far_line) +
                  ": block (0,0,0): thread (0,0,0) reads 4 bytes at an address that lies in no allocation");
  check_fault(observe(beyond_dynamic, 1, 64, 32 * sizeof(int), out.get()), fault::out_of_bounds,
              in_file(dynamic_line) +
                  ": block (0,0,0): thread (32,0,0) writes 4 bytes at offset 128 of 128 bytes of dynamic "
                  "shared memory");
  check_silent(observe(beyond_dynamic, 1, 64, 64 * sizeof(int), out.get()));
}

TEST_CASE("observed: a guard zone that its owner has declared") {
  device_array<int> out(100);
  lab::emulator::narrow_allocation(out.get() + 10, 50 * sizeof(int));
  check_silent(observe(write_one_too_many, 1, 64, 0, out.get() + 10, 49));
  check_fault(
      observe(write_one_too_many, 1, 64, 0, out.get() + 10, 50), fault::out_of_bounds,
      in_file(beyond_line) +
          ": block (0,0,0): thread (50,0,0) writes 4 bytes at offset 200 of an allocation of 200 bytes");
}

TEST_CASE("observed: one element behind, before and far from a narrowed array") {
  device_array<int> whole(10000), out(65);
  int* const array = whole.get() + 4096;
  lab::emulator::narrow_allocation(array, 100 * sizeof(int));
  const bool reverse = GENERATE(false, true);
  lab::emulator::configure({.reverse = reverse});
  const auto stray = [&](long long offset) {
    return observe(stray_between_barriers, 1, 64, 0, static_cast<const int*>(array), offset, out.get());
  };
  check_silent(stray(0));
  check_silent(stray(99));
  for (const long long offset : {100ll, -1ll, 101ll, -4096ll, 2000ll}) {
    check_fault(stray(offset), fault::out_of_bounds,
                in_file(between_barriers_line) + ": block (0,0,0): thread (40,0,0) reads 4 bytes at offset " +
                    std::to_string(4 * offset) + " of an allocation of 400 bytes");
  }
  lab::emulator::configure({});
}

TEST_CASE("observed: a stray access fails the launch beside barriers, shuffles and atomics as well") {
  device_array<int> values(100), out(65);
  const bool reverse = GENERATE(false, true);
  lab::emulator::configure({.reverse = reverse});
  const outcome atomic = observe(stray_atomic, 1, 64, 0, values.get(), 100ll);
  CHECK(atomic.error == cudaErrorLaunchFailure);
  REQUIRE(atomic.faults.size() == 1);
  CHECK(atomic.faults[0].text.find("thread (3,0,0) atomically changes 4 bytes at offset 400") !=
        std::string::npos);
  check_silent(observe(stray_atomic, 1, 64, 0, values.get(), 99ll));
  const outcome far = observe(stray_atomic, 1, 64, 0, values.get(), 1ll << 20);
  REQUIRE(far.faults.size() == 1);
  CHECK(far.faults[0].text.find("atomically changes 4 bytes at an address that lies in no allocation") !=
        std::string::npos);
  const outcome loop =
      observe(stray_in_long_loop, 1, 64, 0, static_cast<const int*>(values.get()), 100, out.get());
  CHECK(loop.error == cudaErrorLaunchFailure);
  REQUIRE(loop.faults.size() == 1);
  CHECK(loop.faults[0].text.find("thread (31,0,0) reads 4 bytes at offset 400") != std::string::npos);
  // The memory that no kernel owns faults without instrumentation.
  const outcome null =
      observe(stray_between_barriers, 1, 64, 0, static_cast<const int*>(nullptr), 0ll, out.get());
  CHECK(null.error == cudaErrorIllegalAddress);
  lab::emulator::configure({});
}

TEST_CASE("observed: blocks that race for device memory") {
  device_array<int> values(256);
  check_fault(observe(shift_in_place, 4, 64, 0, values.get(), 256), fault::race,
              in_file(global_write) +
                  ": block (1,0,0): thread (0,0,0) writes device memory that thread (63,0,0) of block "
                  "(0,0,0) reads at " +
                  in_file(global_read) + ", and nothing orders the two blocks");
  check_silent(observe(shift_in_place, 1, 256, 0, values.get(), 256));
  device_array<int> count(1);
  const outcome found = observe(reset_and_count, 2, 32, 0, count.get());
  check_fault(
      found, fault::race,
      in_file(reset_line + 2) +
          ": block (1,0,0): thread (0,0,0) atomically changes device memory that thread (0,0,0) of block "
          "(0,0,0) writes at " +
          in_file(reset_line) + ", and nothing orders the two blocks");
}

TEST_CASE("observed: blocks that hand over data by the rules") {
  device_array<int> values(64), sum(1);
  device_array<unsigned> tickets(1);
  check_silent(observe(count_all, 8, 64, 0, sum.get()));
  check_silent(observe(last_block_sums, 16, 32, 0, values.get(), tickets.get(), sum.get()));
  device_array<int> ready(16);
  check_silent(observe(chain, 16, 32, 0, ready.get(), values.get()));
  check_fault(observe(last_block_without_fence, 4, 32, 0, values.get(), tickets.get(), sum.get()),
              fault::race,
              in_file(unfenced_read) +
                  ": block (3,0,0): thread (0,0,0) reads device memory that thread (0,0,0) of block (0,0,0) "
                  "writes at " +
                  in_file(unfenced_write) + ", and nothing orders the two blocks");
}

TEST_CASE("observed: host code that touches device memory") {
  device_array<int> values(4);
  lab::emulator::reset();
  const observation watching;
  CHECK(peek(values.get()) == 0);
  REQUIRE(watching.faults().size() == 1);
  CHECK(watching.faults()[0].kind == fault::host_access);
  CHECK(watching.faults()[0].text == in_file(host_line) + ": host code touches device memory");
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  lab::emulator::reset();
}

TEST_CASE("observed: an early exit before a barrier is a warning") {
  device_array<int> out(64);
  const outcome found = observe(leave_early, 1, 64, 0, out.get(), 40u);
  CHECK(found.error == cudaSuccess);
  CHECK(found.faults.empty());
  CHECK(found.warnings ==
        std::vector<std::string>{
            in_file(early_line) +
            ": block (0,0,0): 40 of 64 threads, thread (0,0,0) first, wait at this barrier, "
            "but thread (40,0,0) has left the kernel"});
  check_silent(observe(leave_early, 1, 64, 0, out.get(), 64u));
}

TEST_CASE("observed: a loop longer than what is kept of a lane, and calls that are not inlined") {
  device_array<float> in(1024), out(32);
  const observation watching;
  REQUIRE(try_launch(long_loop, 1, 32, 0, static_cast<const float*>(in.get()), out.get(), 100'000) ==
          cudaSuccess);
  REQUIRE(try_launch(call_with_lane, 1, 32, 0, static_cast<const float*>(in.get()), out.get()) ==
          cudaSuccess);
  const auto kernels = watching.kernels();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name.find("long_loop") != std::string::npos);
  CHECK(kernels[0].metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 100'000);
  CHECK(kernels[0].metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 400'000);
  CHECK(kernels[1].metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 4);
  CHECK(kernels[1].metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") == 1);
}

TEST_CASE("observed: counters belong to lines") {
  device_array<int> out(64);
  const observation watching;
  REQUIRE(try_launch(double_buffer, 1, 64, 0, out.get(), 3) == cudaSuccess);
  const auto kernels = watching.kernels();
  REQUIRE(kernels.size() == 1);
  double stores = 0, loads = 0;
  for (const auto& line : kernels[0].lines) {
    CHECK(line.file == "tests/emulator/observed_test.cpp");
    stores += line.metrics.at("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
    loads += line.metrics.at("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
  }
  CHECK(stores == 6);
  CHECK(loads == 6);
  CHECK(kernels[0].metrics.at("lab__barriers.sum") == 3);
  CHECK(kernels[0].metrics.at("lab__warp_collectives.sum") == 0);
}

TEST_CASE("observed: collectives of warps are counted, and __syncwarp() is none") {
  device_array<int> out(64);
  const observation watching;
  // Two warps, and three times a shuffle and a vote; the second warp's halves vote by themselves.
  REQUIRE(try_launch(shuffle_and_vote, 1, 64, 0, out.get(), 3) == cudaSuccess);
  CHECK(watching.kernels().at(0).metrics.at("lab__warp_collectives.sum") == 3 * (2 + 1 + 2));
}
