#include <unistd.h>

#include <array>
#include <cstdio>

#include "tests/emulator/support.hpp"

namespace {

__global__ void write_at(unsigned char* bytes, long long offset) {
  bytes[offset] = 0;
}

__global__ void read_at(const volatile unsigned char* bytes, unsigned char* out) {
  out[0] = bytes[0];
}

// What one test case of this program prints in a process of its own.
std::string output_of_test_case(const std::string& tag) {
  std::array<char, 4096> program{};
  REQUIRE(readlink("/proc/self/exe", program.data(), program.size() - 1) > 0);
  const std::string command =
      std::string("'").append(program.data()).append("' '").append(tag).append("' 2>&1");
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  for (int character = std::fgetc(pipe); character != EOF; character = std::fgetc(pipe)) {
    output += static_cast<char>(character);
  }
  pclose(pipe);
  return output;
}

void require_complaint(cudaError_t result, const std::string& diagnostic) {
  CHECK(result == cudaErrorInvalidValue);
  CHECK(lab::emulator::take_diagnostics() == std::vector<std::string>{diagnostic});
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

}  // namespace

TEST_CASE("fresh device memory is aligned and does not look like zeros") {
  lab::emulator::reset();
  unsigned char* bytes = nullptr;
  REQUIRE(cudaMalloc(&bytes, 1000) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(bytes) % 256 == 0);
  std::vector<unsigned char> values(1000);
  REQUIRE(cudaMemcpy(values.data(), bytes, 1000, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(values == std::vector<unsigned char>(1000, 0xcd));
  CHECK(cudaFree(bytes) == cudaSuccess);
}

TEST_CASE("a write just outside an allocation fails the launch") {
  for_each_schedule();
  const device_array<unsigned char> neighbour(100), bytes(1000);
  const auto [offset, where] = GENERATE(std::pair{1000ll, "1000"}, std::pair{1023ll, "1023"},
                                        std::pair{-1ll, "-1"}, std::pair{-256ll, "-256"});
  require_failure("(anonymous namespace)::write_at: wrote at offset " + std::string(where) +
                      " of an allocation of 1000 bytes",
                  write_at, 1, 1, bytes.get(), offset);
  // The damage is mended: the next kernel is not blamed for it.
  run(write_at, 1, 1, bytes.get(), 999);
}

// The launch must fail, and what is said about it ends so.
template <class... Parameters, class... Arguments>
void require_fault(const std::string& kernel_and_thread, const std::string& what,
                   void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  CHECK(try_launch(kernel, grid, block, 0, arguments...) == cudaErrorIllegalAddress);
  const std::vector<std::string> said = lab::emulator::take_diagnostics();
  REQUIRE(said.size() == 1);
  INFO(said.front());
  CHECK(said.front().find(kernel_and_thread + " " + what) != std::string::npos);
  lab::emulator::reset();
}

TEST_CASE("an access beyond the alignment of an allocation's end fails the launch") {
  for_each_schedule();
  const device_array<unsigned char> bytes(1000), full(4096), out(1);
  const std::string thread = ": block (0,0,0): thread (0,0,0)";
  require_fault("write_at" + thread, "writes at offset 1024 of an allocation of 1000 bytes", write_at, 1, 1,
                bytes.get(), 1024);
  require_fault("read_at" + thread, "reads at offset 2000 of an allocation of 1000 bytes", read_at, 1, 1,
                bytes.get() + 2000, out.get());
  require_fault("read_at" + thread, "reads at offset 4096 of an allocation of 4096 bytes", read_at, 1, 1,
                full.get() + 4096, out.get());
  require_fault("read_at" + thread, "reads at offset -1 of an allocation of 4096 bytes", read_at, 1, 1,
                full.get() - 1, out.get());
  run(read_at, 1, 1, full.get() + 4095, out.get());
}

TEST_CASE("a kernel that reads freed memory, or none, fails its launch") {
  for_each_schedule();
  unsigned char* bytes = nullptr;
  REQUIRE(cudaMalloc(&bytes, 100000) == cudaSuccess);
  const device_array<unsigned char> out(1);
  REQUIRE(cudaFree(bytes) == cudaSuccess);
  const std::string thread = "read_at: block (0,0,0): thread (0,0,0)";
  require_fault(thread, "reads at offset 50000 of an allocation of 100000 bytes that was freed", read_at, 1,
                1, bytes + 50000, out.get());
  require_fault(thread, "reads at address 8, from a null pointer", read_at, 1, 1,
                reinterpret_cast<unsigned char*>(8), out.get());
  run(read_at, 1, 1, out.get(), out.get());
}

__global__ void fault_beside_barriers(const volatile int* values, int faulty_thread, int* out) {
  __shared__ int passed;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) passed = 0;
  __syncthreads();
  const int value = __shfl_xor_sync(~0u, thread, 1);
  if (thread == faulty_thread) atomicAdd(&passed, values[1 << 20]);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value + passed;
}

TEST_CASE("a fault in one thread ends those that wait at barriers, too") {
  for_each_schedule();
  const device_array<int> values(16), out(512);
  const int thread = GENERATE(0, 31, 32, 127);
  require_fault("fault_beside_barriers: block (0,0,0): thread (" + std::to_string(thread) + ",0,0)",
                "reads at", fault_beside_barriers, 4, 128, values.get(), thread, out.get());
  run(fault_beside_barriers, 4, 128, values.get(), -1, out.get());
  CHECK(out.values()[511] == 126);
}

__global__ void divide(const volatile int* divisors, int* out) {
  out[threadIdx.x] = 100 / divisors[threadIdx.x];
}

// A sanitizer finds this before the machine does, and an Arm processor finds nothing wrong: the result is 0.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a kernel that divides an integer by zero fails its launch") {
  for_each_schedule();
  const device_array<int> divisors(std::vector<int>{1, 2, 0, 4}), out(4);
  CHECK(try_launch(divide, 1, 4, 0, divisors.get(), out.get()) == cudaErrorLaunchFailure);
  const std::vector<std::string> said = lab::emulator::take_diagnostics();
  REQUIRE(said.size() == 1);
  CHECK(said.front().find("divide: block (0,0,0): thread (2,0,0) divides an integer by zero") !=
        std::string::npos);
  lab::emulator::reset();
  run(divide, 1, 2, divisors.get(), out.get());
  CHECK(out.values()[1] == 50);
}
#endif

__global__ void use_stack(int depth, volatile int* out) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth > 0) use_stack(depth - 1, out);
  *out = *out + frame[0];
}

// Under AddressSanitizer the frames that are given up would be taken for those still in use.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a kernel that needs more stack than there is fails its launch") {
  for_each_schedule();
  const device_array<int> out(1);
  require_fault("use_stack: block (0,0,0): thread (0,0,0)", "needs more than 256 KiB of stack", use_stack, 1,
                1, 1000, out.get());
  run(use_stack, 1, 1, 20, out.get());
}
#endif

TEST_CASE("leaves a diagnostic", "[.diagnostic]") {
  const device_array<unsigned char> bytes(10);
  CHECK(try_launch(write_at, 1, 1, 0, bytes.get(), 10) == cudaErrorLaunchFailure);
}

TEST_CASE("diagnostics that nobody takes are printed at the end") {
  CHECK(output_of_test_case("[.diagnostic]")
            .find("emulator: (anonymous namespace)::write_at: wrote at offset 10 of an allocation of 10 "
                  "bytes\n") != std::string::npos);
}

TEST_CASE("freeing what is not allocated is an error") {
  lab::emulator::reset();
  unsigned char* bytes = nullptr;
  REQUIRE(cudaMalloc(&bytes, 10) == cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFree(bytes + 1) == cudaErrorInvalidValue);
  CHECK(cudaFree(bytes) == cudaSuccess);
  CHECK(cudaFree(bytes) == cudaErrorInvalidValue);
  CHECK(lab::emulator::take_diagnostics().size() == 2);
  int on_host = 0;
  CHECK(cudaFreeHost(&on_host) == cudaErrorInvalidValue);
  lab::emulator::reset();
}

TEST_CASE("copies stay within allocations and go where they say") {
  lab::emulator::reset();
  const device_array<char> device(100), other(50);
  std::vector<char> host(200, 'x');
  CHECK(cudaMemcpy(device.get() + 40, host.data(), 60, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(other.get(), device.get(), 50, cudaMemcpyDefault) == cudaSuccess);
  CHECK(other.values()[0] == 0);
  CHECK(other.values()[39] == 0);
  CHECK(other.values()[40] == 'x');
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToDevice) == cudaSuccess);

  require_complaint(cudaMemcpy(device.get() + 41, host.data(), 60, cudaMemcpyHostToDevice),
                    "cudaMemcpy: the destination has 60 bytes from offset 41 of an allocation of 100 bytes");
  require_complaint(cudaMemcpy(host.data(), device.get() - 1, 1, cudaMemcpyDeviceToHost),
                    "cudaMemcpy: the source lies in no allocation");
  require_complaint(cudaMemcpy(host.data(), device.get() + 101, 1, cudaMemcpyDeviceToHost),
                    "cudaMemcpy: the source lies in no allocation");
  require_complaint(cudaMemcpyAsync(host.data(), host.data() + 100, 10, cudaMemcpyHostToDevice),
                    "cudaMemcpyAsync: the destination is not device memory");
  require_complaint(cudaMemcpy(device.get(), device.get(), 10, cudaMemcpyHostToDevice),
                    "cudaMemcpy: the source is device memory, where host memory was announced");
  require_complaint(cudaMemcpy(nullptr, device.get(), 10, cudaMemcpyDeviceToHost),
                    "cudaMemcpy: the destination is null");
  require_complaint(cudaMemset(device.get(), 0, 101),
                    "cudaMemset: the destination has 101 bytes from offset 0 of an allocation of 100 bytes");
}

TEST_CASE("copies of rows") {
  lab::emulator::reset();
  const device_array<char> device(12, '.');
  const std::string rows = "abcdef";
  CHECK(cudaMemcpy2D(device.get(), 4, rows.data(), 2, 2, 3, cudaMemcpyHostToDevice) == cudaSuccess);
  const std::vector<char> values = device.values();
  CHECK(std::string(values.begin(), values.end()) == "ab..cd..ef..");
  CHECK(cudaMemcpy2D(device.get(), 4, rows.data(), 1, 2, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  require_complaint(
      cudaMemcpy2DAsync(device.get(), 6, rows.data(), 2, 2, 3, cudaMemcpyHostToDevice),
      "cudaMemcpy2DAsync: the destination has 14 bytes from offset 0 of an allocation of 12 bytes");
}

TEST_CASE("device memory has an end") {
  lab::emulator::reset();
  lab::emulator::configure({.memory_bytes = 1 << 20});
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
  CHECK((free_bytes == 1 << 20 && total_bytes == 1 << 20));
  char *first = nullptr, *second = nullptr;
  CHECK(cudaMalloc(&first, 600000) == cudaSuccess);
  CHECK(cudaMalloc(&second, 600000) == cudaErrorMemoryAllocation);
  CHECK(second == nullptr);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
  CHECK(free_bytes == (1 << 20) - 600000);
  CHECK(cudaFree(first) == cudaSuccess);
  CHECK(cudaMalloc(&second, 600000) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess);
  lab::emulator::configure({});
}

TEST_CASE("memory comes from streams and pools too") {
  lab::emulator::reset();
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  int *from_default = nullptr, *from_pool = nullptr, *on_host = nullptr;
  CHECK(cudaMallocAsync(&from_default, 4, stream) == cudaSuccess);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  unsigned long long threshold = ~0ull, read_back = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read_back) == cudaSuccess);
  CHECK(read_back == threshold);
  CHECK(cudaMallocFromPoolAsync(&from_pool, 4, pool, stream) == cudaSuccess);
  CHECK(cudaMallocHost(&on_host, 4) == cudaSuccess);
  *on_host = 7;
  CHECK(cudaMemcpyAsync(from_pool, on_host, 4, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(from_default, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(from_pool, stream) == cudaSuccess);
  CHECK(cudaFreeHost(on_host) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  CHECK(cudaMallocFromPoolAsync(&from_pool, 4, pool, stream) == cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaMallocAsync(&from_default, 4, stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  lab::emulator::reset();
}
