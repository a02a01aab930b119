// A stage's launch function, called under the eyes of the device.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/stage.hpp"
#include "harness/device/stage_call.hpp"
#if LAB_EMULATED
#include "common/emulator/launch_watch.hpp"
#endif

namespace lab {

inline void require_none(const std::vector<std::string>& violations) {
  if (violations.empty()) return;
  std::string text = "a launch must only enqueue work on its stream";
  for (const std::string& one : violations) text += (&one == violations.data() ? ": " : "; ") + one;
  throw stage_error(text, failure_kind::launch);
}

// Calls `launch` for `stream`. The emulator watches what it does beside enqueueing work there, and a breach
// of the contract becomes a stage_error. (On a GPU a captured graph shows most of it: verify.cpp.)
template <class Function>
auto watched_launch([[maybe_unused]] const traits& its_traits, [[maybe_unused]] cudaStream_t stream,
                    const Function& launch) {
#if LAB_EMULATED
  // Inside of call_stage(), which puts back the rounding mode that the watch wants to see.
  return call_stage("launch", [&] {
    emulator::launch_watch watch(stream, {.may_synchronise = its_traits.synchronises});
    if constexpr (std::is_void_v<decltype(launch())>) {
      launch();
      require_none(watch.violations());
    } else {
      auto result = launch();
      require_none(watch.violations());
      return result;
    }
  });
#else
  return call_stage("launch", launch);
#endif
}

// The harness's own memory, as a stage that is watched may ask for it: what the resource does is not the
// stage's.
class unwatched_resource final : public memory_resource {
 public:
  explicit unwatched_resource(memory_resource& inner) : inner_(inner) {}

  void* allocate(std::size_t bytes, cudaStream_t stream) override {
    [[maybe_unused]] const auto scope = unwatched();
    return inner_.allocate(bytes, stream);
  }
  void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept override {
    [[maybe_unused]] const auto scope = unwatched();
    inner_.deallocate(pointer, bytes, stream);
  }

 private:
#if LAB_EMULATED
  static emulator::unwatched unwatched() {
    return {};
  }
#else
  static int unwatched() {
    return 0;
  }
#endif

  memory_resource& inner_;
};

}  // namespace lab
