#include "common/run_time/compiler.hpp"

namespace lab::run_time {

std::vector<std::string> all_options(const compile_request& request) {
  // Of a real architecture NVRTC makes machine code, and of a virtual one PTX alone, in less time.
  const bool real = request.wanted != target::ptx;
  std::vector<std::string> options = {
      "--std=c++20", (real ? "-arch=sm_" : "-arch=compute_") + std::to_string(request.architecture),
      "--no-cache",  // a cache of NVRTC's own would hide the time of a compilation
      "-default-device",
      "--minimal"};  // no textures and no launches from a kernel, whose declarations take half the time
  if (request.wanted == target::lto_ir) options.insert(options.end(), {"-dlto", "-rdc=true"});
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

}  // namespace lab::run_time
