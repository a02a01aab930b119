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
  const auto [offset, where] = GENERATE(std::pair{1000ll, "1000"}, std::pair{1255ll, "1255"},
                                        std::pair{-1ll, "-1"}, std::pair{-256ll, "-256"});
  require_failure("(anonymous namespace)::write_at: wrote at offset " + std::string(where) +
                      " of an allocation of 1000 bytes",
                  write_at, 1, 1, bytes.get(), offset);
  // The damage is mended: the next kernel is not blamed for it.
  run(write_at, 1, 1, bytes.get(), 999);
}

TEST_CASE("freed memory faults", "[.freed-memory]") {
  unsigned char* bytes = nullptr;
  REQUIRE(cudaMalloc(&bytes, 1000) == cudaSuccess);
  const device_array<unsigned char> out(1);
  REQUIRE(cudaFree(bytes) == cudaSuccess);
  run(read_at, 1, 1, bytes, out.get());
}

TEST_CASE("a kernel that reads freed memory crashes") {
  CHECK(output_of_test_case("[.freed-memory]").find("SEGV") != std::string::npos);
}

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
