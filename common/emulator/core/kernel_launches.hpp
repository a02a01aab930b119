// Launches that kernels make, for those who run them (programs/nested_launches.cpp). Internal. In a stage's
// worker they are refused.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// A call with copies of its arguments, for one that is run later.
class kept_call {
 public:
  explicit kept_call(const kernel_call& call)
      : call_(call),
        arguments_((call.argument_bytes + sizeof(unit) - 1) / sizeof(unit)),
        pointers_(call.pointers, call.pointers + call.pointer_count) {
    std::memcpy(arguments_.data(), call.arguments, call.argument_bytes);
  }

  [[nodiscard]] kernel_call call() const {
    kernel_call result = call_;
    result.arguments = arguments_.data();
    result.pointers = pointers_.data();
    return result;
  }

 private:
  // As aligned as a kernel's argument may ask for.
  struct alignas(64) unit {
    unsigned char bytes[64];
  };

  kernel_call call_;
  std::vector<unit> arguments_;
  std::vector<const void*> pointers_;
};

// Notes that the launch is refused, since it asks for `what`; returns the error.
cudaError_t refuse_launch(const kernel_call& call, cudaError_t error, const std::string& what);
// Refuses a configuration that the device cannot run. The device is locked.
cudaError_t check_launch(const cudaLaunchConfig_t& config, const kernel_call& call);
// Runs a grid and what its kernels launch; false if something has failed. The device is locked.
bool run_kernel(const cudaLaunchConfig_t& config, const kernel_call& call);

class kernel_launches {
 public:
  virtual ~kernel_launches() = default;
  // A thread of a kernel launches another one.
  virtual cudaError_t add(const cudaLaunchConfig_t& config, const kernel_call& call);
  // Runs a grid with `run_grid`, and then what its kernels have launched; false if something has failed.
  virtual bool run(const std::function<bool()>& run_grid) { return run_grid(); }
  // Fails the running thread if its block has launched a kernel, for which it would have to wait here.
  virtual void refuse_waiting(const void* /*instruction*/) {}
};
inline constinit kernel_launches no_kernel_launches;
inline constinit kernel_launches* active_kernel_launches = &no_kernel_launches;

}  // namespace lab::emulator
