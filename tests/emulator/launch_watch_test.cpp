#include "common/emulator/core/launch_watch.hpp"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/emulator/support.hpp"

namespace {

__global__ void add_one(double* values, int n) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index < n) values[index] += 1;
}

__global__ void sum_first(const volatile double* values, long long n, double* sum) {
  if (threadIdx.x == 0) {
    for (long long k = 0; k < n; ++k) *sum += values[k];
  }
}

__global__ void read_from(const volatile double* values, long long offset, double* found) {
  if (threadIdx.x == 1) *found = values[offset];
}

__global__ void flush_denormals() {
  std::fesetround(FE_UPWARD);
}

__global__ void round_up_and_wait() {
  if (threadIdx.x == 5) std::fesetround(FE_UPWARD);
  __syncthreads();
}

__global__ void third(double* out) {
  const volatile double three = 3;
  *out = 1 / three;
}

__constant__ double factor = 1;

// The stream of a launch, an array between two guard zones as the harness has them, and another array.
struct launch_under_test {
  static constexpr std::size_t guard_bytes = 16 * 1024;

  explicit launch_under_test(std::size_t size_of_array = 100) : size(size_of_array) {
    lab::emulator::reset();
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&other_stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaMalloc(&whole, size * sizeof(double) + 2 * guard_bytes));
    CUDA_CHECK(cudaMemset(whole, 0, size * sizeof(double) + 2 * guard_bytes));
    values = reinterpret_cast<double*>(whole + guard_bytes);
    lab::emulator::narrow_allocation(values, size * sizeof(double));
    CUDA_CHECK(cudaMalloc(&result, sizeof(double)));
    CUDA_CHECK(cudaMemset(result, 0, sizeof(double)));
  }
  launch_under_test(const launch_under_test&) = delete;
  launch_under_test& operator=(const launch_under_test&) = delete;
  ~launch_under_test() {
    cudaFree(whole);
    cudaFree(result);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other_stream);
    lab::emulator::reset();
  }

  template <class... Parameters, class... Arguments>
  cudaError_t run_on(cudaStream_t where, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                     Arguments... arguments) const {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.stream = where;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  }
  cudaError_t add(cudaStream_t where) const {
    return run_on(where, add_one, static_cast<unsigned>(size + 31) / 32, 32, values, static_cast<int>(size));
  }
  double value(std::size_t index) const {
    double copy = 0;
    CUDA_CHECK(cudaMemcpy(&copy, values + index, sizeof copy, cudaMemcpyDeviceToHost));
    return copy;
  }

  std::size_t size;
  cudaStream_t stream = nullptr, other_stream = nullptr;
  unsigned char* whole = nullptr;
  double* values = nullptr;
  double* result = nullptr;
};

using texts = std::vector<std::string>;

texts violations_of(const launch_under_test& test, const std::function<void()>& launch,
                    lab::emulator::launch_rules rules = {}) {
  lab::emulator::launch_watch watch(test.stream, rules);
  launch();
  return watch.violations();
}

texts violations_within(const launch_under_test& test,
                        const std::function<void(const lab::emulator::launch_watch&)>& launch) {
  lab::emulator::launch_watch watch(test.stream, {});
  launch(watch);
  return watch.violations();
}

// One violation, which begins so.
void require_violation(const texts& found, const std::string& beginning) {
  for (const std::string& text : found) UNSCOPED_INFO(text);
  UNSCOPED_INFO("wanted: " << beginning);
  REQUIRE(found.size() == 1);
  CHECK(found.front().substr(0, beginning.size()) == beginning);
}

}  // namespace

TEST_CASE("a launch that only enqueues work on its stream violates nothing") {
  const launch_under_test test;
  const texts found = violations_of(test, [&] {
    int device = 0, count = 0;
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) == cudaSuccess);
    CHECK(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 100) == cudaSuccess);
    CHECK(cudaMemsetAsync(test.values, 0, 800, test.stream) == cudaSuccess);
    CHECK(test.add(test.stream) == cudaSuccess);
    CHECK(test.add(test.stream) == cudaSuccess);
    CHECK(cudaMemcpyAsync(test.values, test.values + 50, 400, cudaMemcpyDeviceToDevice, test.stream) ==
          cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
  });
  CHECK(found == texts{});
  CHECK(test.value(0) == 2);
  CHECK(test.value(99) == 2);
}

TEST_CASE("work on another stream is a violation") {
  const launch_under_test test;
  double* const values = test.values;
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  for (const auto& [stream, name] :
       {std::pair{cudaStream_t{}, "the default stream"}, std::pair{test.other_stream, "another stream"}}) {
    const auto require = [&](const char* function, const std::function<void()>& launch) {
      require_violation(violations_of(test, launch), std::string(function) + " on " + name + "; ");
    };
    require("a kernel", [&, on = stream] { test.add(on); });
    require("cudaMemsetAsync", [&, on = stream] { cudaMemsetAsync(values, 0, 8, on); });
    require("cudaMemcpyAsync",
            [&, on = stream] { cudaMemcpyAsync(values, values + 1, 8, cudaMemcpyDeviceToDevice, on); });
    require("cudaMemcpy2DAsync",
            [&, on = stream] { cudaMemcpy2DAsync(values, 8, values + 1, 8, 8, 1, cudaMemcpyDefault, on); });
    require("cudaEventRecord", [&, on = stream] { cudaEventRecord(event, on); });
    require("cudaStreamWaitEvent", [&, on = stream] { cudaStreamWaitEvent(on, event); });
  }
  require_violation(violations_of(test, [&] { cudaMemset(values, 0, 8); }),
                    "cudaMemset on the default stream");
  CHECK(violations_of(test, [&] { cudaEventRecord(event, test.stream); }) == texts{});
  // With the right to wait, a copy on the device is still on the default stream.
  require_violation(violations_of(test, [&] { cudaMemcpy(values, values + 1, 8, cudaMemcpyDeviceToDevice); },
                                  {.may_synchronise = true}),
                    "cudaMemcpy on the default stream");
  CUDA_CHECK(cudaEventDestroy(event));
}

TEST_CASE("allocating in a launch is a violation unless it may") {
  const launch_under_test test;
  void* memory = nullptr;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"cudaMalloc", [&] { cudaMalloc(&memory, 100); }},
      {"cudaFree", [&] { cudaFree(memory); }},
      {"cudaMallocAsync", [&] { cudaMallocAsync(&memory, 100, test.stream); }},
      {"cudaFreeAsync", [&] { cudaFreeAsync(memory, test.stream); }},
      {"cudaMallocHost", [&] { cudaMallocHost(&memory, 100); }},
      {"cudaFreeHost", [&] { cudaFreeHost(memory); }},
  };
  for (const auto& [name, call] : calls)
    require_violation(violations_of(test, call), std::string(name) + " in a launch, ");
  for (const auto& [name, call] : calls) CHECK(violations_of(test, call, {.may_allocate = true}) == texts{});
  const texts on_default =
      violations_of(test, [&] { cudaMallocAsync(&memory, 100, nullptr); }, {.may_allocate = true});
  require_violation(on_default, "cudaMallocAsync on the default stream");
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("memory that a launch allocates is usable in it") {
  const launch_under_test test;
  double* memory = nullptr;
  const texts found =
      violations_of(test,
                    [&] {
                      CHECK(cudaMallocAsync(&memory, 800, test.stream) == cudaSuccess);
                      CHECK(cudaMemsetAsync(memory, 0, 800, test.stream) == cudaSuccess);
                      CHECK(test.run_on(test.stream, add_one, 4, 32, memory, 100) == cudaSuccess);
                      CHECK(cudaFreeAsync(memory, test.stream) == cudaSuccess);
                    },
                    {.may_allocate = true});
  CHECK(found == texts{});
}

TEST_CASE("waiting in a launch, and copying between host and device, is a violation unless it may") {
  const launch_under_test test;
  double host = 0;
  double* const device = test.values;
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"cudaDeviceSynchronize in", [&] { cudaDeviceSynchronize(); }},
      {"cudaStreamSynchronize in", [&] { cudaStreamSynchronize(test.stream); }},
      {"cudaStreamQuery in", [&] { cudaStreamQuery(test.stream); }},
      {"cudaMemcpyAsync between",
       [&] { cudaMemcpyAsync(&host, device, 8, cudaMemcpyDeviceToHost, test.stream); }},
      {"cudaMemcpyAsync between", [&] { cudaMemcpyAsync(device, &host, 8, cudaMemcpyDefault, test.stream); }},
      {"cudaMemcpyToSymbolAsync between",
       [&] { cudaMemcpyToSymbolAsync(factor, &host, 8, 0, cudaMemcpyHostToDevice, test.stream); }},
  };
  for (const auto& [beginning, call] : calls) require_violation(violations_of(test, call), beginning);
  for (const auto& [beginning, call] : calls)
    CHECK(violations_of(test, call, {.may_synchronise = true}) == texts{});
  // Both at once.
  for (const std::function<void()>& call : {
           std::function<void()>([&] { cudaMemcpy(&host, device, 8, cudaMemcpyDeviceToHost); }),
           std::function<void()>([&] { cudaMemcpy(device, &host, 8, cudaMemcpyDefault); }),
           std::function<void()>([&] { cudaMemcpyToSymbol(factor, &host, 8); }),
           std::function<void()>([&] { cudaMemcpyFromSymbol(&host, factor, 8); }),
       }) {
    CHECK(violations_of(test, call).size() == 2);
    CHECK(violations_of(test, call, {.may_synchronise = true}) == texts{});
  }
}

TEST_CASE("a launch makes no streams and events, and leaves the device alone") {
  const launch_under_test test;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  const lab::emulator::launch_rules all{.may_allocate = true, .may_synchronise = true};
  require_violation(violations_of(
                        test, [&] { cudaStreamCreate(&stream); }, all),
                    "creating a stream");
  require_violation(violations_of(
                        test, [&] { cudaEventCreate(&event); }, all),
                    "creating an event");
  require_violation(violations_of(
                        test, [&] { cudaStreamDestroy(stream); }, all),
                    "cudaStreamDestroy");
  require_violation(violations_of(
                        test, [&] { cudaEventDestroy(event); }, all),
                    "cudaEventDestroy");
  require_violation(violations_of(
                        test, [&] { cudaSetDevice(0); }, all),
                    "cudaSetDevice");
}

TEST_CASE("host code that touches device memory is a violation") {
  const launch_under_test test;
  double* const device = test.values;
  const auto touches = [&](const char* verb, const std::function<void()>& code) {
    require_violation(violations_of(test, code, {.may_allocate = true, .may_synchronise = true}),
                      std::string("host code of the launch ") + verb + " device memory itself, at offset ");
  };
  volatile double sink = 0;
  touches("reads", [&] { sink = *device; });
  touches("writes", [&] { *static_cast<volatile double*>(device) = 7; });
  CHECK(test.value(0) == 7);
  touches("reads", [&] {
    std::vector<double> copy(test.size);
    std::memcpy(copy.data(), device, test.size * sizeof(double));
    sink = copy[0];
  });
  touches("writes", [&] { std::fill_n(device, test.size, 3.0); });
  CHECK(test.value(99) == 3);
  touches("reads", [&] {
    for (std::size_t k = 0; k < test.size; ++k) device[k] *= 2;
  });
  touches("reads", [&] {
    std::thread helper([&] { sink = device[5]; });
    helper.join();
  });
  // Before, between and behind kernels alike.
  touches("reads", [&] {
    test.add(test.stream);
    sink = *device;
  });
  // Outside of the launch the emulator itself may, as before.
  sink = *device;
}

TEST_CASE("two arrays that host code touches are two violations") {
  const launch_under_test test;
  const texts found = violations_of(test, [&] {
    for (std::size_t k = 0; k < test.size; ++k) *test.result += test.values[k];
  });
  CHECK(found.size() == 2);
}

TEST_CASE("a rounding mode that a launch leaves is a violation, and put back") {
  const launch_under_test test;
  require_violation(violations_of(test, [] { std::fesetround(FE_UPWARD); }),
                    "the launch left another rounding");
  CHECK(std::fegetround() == FE_TONEAREST);
#if defined(__x86_64__)
  require_violation(violations_of(test, [] { __builtin_ia32_ldmxcsr(0x1f80 | 0x8040); }),
                    "the launch left another rounding");
  CHECK((__builtin_ia32_stmxcsr() & 0x8040) == 0);
#endif
  // Put back by the launch itself, it disturbs nobody; neither does an exception flag.
  CHECK(violations_of(test, [] {
          std::fesetround(FE_UPWARD);
          std::fesetround(FE_TONEAREST);
          volatile double none = 0;
          none = none / none;
        }) == texts{});
}

TEST_CASE("kernels round to nearest, whatever the launch function has set") {
  const launch_under_test test;
  std::fesetround(FE_UPWARD);
  CHECK(test.run_on(test.stream, third, 1, 1, test.values) == cudaSuccess);
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  CHECK(test.value(0) == 1.0 / 3.0);
}

TEST_CASE("a kernel that changes the rounding mode fails, and the next one does not notice") {
  for_each_schedule();
  CHECK(try_launch(flush_denormals, 4, 64, 0) == cudaErrorLaunchFailure);
  const texts said = lab::emulator::take_diagnostics();
  REQUIRE(said.size() == 1);
  CHECK(said.front().find("flush_denormals: block (0,0,0): ") != std::string::npos);
  CHECK(said.front().find("changes how the CPU rounds") != std::string::npos);
  lab::emulator::reset();
  CHECK(std::fegetround() == FE_TONEAREST);
  const device_array<double> out(64);
  run(third, 16, 64, out.get());
  CHECK(out.values()[0] == 1.0 / 3.0);
}

TEST_CASE("a thread that waits with another rounding mode fails before the others run") {
  for_each_schedule();
  CHECK(try_launch(round_up_and_wait, 1, 64, 0) == cudaErrorLaunchFailure);
  const texts said = lab::emulator::take_diagnostics();
  REQUIRE(said.size() == 1);
  INFO(said.front());
  // Lanes follow one another without a look in between where stacks of earlier launches are there for them.
  CHECK(said.front().find("round_up_and_wait: block (0,0,0): thread (") != std::string::npos);
  CHECK(said.front().find(" or one before it changes how the CPU rounds") != std::string::npos);
  lab::emulator::reset();
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("a host thread that a launch leaves running is a violation") {
  const launch_under_test test;
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::thread left;
  require_violation(violations_of(test,
                                  [&] {
                                    left = std::thread([&] {
                                      std::unique_lock lock(mutex);
                                      changed.wait(lock, [&] { return stop; });
                                    });
                                  }),
                    "the launch left 1 host thread running");
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  changed.notify_all();
  left.join();
  CHECK(violations_of(test, [] { std::thread([] {}).join(); }) == texts{});
}

TEST_CASE("the emulator's own threads are no violation") {
  const launch_under_test test(10000);
  lab::emulator::configure({.threads = 7});  // more than any test before has asked for
  CHECK(violations_of(test, [&] { CHECK(test.add(test.stream) == cudaSuccess); }) == texts{});
  lab::emulator::configure({});
}

TEST_CASE("in a watched launch a kernel that leaves its array fails") {
  // 32 doubles fill the alignment; 100 leave 224 bytes of it.
  const auto [size, offset, fails] =
      GENERATE(std::tuple{32, 32ll, true}, std::tuple{32, 31ll, false}, std::tuple{100, 99ll, false},
               std::tuple{100, 128ll, true}, std::tuple{100, 1000ll, true}, std::tuple{512, -1ll, true},
               std::tuple{512, 512ll, true}, std::tuple{512, -2048ll, true}, std::tuple{512, 0ll, false});
  const launch_under_test test(static_cast<std::size_t>(size));
  CAPTURE(size, offset);
  const bool reverse = GENERATE(false, true);
  lab::emulator::configure({.reverse = reverse});
  lab::emulator::launch_watch watch(test.stream, {});
  const cudaError_t error = test.run_on(test.stream, read_from, 3, 64, test.values, offset, test.result);
  CHECK(watch.violations() == texts{});
  const texts said = lab::emulator::take_diagnostics();
  lab::emulator::configure({});
  if (fails) {
    CHECK(error == cudaErrorIllegalAddress);
    REQUIRE(said.size() == 1);
    CHECK(said.front().find("read_from: block (0,0,0): thread (1,0,0) reads at offset " +
                            std::to_string(8 * offset) + " of an allocation of " + std::to_string(8 * size) +
                            " bytes") != std::string::npos);
  } else {
    CHECK(error == cudaSuccess);
    CHECK(said == texts{});
  }
  lab::emulator::reset();
  // The harness may look at its guard zones again.
  unsigned char byte = 1;
  CHECK(cudaMemcpy(&byte, test.whole, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(byte == 0);
}

TEST_CASE("what the harness does within a launch is not the launch's") {
  const launch_under_test test;
  unsigned char byte = 1;
  const texts found = violations_within(test, [&](const auto& watch) {
    {
      const lab::emulator::unwatched harness(watch);
      CHECK(cudaMemcpy(&byte, test.whole, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
      CHECK(cudaStreamSynchronize(test.stream) == cudaSuccess);
    }
    CHECK(test.add(test.stream) == cudaSuccess);
    CHECK(cudaMemcpyAsync(test.values, test.whole, 8, cudaMemcpyDeviceToDevice, test.stream) ==
          cudaErrorInvalidValue);
  });
  CHECK(found == texts{});
  CHECK(byte == 0);
  CHECK(lab::emulator::take_diagnostics() == texts{"cudaMemcpyAsync: the source lies in no allocation"});
  require_violation(violations_within(test,
                                      [&](const auto& watch) {
                                        { const lab::emulator::unwatched harness(watch); }
                                        *static_cast<volatile double*>(test.values) = 1;
                                      }),
                    "host code of the launch writes");
}

TEST_CASE("a watch ends once, also when the launch throws") {
  const launch_under_test test;
  try {
    lab::emulator::launch_watch watch(test.stream, {});
    CHECK_THROWS_AS(lab::emulator::launch_watch(test.stream, {}), std::logic_error);
    throw 1;
  } catch (int) {
  }
  lab::emulator::launch_watch watch(test.stream, {});
  cudaDeviceSynchronize();
  CHECK(watch.violations().size() == 1);
  CHECK(watch.violations().size() == 1);
  cudaStreamSynchronize(test.stream);
  CHECK(watch.violations().size() == 1);
  CHECK(test.value(0) == 0);
}

TEST_CASE("a watch is cheap", "[.time]") {
  const launch_under_test test(1000000);
  CUDA_CHECK(cudaMemset(test.values, 0, 8000000));
  constexpr int repetitions = 100;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < repetitions; ++k) {
    lab::emulator::launch_watch watch(test.stream, {});
    CUDA_CHECK(cudaMemsetAsync(test.result, 0, 8, test.stream));
    watch.violations();
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  WARN("a watch of a million values takes " << time.count() / repetitions << " us");
}
