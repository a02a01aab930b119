#include "harness/device/verify/runnable.hpp"

#include <algorithm>

#include "common/cuda.hpp"
#include "harness/device/track.hpp"
#include "harness/failure_message.hpp"

namespace lab {

std::string expected_failure_text(const stage_entry& stage) {
  std::string text;
  for (const failure_pattern& one : stage.traits.expected_failure.failures) {
    text += (text.empty() ? "" : ", or ") + to_string(one.kind);
    if (*one.words != '\0') text += std::string(": \"") + one.words + "\"";
  }
  return text;
}

bool is_expected(const stage_entry& stage, const failure_record& failure) {
  const std::string message = failure_message(failure);
  const auto& expected = stage.traits.expected_failure.failures;
  return std::any_of(expected.begin(), expected.end(), [&](const failure_pattern& one) {
    return one.kind == failure.kind && message.find(one.words) != std::string::npos;
  });
}

std::string why_not_runnable(const stage_entry& stage, int compute_capability) {
  const expected_failure& fault = stage.traits.expected_failure;
  if (fault) {
    const std::string hidden = emulated ? fault.hidden_on_emulator : fault.hidden_on_gpu;
    if (!hidden.empty()) return "is an expected failure whose fault does not show here: " + hidden;
  }
  if (emulated) {
    return stage.traits.gpu_only ? "needs a GPU: it uses what the emulator does not model" : "";
  }
  const int needed = stage.traits.minimum_compute_capability;
  if (compute_capability >= needed) return "";
  const auto text = [](int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  };
  return "needs compute capability " + text(needed) + ", and this device has " + text(compute_capability);
}

std::string why_not_runnable(const stage_entry& stage) {
  if (const std::string why = track_of(stage).why_not_runnable(stage); !why.empty()) return why;
  if (emulated || stage.traits.minimum_compute_capability == 0) return why_not_runnable(stage, 0);
  int device = 0;
  int major = 0;
  int minor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return why_not_runnable(stage, 10 * major + minor);
}

void require_runnable(const stage_entry& stage) {
  if (const std::string why = why_not_runnable(stage); !why.empty())
    throw unsupported_error(stage.path + " " + why);
}

}  // namespace lab
