// A stage's launch function, called under the eyes of the device.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/stage.hpp"
#include "harness/device/stage_call.hpp"
#if LAB_EMULATED
#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/launch_watch.hpp"
#endif

namespace lab {

inline void require_none(const std::vector<std::string>& violations) {
  if (violations.empty()) return;
  std::string text = "a launch must only enqueue work on its stream";
  for (const std::string& one : violations) text += (&one == violations.data() ? ": " : "; ") + one;
  throw stage_error(text, failure_kind::launch);
}

#if LAB_EMULATED
using emulator::launch_watch;
#else
// A captured graph shows most of it instead: verify.cpp.
struct launch_watch {};
#endif

// Calls launch(watch) for `stream`. The emulator watches what it does beside enqueueing work there, and a
// breach of the contract becomes a stage_error.
template <class Function>
auto watched_launch([[maybe_unused]] const traits& its_traits, [[maybe_unused]] cudaStream_t stream,
                    const Function& launch) {
  // Inside of call_stage(), which puts back the rounding mode that the watch reads.
  return call_stage("launch", [&] {
#if LAB_EMULATED
    launch_watch watch(stream, {.may_synchronise = its_traits.synchronises});
    // Kernels that may begin early do so where streams are deferred. Else kernels are done at the call.
    std::optional<emulator::deferred_streams> deferred;
    if (emulator::configuration().reverse) deferred.emplace(0);
    if constexpr (std::is_void_v<decltype(launch(watch))>) {
      launch(watch);
      deferred.reset();
      require_none(watch.violations());
    } else {
      auto result = launch(watch);
      deferred.reset();
      require_none(watch.violations());
      return result;
    }
#else
    return launch(launch_watch{});
#endif
  });
}

// The harness's own memory, as a stage that is watched may ask for it: what the resource does is not the
// stage's.
class unwatched_resource final : public memory_resource {
 public:
  unwatched_resource(memory_resource& inner, const launch_watch& watch) : inner_(inner), watch_(watch) {}

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
  [[nodiscard]] emulator::unwatched unwatched() const {
    return emulator::unwatched(watch_);
  }
#else
  static int unwatched() {
    return 0;
  }
#endif

  memory_resource& inner_;
  [[maybe_unused]] const launch_watch& watch_;
};

}  // namespace lab
