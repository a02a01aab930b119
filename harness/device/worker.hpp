// The worker's side of the conversation (docs/architecture.md): one request in, progress and one closing line
// out, and the process ends.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/measure/timed_launches.hpp"
#include "harness/protocol.hpp"

namespace lab {

// Answers requests on one device. `device_index` counts CUDA devices; the emulator has only 0.
class worker {
 public:
  explicit worker(int device_index, progress_sink progress = {})
      : worker(std::vector<int>{device_index}, std::move(progress)) {}
  // On the first of these; a stage that uses several GPUs gets them in this order, and if one is named, that
  // one and then the machine's others. Throws std::invalid_argument for one that is named twice.
  explicit worker(std::vector<int> devices, progress_sink progress = {});

  // Takes the device before anything is asked; where there is none, the answer says so.
  void connect();
  // Answers one request. Never throws: whatever goes wrong becomes the answer.
  answer_record answer(const nlohmann::json& request);

 private:
  answer_record dispatch(const nlohmann::json& request);
  // With a compute capability (90 for 9.0), stages are described as such a device would have them, and this
  // process's own is left alone.
  // With `on_device`, stages that need more GPUs than this machine has are not runnable, either.
  // As several processes would have them, where `processes` is more than 1.
  worker_description describe(std::optional<int> compute_capability, int processes, bool on_device);
  // Throws std::runtime_error with the reason when there is no such device.
  void select_device();

  std::vector<int> devices_;
  progress_sink progress_;
  bool device_selected_ = false;
  bool at_stage_ = false;  // from here on, what goes wrong is the stage's doing unless it says otherwise
};

}  // namespace lab
