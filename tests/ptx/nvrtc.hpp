// CUDA C++ to machine code by NVRTC, where the build found it.
#pragma once

#include <optional>
#include <string>

namespace lab::test {

struct compiled {
  bool succeeded = false;
  std::string log;  // what NVRTC says, with what ptxas says of registers and stack frames
  std::string ptx;
};

// No value in a build without NVRTC.
std::optional<compiled> compile_with_nvrtc(const std::string& source, const std::string& architecture);

}  // namespace lab::test
