// Which device runs the stages, and the worker that knows it.
#pragma once

#include <optional>
#include <string>

#include "harness/front/worker.hpp"
#include "harness/protocol.hpp"

namespace lab {

enum class device_kind { cuda, emulator };

struct device_choice {
  device_kind kind = device_kind::cuda;
  int index = 0;
};

// "cuda:0" or "emulator". Throws usage_error for anything else.
[[nodiscard]] device_choice parse_device(const std::string& text);

// The worker binary of a device: beside this program, or where the environment variable LAB_WORKER_CUDA or
// LAB_WORKER_EMULATOR says. Empty when there is none.
[[nodiscard]] std::string worker_binary(device_kind kind);

// The emulator's worker whose kernels are observed: beside this program, or where LAB_WORKER_OBSERVED says.
// Throws environment_error when there is none.
[[nodiscard]] std::string observed_worker_binary();

// A worker that has described itself and has a device.
struct connection {
  worker process;
  worker_description description;
  std::string note;  // why it is the emulator when nobody asked for it; else empty
};

// The worker of the device that `device` names; when empty, of cuda:0 where there is one, else of the
// emulator. With `device_needed` false, a worker without a device will do (to list what it knows). Throws
// usage_error or environment_error when that device is not here.
[[nodiscard]] connection connect(const std::string& device, bool device_needed = true);

// What a worker says of itself, or why it says nothing.
struct probe {
  std::optional<worker_description> description;
  std::string problem;
};
[[nodiscard]] probe describe(worker& process);

// A worker for the device, not yet started.
[[nodiscard]] worker make_worker(const std::string& binary, int index);

}  // namespace lab
