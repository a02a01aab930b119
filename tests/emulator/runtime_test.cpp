#include <link.h>

#include <cstdlib>

#include "common/emulator/core/source_lines.hpp"
#include "tests/emulator/support.hpp"

namespace {

__global__ void trap_at_once() {
  __trap();
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  REQUIRE(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
  return value;
}

int count_modules() {
  int count = 0;
  dl_iterate_phdr([](dl_phdr_info*, std::size_t, void* seen) { return ++*static_cast<int*>(seen), 0; },
                  &count);
  return count;
}

}  // namespace

TEST_CASE("whoever looks up a line sees the executable alone, and nobody else does") {
  CHECK(count_modules() > 2);  // the C library is there
  lab::emulator::looks_up_line = true;
  const int seen = count_modules();
  lab::emulator::looks_up_line = false;
  CHECK(seen == 1);
}

TEST_CASE("there is one device") {
  lab::emulator::reset();
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlock) == 49152);
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == 232448);
  CHECK(attribute(cudaDevAttrWarpSize) == 32);
  CHECK(attribute(cudaDevAttrMaxThreadsPerBlock) == 1024);
  CHECK(attribute(cudaDevAttrMultiProcessorCount) == 4);
  const lab::emulator::options before = lab::emulator::configuration();
  lab::emulator::configure({.multiprocessors = 132});
  CHECK(attribute(cudaDevAttrMultiProcessorCount) == 132);
  lab::emulator::configure(before);
  CHECK(attribute(cudaDevAttrMultiProcessorCount) == 4);
  CHECK(attribute(cudaDevAttrComputeCapabilityMajor) == 9);
  CHECK(attribute(cudaDevAttrClockRate) == 0);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(std::string(properties.name) == "CPU emulator");
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, trap_at_once, 256, 0) == cudaSuccess);
  CHECK(value == 8);
  lab::emulator::reset();
}

TEST_CASE("streams exist from their creation to their destruction") {
  lab::emulator::reset();
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamCreateWithFlags(&stream, 77) == cudaErrorInvalidValue);
  lab::emulator::reset();
}

TEST_CASE("events are timed by the host's clock") {
  lab::emulator::reset();
  cudaEvent_t begin = nullptr, end = nullptr, untimed = nullptr;
  REQUIRE(cudaEventCreate(&begin) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventRecord(begin) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(end) == cudaSuccess);
  CHECK(cudaEventRecord(untimed) == cudaSuccess);
  CHECK(cudaEventSynchronize(end) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(nullptr, end) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
  CHECK((milliseconds >= 0 && milliseconds < 10000));
  CHECK(cudaEventElapsedTime(&milliseconds, begin, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(begin) == cudaSuccess);
  CHECK(cudaEventRecord(begin) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(end) == cudaSuccess);
  CHECK(cudaEventDestroy(untimed) == cudaSuccess);
  lab::emulator::reset();
}

TEST_CASE("a kernel's failure stays until the reset") {
  for_each_schedule();
  int* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 4) == cudaSuccess);
  CHECK(try_launch(trap_at_once, 1, 1, 0) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaPeekAtLastError() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaMemset(pointer, 0, 4) == cudaErrorLaunchFailure);
  CHECK(cudaFree(pointer) == cudaErrorLaunchFailure);  // yet it is freed
  cudaStream_t stream = reinterpret_cast<cudaStream_t>(1);
  CHECK(cudaStreamCreate(&stream) == cudaErrorLaunchFailure);
  CHECK(stream == nullptr);
  CHECK(lab::emulator::diagnostics().size() == 1);
  lab::emulator::reset();
  CHECK(lab::emulator::diagnostics().empty());
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  lab::emulator::reset();
}

TEST_CASE("errors have CUDA's names") {
  CHECK(std::string(cudaGetErrorName(cudaErrorLaunchFailure)) == "cudaErrorLaunchFailure");
  CHECK(std::string(cudaGetErrorString(cudaErrorLaunchFailure)) == "unspecified launch failure");
  CHECK(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)) == "cudaErrorMemoryAllocation");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
}

TEST_CASE("the environment sets the options") {
  setenv("LAB_EMULATOR_THREADS", "5", 1);
  setenv("LAB_EMULATOR_REVERSE", "1", 1);
  setenv("LAB_EMULATOR_MEMORY", "1234", 1);
  const lab::emulator::options options = lab::emulator::options_from_environment();
  CHECK(options.threads == 5);
  CHECK(options.reverse);
  CHECK(options.memory_bytes == 1234);
  setenv("LAB_EMULATOR_REVERSE", "0", 1);
  CHECK_FALSE(lab::emulator::options_from_environment().reverse);
  CHECK(lab::emulator::configuration_error().empty());
  for (const char* name : {"LAB_EMULATOR_THREADS", "LAB_EMULATOR_REVERSE", "LAB_EMULATOR_MEMORY"})
    unsetenv(name);
  CHECK(lab::emulator::configuration_error().empty());
  lab::emulator::configure({});
  CHECK(lab::emulator::configuration().threads >= 1);
}

TEST_CASE("a setting that is no number is told, and counts as unset") {
  const auto [name, value] = GENERATE(
      std::pair{"LAB_EMULATOR_THREADS", "many"}, std::pair{"LAB_EMULATOR_THREADS", "-1"},
      std::pair{"LAB_EMULATOR_THREADS", "4 "}, std::pair{"LAB_EMULATOR_THREADS", "1e2"},
      std::pair{"LAB_EMULATOR_THREADS", "257"}, std::pair{"LAB_EMULATOR_REVERSE", "yes"},
      std::pair{"LAB_EMULATOR_REVERSE", "2"}, std::pair{"LAB_EMULATOR_MEMORY", "1GB"},
      std::pair{"LAB_EMULATOR_MEMORY", "99999999999999999999"},
      std::pair{"LAB_EMULATOR_MULTIPROCESSORS", "0x4"}, std::pair{"LAB_EMULATOR_MULTIPROCESSORS", " 4"},
      std::pair{"LAB_EMULATOR_MULTIPROCESSORS", "2147483648"}, std::pair{"LAB_EMULATOR_DEVICES", "17"},
      std::pair{"LAB_EMULATOR_DEVICES", "two"});
  setenv(name, value, 1);
  const std::string complaint = lab::emulator::configuration_error();
  const lab::emulator::options options = lab::emulator::options_from_environment();
  unsetenv(name);
  CHECK(complaint.find(std::string(name) + "=" + value + " is no whole number from 0 to ") == 0);
  CHECK(options.threads == 0);
  CHECK_FALSE(options.reverse);
  CHECK(options.memory_bytes == 0);
  CHECK(options.multiprocessors == 0);
  CHECK(options.devices == 0);
}
