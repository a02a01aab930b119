// What kernels that are not observed are stopped for, with the line where debug information has it: kernels
// with one fault each, and beside each the right one that looks like it. This file is compiled once more,
// with observed kernels (observed_fault_test.cpp).
#undef NDEBUG
#include <cassert>
#include <cstring>

#include "tests/emulator/support.hpp"

namespace lab::test_faults {

constexpr int read_line = __LINE__ + 2;
__global__ void read_first(const float* from, float* to) {
  if (threadIdx.x == 5) to[0] = from[0];
}

struct view {
  const float* data;
};
constexpr int view_line = __LINE__ + 2;
__global__ void read_view(view from, float* to) {
  if (threadIdx.x == 5) to[0] = from.data[0];
}

struct flagged {
  char flag;  // and seven bytes that hold whatever was there
  float* to;
  int sizes[32];  // more than is copied member by member
};
__global__ void write_heap(flagged by, float* const* heap) {
  if (threadIdx.x == 5) **heap = *by.to = static_cast<float>(by.flag);
}

constexpr int vector_line = __LINE__ + 3;
__global__ void read_vector(const float* from, int offset, float4* to) {
  if (threadIdx.x != 3) return;
  to[0] = *reinterpret_cast<const float4*>(from + offset);
}

constexpr int assert_line = __LINE__ + 2;
__global__ void check_values(const int* values, int limit) {
  assert(values[threadIdx.x] < limit);
}

template <int floats>
__global__ void large_tile(float* to) {
  __shared__ float tile[floats];
  tile[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void aligned_tile(float4* to) {
  __shared__ __align__(16) float tile[128];
  __align__(16) float mine[4] = {1, 2, 3, 4};
  for (int k = 0; k < 4; ++k) tile[threadIdx.x * 4 + k] = mine[k];
  __syncthreads();
  to[threadIdx.x] = reinterpret_cast<const float4*>(tile)[31 - threadIdx.x];
}

// A barrier in a function that promises not to throw, and a handler of everything: neither may stand in the
// way of a thread that has to end.
__device__ inline void careful_barrier() noexcept {
  __syncthreads();
}
__global__ void stray_beside_noexcept(const int* values, long long offset, int* to) {
  try {
    if (threadIdx.x == 40) to[1] = values[offset];
    careful_barrier();
  } catch (...) {
    to[0] = 1;
  }
}

// ---- waiting in a loop

// A thread of one warp waits for one of another; which one comes first is up to the machine.
__global__ void wait_within_block(volatile int* flag, int* to, int setter) {
  if (static_cast<int>(threadIdx.x) == setter) {
    to[0] = 7;
    __threadfence();
    flag[0] = 1;
  } else if (threadIdx.x == 0 || threadIdx.x == 63) {
    while (flag[0] == 0) {
    }
    __threadfence();
    to[1 + threadIdx.x / 32] = to[0];
  }
}

constexpr int wait_line = __LINE__ + 3;
__global__ void wait_for_later_block(volatile int* flag) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (flag[0] == 0) {
    }
  }
  if (blockIdx.x == 40) flag[0] = 1;
}

constexpr int never_line = __LINE__ + 3;
__global__ void wait_at_barrier_and_flag(volatile int* flag) {
  if (threadIdx.x == 0) {
    while (flag[0] == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 1) flag[0] = 1;
}

// A lock that each thread of a warp takes in its turn.
// The only places where its state is looked at are its calls of __nanosleep.
__global__ void wait_asleep(int* flag, bool atomically) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while ((atomically ? atomicAdd(flag, 0) : *static_cast<volatile int*>(flag)) == 0) {
      __threadfence();
      __nanosleep(100);
    }
  }
  __syncthreads();
  if (blockIdx.x == 40) atomicExch(flag, 1);
}

__global__ void sleep_while_another_works(int* done, double* worked, int steps) {
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0) {
    while (block > 0 && atomicAdd(done + block - 1, 0) == 0) __nanosleep(100);
    double value = 1;
    for (int k = 0; k < steps; ++k) {
      value = value * 1.0000001 + 1e-9;
      if (k % 100'000 == 0) worked[block] = value;
    }
    worked[block] = value;
    __threadfence();
    atomicExch(done + block, 1);
  } else {
    while (atomicAdd(done + block, 0) == 0) __nanosleep(100);
  }
}

__global__ void lock_in_turn(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// A lock that is never given back.
__global__ void lock_and_keep(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count += 1;
}

// Long, and no waiting.
__global__ void count_far(int* to, int rounds) {
  unsigned value = 1;
  for (int k = 0; k < rounds; ++k) value = value * 1664525u + 1013904223u;
  to[threadIdx.x] = static_cast<int>(value);
}

}  // namespace lab::test_faults

namespace {

using namespace lab::test_faults;

#if defined(LAB_EMULATOR_OBSERVED)
#define FAULT_TEST(name) TEST_CASE("observed faults: " name)
constexpr bool observed = true;
struct watch {
  lab::emulator::observation watching;
};
#else
#define FAULT_TEST(name) TEST_CASE("faults: " name)
constexpr bool observed = false;
struct watch {};
#endif

// The launch fails with `error`, and the one thing said about it has these parts in their order.
template <class... Parameters, class... Arguments>
void check_fault(cudaError_t error, const std::vector<std::string>& parts, void (*kernel)(Parameters...),
                 dim3 grid, dim3 block, std::size_t shared_bytes, Arguments... arguments) {
  lab::emulator::reset();
  {
    [[maybe_unused]] const watch here;
    CHECK(try_launch(kernel, grid, block, shared_bytes, arguments...) == error);
  }
  const auto said = lab::emulator::take_diagnostics();
  lab::emulator::reset();
  REQUIRE(said.size() == 1);
  INFO(said[0]);
  std::size_t position = 0;
  for (const std::string& part : parts) {
    INFO("wanted: " << part);
    position = said[0].find(part, position);
    REQUIRE(position != std::string::npos);
  }
}

template <class... Parameters, class... Arguments>
void check_right(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  lab::emulator::reset();
  [[maybe_unused]] const watch here;
  const cudaError_t error = try_launch(kernel, grid, block, 0, arguments...);
  for (const std::string& text : lab::emulator::take_diagnostics()) UNSCOPED_INFO(text);
  CHECK(error == cudaSuccess);
  lab::emulator::reset();
}

std::string line(int number) {
  return "tests/emulator/fault_test.cpp:" + std::to_string(number) + ": ";
}
const std::string thread_five = "read_first: block (0,0,0): thread (5,0,0) reads ";

}  // namespace

FAULT_TEST("a null pointer") {
  const device_array<float> to(1);
  check_fault(cudaErrorIllegalAddress, {line(read_line), thread_five, "at address 0, a null pointer"},
              read_first, 1, 32, 0, nullptr, to.get());
  check_right(read_first, 1, 32, to.get(), to.get());
}

FAULT_TEST("memory that was freed is not taken for another allocation") {
  const device_array<float> to(1);
  float* freed = nullptr;
  REQUIRE(cudaMalloc(&freed, 400) == cudaSuccess);
  const device_array<float> next(100);
  REQUIRE(cudaFree(freed) == cudaSuccess);
  check_fault(observed ? cudaErrorLaunchFailure : cudaErrorIllegalAddress,
              {line(read_line), thread_five, "offset 0 of an allocation of 400 bytes that was freed"},
              read_first, 1, 32, 0, freed, to.get());
  check_right(read_first, 1, 32, next.get(), to.get());
}

FAULT_TEST("a host pointer") {
  const device_array<float> to(1);
  const std::vector<float> on_heap(100);
  const float on_stack[4] = {};
  for (const float* pointer : {on_heap.data(), &on_stack[0]}) {
    if (observed) {
      check_fault(cudaErrorIllegalAddress, {line(read_line), thread_five, "which is host memory"}, read_first,
                  1, 32, 0, pointer, to.get());
      check_fault(cudaErrorIllegalAddress, {line(view_line), "which is host memory"}, read_view, 1, 32, 0,
                  view{pointer}, to.get());
    } else {
      check_fault(cudaErrorIllegalAddress, {"read_first: argument 1 of its launch points to host memory"},
                  read_first, 1, 32, 0, pointer, to.get());
    }
  }
  float* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 16) == cudaSuccess);
  *pinned = 3;
  check_right(read_first, 1, 32, pinned, to.get());
  check_right(read_view, 1, 32, view{pinned}, to.get());
  CHECK(to.values()[0] == 3);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

// What malloc() gives a kernel is host memory here.
#if __has_builtin(__builtin_clear_padding)
FAULT_TEST("what lies between the members of an argument is no pointer") {
  const device_array<float> to(1);
  std::vector<float> from_kernel(100);
  float* const begin = from_kernel.data();
  const device_array<float*> heap(1, begin);
  flagged by{};
  std::memcpy(static_cast<void*>(&by), &begin, sizeof begin);
  by.to = to.get();
  check_right(write_heap, 1, 32, by, heap.get());
  CHECK(to.values()[0] == static_cast<float>(by.flag));
}
#endif

FAULT_TEST("a vector at an address that is no multiple of its size") {
  const device_array<float> from(64);
  const device_array<float4> to(1, float4{0, 0, 0, 0});
  check_fault(cudaErrorMisalignedAddress,
              {line(vector_line), "read_vector: block (0,0,0): thread (3,0,0) ",
               "16 bytes at offset 4 of an allocation of 256 bytes, at an address that is no multiple of 16"},
              read_vector, 1, 32, 0, from.get(), 1, to.get());
  check_right(read_vector, 1, 32, from.get(), 4, to.get());
}

FAULT_TEST("an assertion") {
  lab::emulator::configure({});
  const device_array<int> values({1, 2, 3, 4});
  check_fault(
      cudaErrorAssert,
      {line(assert_line),
       "check_values: block (0,0,0): thread (2,0,0) fails the assertion `values[threadIdx.x] < limit`"},
      check_values, 1, 4, 0, values.get(), 3);
  check_right(check_values, 1, 4, values.get(), 5);
}

FAULT_TEST("more shared memory than a kernel may declare") {
  const device_array<float> to(32);
  check_right(large_tile<12 * 1024>, 1, 32, to.get());
  check_fault(cudaErrorInvalidValue,
              {"large_tile<12289>", "launch refused: it asks for 49156 bytes of __shared__ variables"},
              large_tile<12 * 1024 + 1>, 1, 32, 0, to.get());
  // What it declares and what its launch asks for share the 48 KiB.
  check_fault(cudaErrorInvalidValue, {"4 bytes of dynamic shared memory; this kernel's limit is 0"},
              large_tile<12 * 1024>, 1, 32, 4, to.get());
}

FAULT_TEST("aligned shared memory") {
  const device_array<float4> to(32, float4{0, 0, 0, 0});
  check_right(aligned_tile, 1, 32, to.get());
  CHECK(to.values()[0].w == 4);
}

FAULT_TEST("a fault beside a function that throws nothing and a handler of everything") {
  const device_array<int> values(16), to(2);
  const bool reverse = GENERATE(false, true);
  lab::emulator::configure({.reverse = reverse});
  check_fault(
      observed ? cudaErrorLaunchFailure : cudaErrorIllegalAddress,
      {"stray_beside_noexcept: block (0,0,0): thread (40,0,0) reads ", "of an allocation of 64 bytes"},
      stray_beside_noexcept, 1, 64, 0, values.get(), 1024ll, to.get());
  CHECK(to.values()[0] == 0);
  check_right(stray_beside_noexcept, 1, 64, values.get(), 15ll, to.get());
  lab::emulator::configure({});
}

FAULT_TEST("a loop that waits for another thread of its block lets it run") {
  for (const int setter : {5, 40}) {
    const device_array<int> flag(1), to(3);
    check_right(wait_within_block, 1, 64, static_cast<volatile int*>(flag.get()), to.get(), setter);
    CHECK(to.values() == std::vector<int>{7, 7, 7});
  }
  const device_array<int> lock(1), count(1);
  check_right(lock_in_turn, 1, 64, lock.get(), count.get());
  CHECK(count.values()[0] == 64);
  // Asleep while another works for a second or so, and while an earlier block does.
  const device_array<int> done(4);
  const device_array<double> worked(4);
  check_right(sleep_while_another_works, 4, 64, done.get(), worked.get(), observed ? 400'000 : 100'000'000);
  CHECK(done.values() == std::vector<int>{1, 1, 1, 1});
}

FAULT_TEST("a loop that waits for ever is named") {
  lab::emulator::configure({.threads = 1});
  const device_array<int> flag(1), count(1);
  const auto waiting = static_cast<volatile int*>(flag.get());
  check_fault(
      cudaErrorLaunchFailure,
      {line(wait_line), "wait_for_later_block: block (0,0,0): thread (0,0,0) waits in a loop for ever",
       "block (1,0,0) and those behind it start when earlier ones have ended"},
      wait_for_later_block, 41, 32, 0, waiting);
  for (const bool atomically : {false, true}) {
    check_fault(cudaErrorLaunchFailure,
                {"wait_asleep: block (0,0,0): thread (0,0,0) waits in a loop for ever",
                 "block (1,0,0) and those behind it start when earlier ones have ended"},
                wait_asleep, 41, 32, 0, flag.get(), atomically);
  }
  check_fault(
      cudaErrorLaunchFailure,
      {line(never_line), "wait_at_barrier_and_flag: block (0,0,0): thread (0,0,0) waits in a loop for ever",
       "thread (1,0,0) waits at the barrier at tests/emulator/fault_test.cpp:"},
      wait_at_barrier_and_flag, 1, 32, 0, waiting);
  check_fault(cudaErrorLaunchFailure,
              {"lock_and_keep: block (0,0,0): thread (1,0,0) waits in a loop for ever"}, lock_and_keep, 1, 2,
              0, flag.get(), count.get());
  lab::emulator::configure({});
  const device_array<int> to(1);
  check_right(count_far, 1, 1, to.get(), observed ? 20'000'000 : 500'000'000);
}
