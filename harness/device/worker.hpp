// The worker's side of the conversation (docs/architecture.md): one request in, progress and one closing line
// out.
#pragma once

#include <functional>
#include <string>

#include "harness/protocol.hpp"

namespace lab {

// Answers requests on one device. `device_index` counts CUDA devices; the emulator has only 0.
class worker {
 public:
  explicit worker(int device_index) : device_index_(device_index) {}

  // Answers one request. Never throws: whatever goes wrong becomes the answer. An answer with `sticky` set is
  // this process's last word.
  answer_record answer(const nlohmann::json& request);

  // Serves requests line by line from one descriptor, answering on the other, until the end of input, `quit`,
  // or a sticky error. Returns the process's exit code.
  int serve(int request_descriptor, int answer_descriptor);

 private:
  answer_record dispatch(const nlohmann::json& request);
  worker_description describe();
  // Throws std::runtime_error with the reason when there is no such device.
  void select_device();

  int device_index_;
  bool device_selected_ = false;
};

}  // namespace lab
