// What the emulator's tests share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "tests/catch.hpp"
#include "tests/device_array.hpp"

// Both thread orders, and blocks on one and on three OS threads: the test case runs four times. Starts
// without errors.
inline void for_each_schedule() {
  lab::emulator::options options;
  options.reverse = GENERATE(false, true);
  options.threads = GENERATE(1, 3);
  UNSCOPED_INFO("reverse = " << options.reverse << ", OS threads = " << options.threads);
  lab::emulator::configure(options);
  lab::emulator::reset();
}

using lab::test::device_array;

// cudaLaunchKernelEx with the launch described in one line; returns its error instead of throwing.
template <class... Parameters, class... Arguments>
cudaError_t try_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                       Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  const cudaError_t error = try_launch(kernel, grid, block, 0, arguments...);
  for (const std::string& text : lab::emulator::diagnostics()) UNSCOPED_INFO(text);
  REQUIRE(error == cudaSuccess);
}

// A diagnostic without the kernel's name, which it must have.
template <class... Parameters>
std::string without_kernel(std::string text, void (*kernel)(Parameters...)) {
  const std::string name = lab::emulator::kernel_name(reinterpret_cast<const void*>(kernel)) + ": ";
  const std::size_t found = text.find(name);
  INFO(text);
  REQUIRE(found != std::string::npos);
  return text.erase(found, name.size());
}

// The launch must fail, and this must be all that is said about it.
template <class... Parameters, class... Arguments>
void require_failure(const std::string& diagnostic, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                     Arguments... arguments) {
  CHECK(try_launch(kernel, grid, block, 0, arguments...) == cudaErrorLaunchFailure);
  auto texts = lab::emulator::take_diagnostics();
  // A place comes first, and then the kernel.
  for (std::string& text : texts) {
    if (text.find(".cpp:") < text.find(": ")) text = without_kernel(text, kernel);
  }
  CHECK(texts == std::vector<std::string>{diagnostic});
  lab::emulator::reset();
}

inline bool one_says(const std::vector<std::string>& texts, const std::string& words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

inline std::string at(const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}
