#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <numeric>
#include <thread>

#include "common/emulator/core/observer.hpp"
#include "tests/emulator/support.hpp"

namespace {

__global__ void write_position(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned position = block * blockDim.x * blockDim.y * blockDim.z + thread;
  out[position] = position + 1;
}

struct settings {
  double scale;
  int offset;
};

__global__ void use_arguments(float4 vector, settings by_value, const int* __restrict__ in, double* out,
                              char letter) {
  out[0] = vector.x + vector.y + vector.z + vector.w + by_value.scale * by_value.offset + in[0] + letter;
}

__global__ void __launch_bounds__(64) fill_dynamic_shared(unsigned char* first_byte, int bytes) {
  auto* const shared = lab::dynamic_shared<unsigned char>();
  if (threadIdx.x == 0) *first_byte = shared[0];
  for (int position = static_cast<int>(threadIdx.x); position < bytes;
       position += static_cast<int>(blockDim.x)) {
    shared[position] = 1;
  }
}

__global__ void do_nothing() {}

__device__ int device_variable = 0;
__constant__ float constant_variable[4];

__global__ void read_symbols(float* out) {
  out[threadIdx.x] = constant_variable[threadIdx.x] + device_variable;
}

__global__ void launch_another() {
  (void)try_launch(do_nothing, 1, 1, 0);
}

__global__ void spin_for_next_block(volatile int* flags) {
  flags[blockIdx.x] = 1;
  while (blockIdx.x == 0 && flags[1] == 0) {
  }
}

__global__ void take_turns(int* turn, int turns) {
  for (int k = 0; k < turns; ++k) {
    while (static_cast<unsigned>(atomicAdd(turn, 0)) % blockDim.x != threadIdx.x) {
    }
    atomicAdd(turn, 1);
  }
}

__global__ void scan_by_look_back(volatile int* sums) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while ((before = sums[blockIdx.x - 1]) == 0) {
    }
  }
  __threadfence();
  sums[blockIdx.x] = before + 1;
}

// Block 0 fails when block 1 is there; where blocks run one by one it cannot wait for that.
__global__ void spin_behind_a_failed_block(int* flag, int* arrived, bool side_by_side, bool with_fence) {
  volatile int* const watched = flag;
  volatile int* const other_block = arrived;
  if (blockIdx.x == 0) {
    while (side_by_side && *other_block == 0) {
    }
    __trap();
  }
  *other_block = 1;
  while ((with_fence ? *watched : atomicAdd(flag, 0)) == 0) {
    if (with_fence) __threadfence();
  }
}

__global__ void note_order(int* count, int* order) {
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
  order[atomicAdd(count, 1)] = static_cast<int>(thread);
}

constexpr int both_fail_line = __LINE__ + 10;
__global__ void fail_in_two_blocks(volatile int* arrived) {
  if (blockIdx.x == 0) {
    while (arrived[1] == 0) {
    }
    // Long enough for the other block to have failed.
    for (int turn = 0; turn < 10000000; ++turn) arrived[0] = turn;
  } else {
    arrived[1] = 1;
  }
  __trap();
}

}  // namespace

TEST_CASE("each thread of a 1-, 2- and 3-dimensional launch runs once, with its own indices") {
  for_each_schedule();
  const auto [grid, block] =
      GENERATE(std::pair{dim3(7), dim3(33)}, std::pair{dim3(3, 2), dim3(16, 5)},
               std::pair{dim3(2, 3, 4), dim3(4, 3, 5)}, std::pair{dim3(1), dim3(1024)});
  const unsigned threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  const device_array<unsigned> out(threads);
  run(write_position, grid, block, out.get());
  std::vector<unsigned> expected(threads);
  std::iota(expected.begin(), expected.end(), 1u);
  CHECK(out.values() == expected);
}

TEST_CASE("arguments arrive with the types of the kernel's parameters") {
  for_each_schedule();
  const device_array<int> in(1, 100);
  const device_array<double> out(1);
  // The offset 3 comes as an int among the settings, the letter as an int to be converted.
  lab::launch(use_arguments, dim3(1), dim3(1), 0, nullptr, make_float4(1, 2, 3, 4), settings{0.5, 3},
              in.get(), out.get(), 65);
  CHECK(out.values() == std::vector<double>{10 + 1.5 + 100 + 65});
}

TEST_CASE("impossible launches are refused the way CUDA refuses them") {
  for_each_schedule();
  using refused_launch = std::tuple<dim3, dim3, std::size_t, cudaError_t, std::string>;
  const std::string block_limit = " threads; from 1 to 1024 are possible, 64 in z";
  const std::string grid_limit = " blocks; from 1 to (2147483647,65535,65535) are possible";
  const auto [grid, block, bytes, error, reason] = GENERATE_COPY(
      refused_launch{dim3(1), dim3(1025), 0, cudaErrorInvalidConfiguration,
                     "a block of (1025,1,1)" + block_limit},
      refused_launch{dim3(1), dim3(0), 0, cudaErrorInvalidConfiguration, "a block of (0,1,1)" + block_limit},
      refused_launch{dim3(1), dim3(32, 33), 0, cudaErrorInvalidConfiguration,
                     "a block of (32,33,1)" + block_limit},
      refused_launch{dim3(1), dim3(1, 1, 65), 0, cudaErrorInvalidConfiguration,
                     "a block of (1,1,65)" + block_limit},
      refused_launch{dim3(0), dim3(1), 0, cudaErrorInvalidConfiguration, "a grid of (0,1,1)" + grid_limit},
      refused_launch{dim3(1, 65536), dim3(1), 0, cudaErrorInvalidConfiguration,
                     "a grid of (1,65536,1)" + grid_limit},
      refused_launch{dim3(1), dim3(1), 49153, cudaErrorInvalidValue,
                     "49153 bytes of dynamic shared memory; this kernel's limit is 49152"});
  CHECK(try_launch(do_nothing, grid, block, bytes) == error);
  CHECK(lab::emulator::take_diagnostics() ==
        std::vector<std::string>{"(anonymous namespace)::do_nothing: launch refused: it asks for " + reason});
  CHECK(cudaGetLastError() == error);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(try_launch(do_nothing, 1, 1, 0) == cudaSuccess);
}

TEST_CASE("dynamic shared memory above 48 KiB must be asked for, up to 227 KiB") {
  for_each_schedule();
  const device_array<unsigned char> first_byte(1);
  constexpr int most = 227 * 1024;
  const auto kernel = reinterpret_cast<const void*>(fill_dynamic_shared);
  REQUIRE(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 0) == cudaSuccess);
  CHECK(try_launch(fill_dynamic_shared, 1, 64, 48 * 1024, first_byte.get(), 48 * 1024) == cudaSuccess);
  CHECK(try_launch(fill_dynamic_shared, 1, 64, most, first_byte.get(), most) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) ==
        cudaErrorInvalidValue);
  lab::emulator::reset();
  CHECK_NOTHROW(lab::launch(fill_dynamic_shared, dim3(2), dim3(64), most, nullptr, first_byte.get(), most));
  CHECK(first_byte.values()[0] > 1);  // neither the zeros, nor the ones, that a block before may have left
}

template <class T>
__global__ void count_in_shared(T* found) {
  __shared__ T counters[32];
  found[blockIdx.x * 32 + threadIdx.x] = counters[threadIdx.x]++;
}

template <class T>
void require_garbage_in_shared() {
  const device_array<T> out(64);
  std::vector<T> firsts;
  for (int launch = 0; launch < 3; ++launch) {
    run(count_in_shared<T>, 2, 32, out.get());
    const std::vector<T> found = out.values();
    // Each block and thread finds the same, which is neither zero nor what the block before has left.
    for (const T& value : found) CHECK(std::memcmp(&value, &found[0], sizeof(T)) == 0);
    CHECK(found[0] != T{0});
    firsts.push_back(found[0]);
  }
  CHECK(std::memcmp(&firsts[0], &firsts[1], sizeof(T)) != 0);
  CHECK(std::memcmp(&firsts[1], &firsts[2], sizeof(T)) != 0);
}

TEST_CASE("a block finds garbage in static shared memory, another in each launch") {
  for_each_schedule();
  require_garbage_in_shared<int>();
  require_garbage_in_shared<double>();
}

TEST_CASE("a write past the dynamic shared memory fails the launch") {
  for_each_schedule();
  const device_array<unsigned char> first_byte(1);
  CHECK(try_launch(fill_dynamic_shared, 3, 64, 100, first_byte.get(), 103) == cudaErrorLaunchFailure);
  CHECK(lab::emulator::take_diagnostics() ==
        std::vector<std::string>{
            "(anonymous namespace)::fill_dynamic_shared: block (0,0,0): wrote at offset 100 of "
            "its 100 bytes of dynamic shared memory"});
  lab::emulator::reset();
}

TEST_CASE("__device__ and __constant__ variables are copied to by name") {
  for_each_schedule();
  const std::vector<float> constants{1, 2, 3, 4};
  const int added = 10;
  CHECK(cudaMemcpyToSymbol(constant_variable, constants.data(), 4 * sizeof(float)) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(device_variable, &added, sizeof added) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(constant_variable, constants.data(), 4 * sizeof(float), 4) ==
        cudaErrorInvalidValue);
  const device_array<float> out(4);
  run(read_symbols, 1, 4, out.get());
  CHECK(out.values() == std::vector<float>{11, 12, 13, 14});

  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, device_variable) == cudaSuccess);
  CHECK(cudaMemset(address, 0, sizeof(int)) == cudaSuccess);
  int read_back = -1;
  CHECK(cudaMemcpyFromSymbol(&read_back, device_variable, sizeof read_back) == cudaSuccess);
  CHECK(read_back == 0);
}

TEST_CASE("a kernel cannot launch a kernel") {
  for_each_schedule();
  CHECK(try_launch(launch_another, 1, 1, 0) == cudaSuccess);
  CHECK(lab::emulator::take_diagnostics() ==
        std::vector<std::string>{
            "(anonymous namespace)::do_nothing: launch refused: launched from within a kernel"});
}

TEST_CASE("a launch that carries an unknown attribute, or names no stream, is refused") {
  for_each_schedule();
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  cudaLaunchAttribute attribute{};
  attribute.id = static_cast<cudaLaunchAttributeID>(2);  // a cooperative launch
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, do_nothing) == cudaErrorNotSupported);
  config.numAttrs = 0;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, do_nothing) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, do_nothing) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("a block may wait for an earlier block") {
  for_each_schedule();
  const device_array<int> sums(100);
  run(scan_by_look_back, 100, 64, sums.get());
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 1);
  CHECK(sums.values() == expected);
}

TEST_CASE("three OS threads run three blocks at once") {
  lab::emulator::configure({.threads = 3});
  lab::emulator::reset();
  const device_array<int> flags(2);
  run(spin_for_next_block, 2, 1, flags.get());  // would never end on one OS thread
  CHECK(flags.values() == std::vector<int>{1, 1});
}

TEST_CASE("threads of a block that wait for one another by atomic functions lose little time") {
  for_each_schedule();
  const device_array<int> turn(1);
  const std::clock_t begin = std::clock();
  run(take_turns, 1, 33, turn.get(), 300);
  CHECK(turn.values() == std::vector<int>{33 * 300});
  CHECK(std::clock() - begin < 5 * CLOCKS_PER_SEC);  // 9900 times a tick of 2 ms would be 20 s
}

TEST_CASE("a block that waits for a failed block gives up") {
  for_each_schedule();
  const bool with_fence = GENERATE(false, true);
  const bool side_by_side = lab::emulator::configuration().threads > 1;
  const device_array<int> flag(1), arrived(1);
  CHECK(try_launch(spin_behind_a_failed_block, 5, 2, 0, flag.get(), arrived.get(), side_by_side,
                   with_fence) == cudaErrorLaunchFailure);
  CHECK(lab::emulator::take_diagnostics().size() == 1);
  lab::emulator::reset();
}

TEST_CASE("threads run first to last, or last to first") {
  for_each_schedule();
  const device_array<int> count(1), order(96);
  run(note_order, 1, dim3(8, 12), count.get(), order.get());
  std::vector<int> expected(96);
  std::iota(expected.begin(), expected.end(), 0);
  if (lab::emulator::configuration().reverse) std::reverse(expected.begin(), expected.end());
  CHECK(order.values() == expected);
}

TEST_CASE("of several blocks that fail, the first one's diagnostic is given") {
  lab::emulator::configure({.threads = 3});
  lab::emulator::reset();
  const device_array<int> arrived(2);
  require_failure(at(__FILE__, both_fail_line) + ": block (0,0,0): thread (0,0,0) calls __trap()",
                  fail_in_two_blocks, 2, 1, arrived.get());
}

namespace {

__global__ void meet_and_count(int* count) {
  __syncthreads();
  __syncwarp();
  atomicAdd(count, 1);
}

class recorder : public lab::emulator::observer {
 public:
  recorder() { lab::emulator::active_observer = this; }
  ~recorder() override { lab::emulator::active_observer = nullptr; }
  void begin_launch(const lab::emulator::kernel_call&, dim3 grid, dim3 block, std::size_t) override {
    note("launch " + std::to_string(grid.x) + " " + std::to_string(block.x));
  }
  std::optional<std::string> end_launch() override {
    note("end");
    return std::nullopt;
  }
  void begin_block(uint3 block) override {
    note("block " + std::to_string(block.x));
    // Another OS thread would have the time to take the next block.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::optional<std::string> end_block(bool) override {
    note("end block");
    return std::nullopt;
  }
  void leave_thread() override {}
  void enter_thread() override {}
  void barrier_without_all(const std::string&) override {}
  void make_room(unsigned) override {}
  void fence_passed() override {}
  void barrier_passed() override { note("barrier"); }
  void collective_passed(unsigned warp, unsigned lanes, bool) override {
    note("collective " + std::to_string(warp) + " " + std::to_string(lanes));
  }
  void leave_warp(unsigned warp) override { note("leave " + std::to_string(warp)); }
  void atomic_access(const void*, unsigned bytes, const void*, bool) override {
    const auto address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto& thread = lab::emulator::current_thread;
    const bool on_stack = address >= thread.stack_begin && address < thread.stack_end;
    note("atomic " + std::to_string(thread.number) + " " + std::to_string(bytes) +
         (on_stack ? "" : " elsewhere"));
  }
  std::vector<std::string> events;

 private:
  void note(const std::string& text) { events.push_back(text); }
};

}  // namespace

TEST_CASE("an observer is told what threads do, in order") {
  lab::emulator::configure({.threads = 3});
  lab::emulator::reset();
  const device_array<int> count(1);
  recorder recorder;
  run(meet_and_count, 3, 34, count.get());
  std::vector<std::string> expected{"launch 3 34"};
  for (int block = 0; block < 3; ++block) {
    expected.insert(expected.end(), {"block " + std::to_string(block), "leave 0", "leave 1", "barrier",
                                     "collective 0 4294967295"});
    for (int thread = 0; thread < 32; ++thread) expected.push_back("atomic " + std::to_string(thread) + " 4");
    expected.insert(expected.end(),
                    {"leave 0", "collective 1 3", "atomic 32 4", "atomic 33 4", "leave 1", "end block"});
  }
  expected.push_back("end");
  CHECK(recorder.events == expected);
}
