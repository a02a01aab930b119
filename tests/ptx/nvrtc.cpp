#include "tests/ptx/nvrtc.hpp"

#if LAB_WITH_NVRTC
#include <nvrtc.h>
#endif

namespace lab::test {

#if LAB_WITH_NVRTC
std::optional<compiled> compile_with_nvrtc(const std::string& source, const std::string& architecture) {
  compiled result;
  nvrtcProgram program = nullptr;
  if (nvrtcCreateProgram(&program, source.c_str(), "test.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    return result;
  const std::string option = "--gpu-architecture=" + architecture;
  const char* const options[] = {option.c_str(), "--std=c++20", "--ptxas-options=-v"};
  result.succeeded = nvrtcCompileProgram(program, 3, options) == NVRTC_SUCCESS;
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  result.log.resize(size);
  nvrtcGetProgramLog(program, result.log.data());
  if (result.succeeded && nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS) {
    result.ptx.resize(size);
    nvrtcGetPTX(program, result.ptx.data());
  }
  nvrtcDestroyProgram(&program);
  return result;
}
#else
std::optional<compiled> compile_with_nvrtc(const std::string&, const std::string&) {
  return std::nullopt;
}
#endif

}  // namespace lab::test
