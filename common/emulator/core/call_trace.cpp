#include "common/emulator/core/call_trace.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "common/emulator/core/devices.hpp"
#include "common/emulator/core/diagnostics.hpp"

namespace lab::emulator {
namespace {

std::atomic<bool> recording{false};
std::mutex calls_mutex;
std::vector<recorded_call> calls;

}  // namespace

void record_calls() {
  const std::lock_guard lock(calls_mutex);
  calls.clear();
  recording = true;
}

std::vector<recorded_call> take_calls() {
  recording = false;
  const std::lock_guard lock(calls_mutex);
  return std::exchange(calls, {});
}

traced_call::traced_call(const char* function, std::size_t bytes, const void* kernel)
    : function_(recording ? function : nullptr), bytes_(bytes), kernel_(kernel) {
  if (function_ != nullptr) begin_ = std::chrono::steady_clock::now();
}

traced_call::~traced_call() {
  if (function_ == nullptr) return;
  const auto end = std::chrono::steady_clock::now();
  recorded_call call{function_,       kernel_ == nullptr ? "" : kernel_name(kernel_), bytes_, begin_, end,
                     current_device()};
  const std::lock_guard lock(calls_mutex);
  if (recording) calls.push_back(std::move(call));
}

}  // namespace lab::emulator
